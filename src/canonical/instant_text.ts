/** Times as text. */

/** The first and last millisecond of the years from 0000 to 9999. */
const EARLIEST = -62_167_219_200_000;
const LATEST = 253_402_300_799_999;

/**
 * Unix milliseconds as RFC 3339 in UTC; as a number beyond the years that RFC 3339 has.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { instantText } from "@/canonical/instant_text.ts";
 *
 * assert.equal(instantText(1_709_210_096_007), "2024-02-29T12:34:56.007Z");
 * assert.equal(instantText(253_402_300_800_000), "253402300800000 ms");
 * ```
 */
export function instantText(millis: number): string {
  return millis >= EARLIEST && millis <= LATEST ? new Date(millis).toISOString() : `${millis} ms`;
}
