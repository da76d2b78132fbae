/**
 * Escapes characters that JSON allows but that control a terminal. C1 controls begin escape sequences like ESC. Others
 * change the direction of text or end a line.
 *
 * @module
 */

/** DEL and C1 controls; bidirectional marks, embeddings, overrides and isolates; line and paragraph separators. */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** The same, for all matches. */
export const TERMINAL_ACTIVE = new RegExp(ACTIVE, "g");

/**
 * A JSON text with those characters escaped. Its value is unchanged, since they occur only in strings.
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
