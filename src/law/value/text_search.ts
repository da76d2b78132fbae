/** Searches a text within another one, in linear time for all inputs. */

/**
 * Up to this length the native search is used. Its worst case is the product of both lengths, and a submitted value can
 * reach it: a text of 1 MB and a needle of 100 kB needed 15 seconds.
 */
export const NATIVE_SEARCH_LIMIT = 256;

/**
 * A test whether a text contains the needle as a substring, by code units. Every text contains the empty needle. The
 * needle is prepared once.
 *
 * @param needle The text to find
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
 * For every prefix of the needle the length of its longest border: a suffix that is also a proper prefix (Knuth,
 * Morris, Pratt 1977).
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
