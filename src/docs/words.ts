/** The search terms of a text: words in lower case, parts of names, without English endings. */

/** A letter or digit. */
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u;

const UNDERSCORE = 0x5f;

/** For each ASCII character: 1 for a letter or digit. */
const ASCII_WORD: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  return WORD_CHARACTER.test(String.fromCharCode(code)) ? 1 : 0;
});

/** The end of the character at a position, if the character belongs to a word; else the position itself. */
function afterCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 128) return at + (ASCII_WORD[code] as number);
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return WORD_CHARACTER.test(character) ? at + character.length : at;
}

/**
 * The words of a text as written: runs of letters and digits. A name with single `_` in it is one word.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { wordsOf } from "@/docs/words.ts";
 *
 * assert.deepEqual(wordsOf("Call `scenario_define`, once."), ["Call", "scenario_define", "once"]);
 * ```
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const { length } = text;
  for (let at = 0; at < length;) {
    let end = afterCharacter(text, at);
    if (end === at) {
      at += 1;
      continue;
    }
    for (let next = end; next < length; end = next) {
      next = afterCharacter(text, next);
      if (next !== end) continue;
      if (text.charCodeAt(end) === UNDERSCORE && end + 1 < length) next = afterCharacter(text, end + 1);
      if (next <= end + 1) break;
    }
    words.push(text.slice(at, end));
    at = end;
  }
  return words;
}

/** Words that nearly every text has, so they say nothing about its subject. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a about after again all also am an and any anything are as at be been being both but by can could did do does each every for from " +
    "had has have having he her his how i if in into is it its itself just like may me mean means might more most my no nor of on " +
    "only or other our out over own s same she should so some something such t than that the their them then there these they " +
    "this those through to too under until up us very was we were what when where which while who whom whose why " +
    "will with would you your").split(" "),
);

/** The longest word that is indexed, in UTF-16 code units; a longer one is a hash or a key. */
const WORD_LENGTH_MAXIMUM = 64;

/** A name of several parts has a `_`, or a capital after a small letter or digit. */
const COMPOUND = /_|[\p{Ll}\p{N}]\p{Lu}/u;

/**
 * The terms of a word: the word without its ending, and for a name such as `scenario_define` or `AllQualifyingAgree`
 * also its parts. A stop word has no terms.
 *
 * @param word A word as {@link wordsOf} returns it
 */
export function termsOf(word: string): readonly string[] {
  if (word.length > WORD_LENGTH_MAXIMUM) return [];
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return [];
  if (!COMPOUND.test(word)) return [stem(lower)];
  const parts = word.split("_").flatMap((part) => part.match(/\p{Lu}?[^\p{Lu}]+|\p{Lu}+(?!\p{Ll})/gu) ?? [part])
    .map((part) => part.toLowerCase()).filter((part) => part.length > 1 && !STOP_WORDS.has(part));
  return [...new Set([stem(lower), ...parts.map(stem)])];
}

/** A word without plural and ending, so that all of its forms have one term. */
function stem(word: string): string {
  if (word.length < 4 || !isPlain(word)) return word;
  const stemmed = withoutEnding(singular(word));
  return stemmed.length > 4 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

/** Whether a word consists of the letters a to z. */
function isPlain(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 0x61 || code > 0x7a) return false;
  }
  return true;
}

function singular(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  const takesTwo = word.endsWith("sses") || word.endsWith("xes") || word.endsWith("zes") || word.endsWith("ches") ||
    word.endsWith("shes");
  return word.slice(0, takesTwo ? -2 : -1);
}

function withoutEnding(word: string): string {
  const { length } = word;
  if (word.endsWith("ification")) return `${word.slice(0, -"ication".length)}y`;
  if (word.endsWith("ied") && length > 4) return `${word.slice(0, -3)}y`;
  if (length >= 7 && (word.endsWith("tion") || word.endsWith("sion"))) return word.slice(0, -3);
  if (word.endsWith("ing") && length >= 6) return withoutDouble(word.slice(0, -3));
  if (word.endsWith("ed") && length >= 5) return withoutDouble(word.slice(0, -2));
  return word;
}

/** `submitt` becomes `submit`; `pass` and `call` are unchanged. */
function withoutDouble(word: string): string {
  const last = word.at(-1) ?? "";
  return last === word.at(-2) && !"aeioulsz".includes(last) ? word.slice(0, -1) : word;
}
