/**
 * Search for a text within another in linear time, whatever the two are.
 *
 * @module
 */

/**
 * Up to this length the native search is used. It takes time in the product of both lengths in its worst case, which a
 * submitted value can be made to be: a text of 1 MB and a needle of 100 kB kept it busy for 15 seconds.
 */
export const NATIVE_SEARCH_LIMIT = 256;

/**
 * A test that tells whether a text holds the needle as a substring, code unit by code unit; the empty needle is in
 * every text. What can be prepared of the search is done here, once.
 *
 * @param needle The text to look for
 * @returns The test
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { substringTest } from "@/law/value/text_search.ts";
 *
 * const test = substringTest("gate");
 * assert.ok(test("a gate opens"));
 * assert.ok(!test("a Gate opens"));
 * ```
 */
export function substringTest(needle: string): (text: string) => boolean {
  if (needle.length <= NATIVE_SEARCH_LIMIT) return (text) => text.includes(needle);
  const borders = bordersOf(needle);
  return (text) => contains(text, needle, borders);
}

/**
 * For every length of a start of the needle the length of its longest border: an end of it that is also a proper start
 * (Knuth, Morris, Pratt 1977).
 */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length + 1);
  let border = 0;
  for (let length = 2; length <= needle.length; length += 1) {
    const unit = needle.charCodeAt(length - 1);
    while (border > 0 && needle.charCodeAt(border) !== unit) border = borders[border] ?? 0;
    if (needle.charCodeAt(border) === unit) border += 1;
    borders[length] = border;
  }
  return borders;
}

function contains(text: string, needle: string, borders: Uint32Array): boolean {
  let matched = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched === needle.length) return true;
  }
  return false;
}
