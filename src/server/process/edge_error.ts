/** Failures at the edge, before or around a tool: JSON-RPC errors with a closed list of kinds. */

import type { JsonObject } from "../../canonical/json.ts";

/** A request id that MCP allows: a string, or an integer within ±(2^53-1). */
export type RequestId = string | number;

/** The code of each kind: by JSON-RPC 2.0 section 5.1 and MCP, or from the server range. */
export const EDGE_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal: -32603,
  unauthenticated: -32001,
  unauthorized: -32003,
  header_mismatch: -32020,
  /** The client does not declare a capability that the request needs. */
  missing_capability: -32021,
  unsupported_protocol_version: -32022,
  request_too_large: -32070,
  rate_limited: -32071,
  inflight_limit: -32072,
  invalid_correlation_id: -32073,
  /** A store cannot be read now; or it, or the audit log, could not be opened, and the process is about to end. */
  unavailable: -32074,
} as const;

/** The kind of a failure at the edge. */
export type EdgeErrorKind = keyof typeof EDGE_CODES;

/** A failure at the edge. */
export interface EdgeError {
  readonly kind: EdgeErrorKind;
  /** For people; never the text of an unexpected exception. */
  readonly message: string;
  /** The path of the fault in the request: `$.params.name`. */
  readonly path?: string;
  /** Milliseconds until a retry can succeed. */
  readonly retryAfterMs?: number;
  /** The id in the log entry of an internal error. */
  readonly correlationId?: string;
  /** The supported protocol versions, and the requested one. */
  readonly versions?: { readonly supported: readonly string[]; readonly requested?: string };
  /** The fault code of the JSON parser. */
  readonly fault?: string;
  /** The unknown resource. */
  readonly uri?: string;
  /** The capabilities that the client has to declare. */
  readonly requires?: JsonObject;
}

/** The `error` member of a JSON-RPC response. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Whether the same request may succeed later. */
export function isRetryable(kind: EdgeErrorKind): boolean {
  return kind === "rate_limited" || kind === "inflight_limit";
}

/**
 * The `error` member for a failure: code, message and `data {kind, retryable, request_id, ...}`.
 *
 * @param error The failure
 * @param id The request's id, or null where it is not known
 */
export function jsonRpcError(error: EdgeError, id: RequestId | null): JsonRpcError {
  return {
    code: EDGE_CODES[error.kind],
    message: error.message,
    data: {
      kind: error.kind,
      retryable: isRetryable(error.kind) || error.retryAfterMs !== undefined,
      request_id: id,
      ...(error.path === undefined ? {} : { path: error.path }),
      ...(error.fault === undefined ? {} : { fault: error.fault }),
      ...(error.uri === undefined ? {} : { uri: error.uri }),
      ...(error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs }),
      ...(error.correlationId === undefined ? {} : { correlation_id: error.correlationId }),
      ...(error.versions ?? {}),
      ...(error.requires === undefined ? {} : { requiredCapabilities: error.requires }),
    },
  };
}

/** The text of a JSON-RPC error response. */
export function errorResponse(error: EdgeError, id: RequestId | null): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: jsonRpcError(error, id) });
}
