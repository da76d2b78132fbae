/**
 * Finds the name that was probably meant.
 *
 * @module
 */

/** Longest name that is compared: beyond it nothing was a slip of the hand. */
const MAXIMUM_LENGTH = 64;

/**
 * The candidate closest to a name by edits (insert, delete, replace), or null where none is within a third of its length.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { nearest } from "@/config/nearest.ts";
 *
 * assert.equal(nearest("serber", ["server", "policy"]), "server");
 * assert.equal(nearest("zzz", ["server", "policy"]), null);
 * ```
 */
export function nearest(name: string, candidates: readonly string[]): string | null {
  if (name.length > MAXIMUM_LENGTH) return null;
  let best: string | null = null;
  let bestEdits = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = editDistance(name, candidate);
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

/** Levenshtein's distance between two strings, by UTF-16 code unit. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
