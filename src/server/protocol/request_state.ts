/**
 * The state that a client carries from one round of a call to the next (MCP 2026-07-28, multi round-trip requests). It is
 * signed, expires, and belongs to one caller and to one call: a tool with exactly these arguments.
 *
 * @module
 */

import { hash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";

/** The call that a state belongs to. */
export interface RoundOf {
  /** The subject of the caller. */
  readonly subject: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/** How long a state can be used, in milliseconds. */
export const STATE_MILLISECONDS = 600_000;

/** Longest state that is read, in UTF-16 code units. */
export const STATE_CHARACTERS = 8192;

const PURPOSE = "request_state";
const VERSION = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes the state of a round. */
export function writeState(keys: StateKeys, of: RoundOf, state: JsonObject, now: number): string {
  const parts = [VERSION, callDigest(of), now + STATE_MILLISECONDS, state];
  const bytes = encoder.encode(canonicalize(parts));
  return keys.sign(PURPOSE, bytes.toBase64({ alphabet: "base64url", omitPadding: true }));
}

/** Reads the state of a round; null unless {@link writeState} wrote it for this call and it has not expired. */
export function readState(keys: StateKeys, of: RoundOf, text: string, now: number): JsonObject | null {
  const signed = text.length > STATE_CHARACTERS ? null : keys.open(PURPOSE, text);
  if (signed === null) return null;
  const parsed = parseJson(decoder.decode(Uint8Array.fromBase64(signed, { alphabet: "base64url" })));
  if (!parsed.ok || !isJsonArray(parsed.value)) return null;
  const [version, digest, expiry, state] = parsed.value;
  if (version !== VERSION || digest !== callDigest(of) || typeof expiry !== "number" || expiry <= now) return null;
  return isJsonObject(state) ? state : null;
}

function callDigest({ subject, tool, input }: RoundOf): string {
  return hash("sha256", canonicalize([subject, tool, input]), "hex");
}
