/**
 * The words of a text as they are searched: lower case, the parts of names, and the endings of English taken off.
 *
 * @module
 */

/** A run of letters and digits, names with `_` in them taken as one. */
export const WORD: RegExp = /[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)*/gu;

/** Words that nearly every text has; none of them says what it is about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a about after all also am an and any are as at be been being both but by can could did do does each every for from " +
    "had has have having he her his how i if in into is it its itself just like may me might more most my no nor of on " +
    "only or other our out over own s same she should so some such t than that the their them then there these they " +
    "this those through to too under until up us very was we were what when where which while who whom whose why " +
    "will with would you your").split(" "),
);

/** Longest word that is looked at, in UTF-16 code units; what is longer is a hash or a key. */
const WORD_LENGTH_MAXIMUM = 64;

/**
 * What a word of a text is found by: itself without its ending, and for a name such as `scenario_define` or
 * `AllQualifyingAgree` also its parts. Nothing for a word that says nothing.
 *
 * @param word One match of {@link WORD}, as it was written
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { termsOf } from "@/docs/words.ts";
 *
 * assert.deepEqual(termsOf("Evaluations"), ["evaluat"]);
 * assert.deepEqual(termsOf("scenario_define"), ["scenario_define", "scenario", "defin"]);
 * assert.deepEqual(termsOf("the"), []);
 * ```
 */
export function termsOf(word: string): readonly string[] {
  if (word.length > WORD_LENGTH_MAXIMUM) return [];
  const parts = word.split("_").flatMap((part) => part.match(/\p{Lu}?[^\p{Lu}]+|\p{Lu}+(?!\p{Ll})/gu) ?? [part]);
  const lower = word.toLowerCase();
  if (parts.length === 1) return STOP_WORDS.has(lower) ? [] : [stem(lower)];
  const inner = parts.map((part) => part.toLowerCase()).filter((part) => part.length > 1 && !STOP_WORDS.has(part));
  return [...new Set([lower, ...inner.map(stem)])];
}

/** Endings, each with what takes its place, and how long what stays before it must be; the first that fits is taken. */
const ENDINGS: readonly (readonly [ending: RegExp, instead: string])[] = [
  [/^(.{2,})ification$/, "$1ify"],
  [/^(.{2,})ied$/, "$1y"],
  [/^(.{3,}[ts])ion$/, "$1"],
  [/^(.{2,})ying$/, "$1y"],
  [/^(.*[aeiouy].*)([^aeioulsz])\2(?:ing|ed)$/, "$1$2"],
  [/^(.{3,})ing$/, "$1"],
  [/^(.{3,})ed$/, "$1"],
];

/** A word without its plural and its ending, so that its forms are one. */
function stem(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
  let stemmed = singular(word);
  for (const [ending, instead] of ENDINGS) {
    if (!ending.test(stemmed)) continue;
    stemmed = stemmed.replace(ending, instead);
    break;
  }
  return stemmed.length > 4 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

function singular(word: string): string {
  if (/(ss|us|is)$/.test(word) || !word.endsWith("s")) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(sses|xes|zes|ches|shes)$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
