/**
 * The text of one message, as every transport reads it.
 *
 * @module
 */

import { parseJson } from "../../canonical/scan.ts";
import { type MessageReading, readMessage } from "./message.ts";
import { idOfFaulty } from "./request_id_recovery.ts";

/** Reads the text of one message: strict JSON that is a message. */
export function parseMessage(text: string): MessageReading {
  const parsed = parseJson(text);
  if (parsed.ok) return readMessage(parsed.value);
  const { code, message, path } = parsed.fault;
  return code === "syntax"
    ? { ok: false, id: null, error: { kind: "parse_error", message, path, fault: code } }
    : { ok: false, id: idOfFaulty(text), error: { kind: "invalid_request", message, path, fault: code } };
}
