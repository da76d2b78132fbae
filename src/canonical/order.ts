/** The order of strings outside of canonical JSON: by Unicode code point. */

/**
 * Compares two strings by code point. `<` compares UTF-16 code units, where surrogates are below U+E000..U+FFFF. By
 * code point the characters above U+FFFF, which surrogates encode, come last.
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
 * @param key The key of an item; called once for each item
 * @returns A new array
 */
export function sortedBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => compareCodePoints(a.key, b.key))
    .map((entry) => entry.item);
}

/** The rank of a code unit in code point order: surrogates are above U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
