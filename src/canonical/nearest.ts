/** Finds the known names nearest to a misspelt one. Every hint uses this measure. */

import { compareCodePoints } from "./order.ts";

/** Maximum length of a name that is compared. A longer name is hardly a misspelling. */
const MAXIMUM_LENGTH = 64;
/** Maximum number of equally near names. */
const NEAREST_MAXIMUM = 3;
/** Minimum length of a name that is near to each longer name that contains it. */
const PART_MINIMUM = 4;

/**
 * The names nearest to the one given, by edits (insert, delete, replace), without regard to case and to `-` or `_`
 * between words. Equally near names are returned, at most three, in code point order. A name is near within a third of
 * its length, or two edits. If no name is near, those that contain the given one are returned.
 *
 * Messages show the names to the caller, so pass only names that the caller may see.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { nearestNames } from "@/canonical/nearest.ts";
 *
 * assert.deepEqual(nearestNames("serber", ["server", "policy"]), ["server"]);
 * assert.deepEqual(nearestNames("stage-3", ["stage_1", "stage_2", "release"]), ["stage_1", "stage_2"]);
 * assert.deepEqual(nearestNames("open_stage", ["scenario_open_stage"]), ["scenario_open_stage"]);
 * assert.deepEqual(nearestNames("zzz", ["server", "policy"]), []);
 * ```
 */
export function nearestNames(name: string, candidates: Iterable<string>): string[] {
  if (name.length > MAXIMUM_LENGTH) return [];
  const wanted = fold(name);
  let least = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
  let near: string[] = [];
  const holding: string[] = [];
  for (const candidate of candidates) {
    if (candidate.length > MAXIMUM_LENGTH) continue;
    const folded = fold(candidate);
    if (wanted.length >= PART_MINIMUM && folded.includes(wanted)) holding.push(candidate);
    if (Math.abs(folded.length - wanted.length) > least) continue;
    const edits = editDistance(wanted, folded);
    if (edits > least) continue;
    if (edits < least) near = [];
    near.push(candidate);
    least = edits;
  }
  return (near.length > 0 ? near : holding).sort(compareCodePoints).slice(0, NEAREST_MAXIMUM);
}

/** The first one of {@link nearestNames}, or null. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  return nearestNames(name, candidates)[0] ?? null;
}

/** Removes the smallest differences of misspelt names: case, and `-` for `_`. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
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
