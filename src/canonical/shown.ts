/** Text from outside, made safe for a terminal. */

/** DEL and C1 controls; bidirectional marks, embeddings, overrides and isolates; line and paragraph separators. */
export const TERMINAL_ACTIVE: RegExp = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Replaces control characters of text from outside, which a terminal would interpret.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { shown } from "@/canonical/shown.ts";
 *
 * assert.equal(shown("a\u001b[31m\u202e"), "a\ufffd[31m\ufffd");
 * ```
 */
export function shown(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\u0000-\u001f]/g, "\ufffd").replaceAll(TERMINAL_ACTIVE, "\ufffd");
}
