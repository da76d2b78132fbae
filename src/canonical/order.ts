/**
 * The order of strings everywhere but in canonical JSON: by Unicode code point.
 *
 * @module
 */

/**
 * Compares two strings by code point. It differs from `<` where one string has an astral character and the other one
 * of U+E000..U+FFFF: UTF-16 puts the surrogates below those, Unicode puts the characters they stand for above.
 *
 * @returns Negative if `a` comes first, positive if `b` does, 0 if they are equal
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareCodePoints } from "@/canonical/order.ts";
 *
 * assert.ok("\u{10000}" < "\uffff");
 * assert.ok(compareCodePoints("\u{10000}", "\uffff") > 0);
 * ```
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/**
 * A copy of the items in code point order of their key; items of equal key keep their order.
 *
 * @param items The items
 * @param key The string an item is ordered by, asked for once an item
 * @returns A new array
 */
export function sortedBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => compareCodePoints(a.key, b.key))
    .map((entry) => entry.item);
}

/** The place of a code unit in code point order: surrogates move above U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
