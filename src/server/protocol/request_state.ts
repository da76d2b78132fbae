/**
 * The state that a client carries from one round of a call to the next (MCP 2026-07-28, multi round-trip requests). It
 * is signed, expires, and belongs to one caller and to one call: a tool with exactly these arguments.
 */

import { hash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "../../canonical/json.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";
import { openJson, signJson } from "./signed_json.ts";

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

/** Writes the state of a round. */
export function writeState(keys: StateKeys, of: RoundOf, state: JsonObject, now: number): string {
  return signJson(keys, PURPOSE, [VERSION, callDigest(of), now + STATE_MILLISECONDS, state]);
}

/** Reads the state of a round; null unless {@link writeState} wrote it for this call and it has not expired. */
export function readState(keys: StateKeys, of: RoundOf, text: string, now: number): JsonObject | null {
  const parts = openJson(keys, PURPOSE, text, STATE_CHARACTERS) ?? null;
  if (!isJsonArray(parts)) return null;
  const [version, digest, expiry, state] = parts;
  if (version !== VERSION || digest !== callDigest(of) || typeof expiry !== "number" || expiry <= now) return null;
  return isJsonObject(state) ? state : null;
}

function callDigest({ subject, tool, input }: RoundOf): string {
  return hash("sha256", canonicalize([subject, tool, input]), "hex");
}
