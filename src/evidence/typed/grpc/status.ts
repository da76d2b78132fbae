/**
 * gRPC status codes and messages as they stand in headers and trailers.
 *
 * @module
 */

/** The names of the status codes, by number. */
const STATUS_NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** The name of a status code; null where the text is no code of the protocol. */
export function statusName(text: string): string | null {
  return /^(?:0|[1-9][0-9]?)$/.test(text) ? STATUS_NAMES[Number(text)] ?? null : null;
}

/**
 * Decodes `grpc-message`, which is percent-encoded UTF-8. As the protocol asks, an invalid encoding stays as it was sent.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeStatusMessage } from "@/evidence/typed/grpc/status.ts";
 *
 * assert.equal(decodeStatusMessage("50%25 of %F0%9F%90%A2"), "50% of 🐢");
 * assert.equal(decodeStatusMessage("100%"), "100%");
 * ```
 */
export function decodeStatusMessage(sent: string): string {
  let text = sent;
  try {
    text = decodeURIComponent(sent);
  } catch {
    // Not percent-encoded UTF-8.
  }
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, " ");
}

/** The first characters of a text, with a mark where it is cut. */
export function shortened(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum).toWellFormed()}...`;
}
