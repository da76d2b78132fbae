/**
 * Characters that a terminal acts on though JSON lets them stand: C1 controls, which begin sequences as ESC does, and
 * what turns the direction of text or ends a line.
 *
 * @module
 */

/** DEL and C1 controls; bidirectional marks, embeddings, overrides and isolates; line and paragraph separators. */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** The same, each of them. */
export const TERMINAL_ACTIVE = new RegExp(ACTIVE, "g");

/**
 * A JSON text with those characters as escapes. It says the same: they stand nowhere but in strings.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { terminalSafe } from "@/server/process/terminal_safe.ts";
 *
 * assert.equal(terminalSafe('{"a":"\u009b31m"}'), '{"a":"\\u009b31m"}');
 * ```
 */
export function terminalSafe(json: string): string {
  return ACTIVE.test(json) ? json.replaceAll(TERMINAL_ACTIVE, escaped) : json;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
