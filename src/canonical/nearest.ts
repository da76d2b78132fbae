/**
 * Finds the names that were probably meant: the one measure of nearness for every place that hints at a known name.
 *
 * @module
 */

import { compareCodePoints } from "./order.ts";

/** Longest name that is compared: beyond it nothing was a slip of the hand. */
const MAXIMUM_LENGTH = 64;
/** Most names that are equally near and all told. */
const NEAREST_MAXIMUM = 3;
/** Shortest name that is near every longer name that holds it whole. */
const PART_MINIMUM = 4;

/**
 * The names nearest to the one given, by edits (insert, delete, replace), whatever their case and whether words are
 * joined by `-` or `_`: all that are equally near, at most three, in code point order. A name is near within a third of
 * its length, or two edits. Where none is, those that hold the name given whole.
 *
 * What is handed in may be told to whoever asks: hand in nothing that they may not see.
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

/** The one of {@link nearestNames} that comes first, or null. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  return nearestNames(name, candidates)[0] ?? null;
}

/** What misspelt names differ in least: case, and how words are joined. */
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
