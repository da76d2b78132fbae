/**
 * Session ids of clients of the older era. An id is a signed text with the capabilities of `initialize`, so no server
 * keeps it. It belongs to one caller.
 *
 * @module
 */

import { hash } from "node:crypto";
import { isJsonArray, isJsonObject, type JsonObject } from "../../canonical/json.ts";
import { openJson, signJson } from "../protocol/signed_json.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";

/** Longest id, in characters: a client sends it with each request. */
export const SESSION_ID_CHARACTERS = 2048;

const PURPOSE = "http_session";
const VERSION = 1;
const NONCE_BYTES = 16;

/** Writes the id of a new session; null where it would be too long. */
export function writeSessionId(keys: StateKeys, subject: string, capabilities: JsonObject): string | null {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES)).toHex();
  const id = signJson(keys, PURPOSE, [VERSION, nonce, digestOf(subject), capabilities]);
  return id.length > SESSION_ID_CHARACTERS ? null : id;
}

/** The capabilities in an id; null unless {@link writeSessionId} wrote it for this caller. */
export function readSessionId(keys: StateKeys, subject: string, id: string): JsonObject | null {
  const parts = openJson(keys, PURPOSE, id, SESSION_ID_CHARACTERS) ?? null;
  if (!isJsonArray(parts)) return null;
  const [version, , digest, capabilities] = parts;
  if (version !== VERSION || digest !== digestOf(subject)) return null;
  return isJsonObject(capabilities) ? capabilities : null;
}

/** The id of a client should not show the subject, which may be the name of a person. */
function digestOf(subject: string): string {
  return hash("sha256", subject, "hex");
}
