import { parseJson } from "../../canonical/scan.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { type MessageReading, readMessage } from "./message.ts";
import { recoverRequestId } from "./request_id_recovery.ts";

/**
 * Reads the text of one message: strict JSON with the shape of a message.
 *
 * @param text The text
 * @param utf8 The text in UTF-8, if the caller has it: it is then not encoded again
 */
export function parseMessage(text: string, utf8?: Uint8Array): MessageReading {
  const parsed = parseJson(text, {}, utf8);
  if (parsed.ok) return readMessage(parsed.value);
  const { code, message, path } = parsed.fault;
  return code === "syntax"
    ? { ok: false, id: null, error: { kind: "parse_error", message, path, fault: code } }
    : { ok: false, id: recoverRequestId(text), error: { kind: "invalid_request", message, path, fault: code } };
}

/** The error of a message whose bytes are not UTF-8. */
export const NOT_UTF8: EdgeError = { kind: "parse_error", message: "Cannot read message: must be UTF-8" };

/** The error of a message with more bytes than `server.max_body_bytes`. */
export function tooLarge(maximumBytes: number): EdgeError {
  const message = `Request too large: must be at most ${maximumBytes} bytes (server.max_body_bytes)`;
  return { kind: "request_too_large", message };
}
