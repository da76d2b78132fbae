/**
 * Messages about names: quoting what was given, and naming what was probably meant.
 *
 * @module
 */

/** Names longer than this are neither quoted in full nor compared. */
const NAME_MAXIMUM = 64;

/** A text from outside in quotes, escaped and cut to a length that fits a message. */
export function quote(text: string): string {
  const wellFormed = text.slice(0, NAME_MAXIMUM).toWellFormed();
  return JSON.stringify(text.length > NAME_MAXIMUM ? `${wellFormed}...` : wellFormed);
}

/** Names in quotes, joined by commas. */
export function quoteAll(names: readonly string[]): string {
  return names.map(quote).join(", ");
}

/**
 * A hint at the known name nearest to the one given, as `; did you mean "x"?`, or nothing where none is near.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { didYouMean } from "@/law/suggest.ts";
 *
 * assert.equal(didYouMean("stage_ids", ["stage_id", "prerequisite"]), '; did you mean "stage_id"?');
 * assert.equal(didYouMean("colour", ["stage_id"]), "");
 * ```
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  if (name.length > NAME_MAXIMUM) return "";
  const wanted = fold(name);
  let nearest: string | null = null;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least || candidate.length > NAME_MAXIMUM) continue;
    const distance = editDistance(wanted, fold(candidate));
    if (distance < least && distance < Math.max(wanted.length, 1)) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest === null ? "" : `; did you mean ${quote(nearest)}?`;
}

/** What misspelt names differ in least: case, and how words are joined. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** The least number of insertions, deletions and replacements between two short texts. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
