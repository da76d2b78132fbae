/**
 * What a handler of the HTTP transports answers, and how failures at the edge become answers.
 *
 * @module
 */

import { type EdgeError, type EdgeErrorKind, errorResponse, type RequestId } from "../process/edge_error.ts";

/** Takes the chunks of a streamed answer. */
export interface StreamSink {
  /** Sends a chunk; false where the reader is behind. */
  readonly write: (text: string) => boolean;
  /** Bytes that wait for the reader. */
  readonly waiting: () => number;
  /** Ends the stream; what waits is still to be read, in time. */
  readonly end: () => void;
  /** Ends it at once: nobody reads. */
  readonly drop: () => void;
  /** Aborted once nobody reads any more. */
  readonly gone: AbortSignal;
}

/** An answer. */
export interface HttpReply {
  readonly status: number;
  /** Lower-case names. */
  readonly fields: Readonly<Record<string, string>>;
  /** The whole body; null for none. */
  readonly body: string | null;
  /** Streams the body instead; called once the head is sent. */
  readonly stream?: (sink: StreamSink) => void;
  /** The word for why the request was refused before any tool was asked; for the log. */
  readonly refused?: string;
  /** Who is known to have asked: until the answer is read it counts as theirs. */
  readonly caller?: string;
}

/** A failure with its status. */
export interface HttpError {
  readonly status: number;
  readonly error: EdgeError;
  /** Further header fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Status of each kind where a request is refused before any tool is asked. */
const EDGE_STATUS: Readonly<Record<EdgeErrorKind, number>> = {
  parse_error: 400,
  invalid_request: 400,
  method_not_found: 404,
  invalid_params: 400,
  internal: 500,
  unauthenticated: 401,
  unauthorized: 403,
  header_mismatch: 400,
  unsupported_protocol_version: 400,
  request_too_large: 413,
  rate_limited: 429,
  inflight_limit: 503,
  invalid_correlation_id: 400,
  unavailable: 503,
};

/**
 * Kinds that tell more as a status even where the request itself was in order; the others are answers like any other. A
 * valid caller gets no 401 and 403: clients hide their bodies, and some begin to sign in.
 */
const CALL_KINDS: ReadonlySet<EdgeErrorKind> = new Set(["rate_limited", "inflight_limit"]);

/** How long a client should stay away when the server is full and nothing tells when it will not be, in seconds. */
const OVERLOAD_SECONDS = 1;

/** An answer with JSON. */
export function jsonReply(status: number, body: string): HttpReply {
  return { status, fields: JSON_FIELDS, body };
}

const JSON_FIELDS = { "content-type": "application/json", "cache-control": "no-store" };

/** An answer without a body. */
export function emptyReply(status: number): HttpReply {
  return { status, fields: {}, body: null };
}

/** The answer to a request that is refused before any tool is asked. */
export function errorReply(refusal: HttpError, id: RequestId | null = null): HttpReply {
  return {
    status: refusal.status,
    fields: { ...JSON_FIELDS, ...retryFields(refusal.error), ...refusal.fields },
    body: errorResponse(refusal.error, id),
    refused: refusal.error.kind,
  };
}

/** The refusal of an error by the status of its kind. */
export function httpError(error: EdgeError): HttpError {
  return { status: EDGE_STATUS[error.kind], error };
}

/** The answer to a request whose tool could not be asked: a JSON-RPC answer, with a status where that tells more. */
export function callFailureReply(error: EdgeError, id: RequestId): HttpReply {
  const status = CALL_KINDS.has(error.kind) ? EDGE_STATUS[error.kind] : 200;
  const { fields, body } = errorReply({ status, error }, id);
  return { status, fields, body };
}

/** `Retry-After`, in whole seconds (RFC 9110 section 10.2.3), where waiting helps. */
function retryFields(error: EdgeError): Readonly<Record<string, string>> {
  if (error.retryAfterMs !== undefined) return { "retry-after": String(Math.ceil(error.retryAfterMs / 1000)) };
  return error.kind === "inflight_limit" ? { "retry-after": String(OVERLOAD_SECONDS) } : {};
}
