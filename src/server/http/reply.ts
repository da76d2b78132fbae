/** The replies of the HTTP transports, and the replies to failures at the edge. */

import {
  type EdgeError,
  type EdgeErrorKind,
  errorResponse,
  isRetryable,
  type RequestId,
} from "../process/edge_error.ts";
import type { Answer } from "../protocol/answer.ts";
import { resultResponse } from "../protocol/result_json.ts";

/** Writes the chunks of a streamed reply. */
export interface StreamSink {
  /** Sends a chunk; false where the reader is behind. */
  readonly write: (text: string) => boolean;
  /** Bytes that the reader has not read. */
  readonly waiting: () => number;
  /** Ends the stream; the reader may still read the waiting bytes, in time. */
  readonly end: () => void;
  /** Drops the connection. */
  readonly drop: () => void;
  /** Aborted once the reader is gone. */
  readonly gone: AbortSignal;
}

/** A reply. */
export interface HttpReply {
  readonly status: number;
  /** Lower-case names. */
  readonly fields: Readonly<Record<string, string>>;
  /** The whole body; null for none. */
  readonly body: string | Uint8Array | null;
  /** Streams the body instead; called once the head is sent. */
  readonly stream?: (sink: StreamSink) => void;
  /** Why the request was rejected before a tool was called, for the audit log. */
  readonly refused?: string;
  /** The authenticated caller: unread bytes of the reply count for it. */
  readonly caller?: string;
  /** Settles when the call behind a stream has ended; absent where it ended before the reply. */
  readonly work?: Promise<void>;
}

/** A failure with its HTTP status. */
export interface HttpError {
  readonly status: number;
  readonly error: EdgeError;
  /** Further header fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The status of each kind for a request that is rejected before a tool is called. */
const EDGE_STATUS: Readonly<Record<EdgeErrorKind, number>> = {
  parse_error: 400,
  invalid_request: 400,
  method_not_found: 404,
  invalid_params: 400,
  internal: 500,
  unauthenticated: 401,
  unauthorized: 403,
  header_mismatch: 400,
  missing_capability: 400,
  unsupported_protocol_version: 400,
  request_too_large: 413,
  rate_limited: 429,
  inflight_limit: 503,
  invalid_correlation_id: 400,
  unavailable: 503,
};

/**
 * Kinds whose status is sent even for a valid request; other failures have status 200. A valid caller never receives
 * 401 or 403: clients hide their bodies, and some start to sign in.
 */
const CALL_KINDS: ReadonlySet<EdgeErrorKind> = new Set(["rate_limited", "inflight_limit", "missing_capability"]);

/** The `Retry-After` in seconds where the server does not know when it will have room. */
const OVERLOAD_SECONDS = 1;

/** A reply with JSON. */
export function jsonReply(status: number, body: string): HttpReply {
  return { status, fields: JSON_FIELDS, body };
}

const JSON_FIELDS = { "content-type": "application/json", "cache-control": "no-store" };

/** The interval of keep-alive comments on a stream, in milliseconds. */
export const KEEP_ALIVE_MILLISECONDS = 15_000;

/** A comment that keeps proxies from ending a stream. */
export const KEEP_ALIVE = ": alive\n\n";

/** A message as a server-sent event. */
export function eventOf(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

/** A reply with server-sent events that are not all known yet. */
export function eventStream(stream: (sink: StreamSink) => void): HttpReply {
  const fields = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
  return { status: 200, fields, body: null, stream };
}

/** A reply with several messages, as server-sent events. */
function eventsReply(messages: readonly string[]): HttpReply {
  const fields = { "content-type": "text/event-stream", "cache-control": "no-store" };
  return { status: 200, fields, body: messages.map(eventOf).join("") };
}

/** The reply with the answer to a request. */
export function answerReply(answer: Answer, id: RequestId): HttpReply {
  if (!answer.ok) return callFailureReply(answer.error, id);
  const response = resultResponse(id, answer.result);
  return answer.notification === undefined ? jsonReply(200, response) : eventsReply([answer.notification, response]);
}

/** A reply without a body. */
export function emptyReply(status: number): HttpReply {
  return { status, fields: {}, body: null };
}

/** The reply to a request that is rejected before a tool is called. */
export function errorReply(refusal: HttpError, id: RequestId | null = null): HttpReply {
  return {
    status: refusal.status,
    fields: { ...JSON_FIELDS, ...retryFields(refusal.error), ...refusal.fields },
    body: errorResponse(refusal.error, id),
    refused: refusal.error.kind,
  };
}

/** An edge error with the status of its kind. */
export function httpError(error: EdgeError): HttpError {
  return { status: EDGE_STATUS[error.kind], error };
}

/** The reply to a request whose tool could not be called: a JSON-RPC error, with the status of {@link CALL_KINDS}. */
function callFailureReply(error: EdgeError, id: RequestId): HttpReply {
  const status = CALL_KINDS.has(error.kind) ? EDGE_STATUS[error.kind] : 200;
  const { fields, body } = errorReply({ status, error }, id);
  return { status, fields, body };
}

/** `Retry-After`, in whole seconds (RFC 9110 section 10.2.3), for errors that pass with time. */
function retryFields(error: EdgeError): Readonly<Record<string, string>> {
  if (error.retryAfterMs !== undefined) return { "retry-after": String(Math.ceil(error.retryAfterMs / 1000)) };
  return isRetryable(error.kind) ? { "retry-after": String(OVERLOAD_SECONDS) } : {};
}
