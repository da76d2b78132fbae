/**
 * Tests whether a part of a pattern that consumes one code point matches a code point.
 *
 * Unicode properties and case-insensitive letters are tested with the runtime's engine. Its compiled classes are large
 * and stay in memory for long. So each named set is compiled once for all patterns, and plain ranges of a class are
 * compared here.
 */

import type { AST } from "@eslint-community/regexpp";

/** Whether a code point matches. */
export type CodeTest = (code: number) => boolean;

/** A part of a pattern that consumes one code point. */
export type CodePart = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass;

/** The flags that apply to a part of a pattern. */
export interface Mode {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

/** Line terminators, for `^`, `$` and the dot. */
export const LINE_ENDS: ReadonlySet<string> = new Set(["\n", "\r", "\u2028", "\u2029"]);

/**
 * Compiles the test of a part.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RegExpParser } from "@eslint-community/regexpp";
 * import { codeTest } from "@/evidence/regular_expression/code_points.ts";
 *
 * const [part] = new RegExpParser().parsePattern("[^a-z\\d]", 0, 9, { unicode: true }).alternatives[0]?.elements ?? [];
 * assert.ok(part?.type === "CharacterClass");
 * const test = codeTest(part, { ignoreCase: false, multiline: false, dotAll: false });
 * assert.deepEqual([..."b1B"].map((letter) => test(letter.codePointAt(0) ?? 0)), [false, false, true]);
 * ```
 */
export function codeTest(part: CodePart, { ignoreCase, dotAll }: Mode): CodeTest {
  if (part.type === "Character" && !ignoreCase) {
    const { value } = part;
    return (code) => code === value;
  }
  if (part.type === "CharacterSet" && part.kind === "any") {
    return dotAll ? () => true : (code) => !LINE_ENDS.has(String.fromCodePoint(code));
  }
  if (part.type === "CharacterSet") return namedTest(part.raw, ignoreCase);
  return part.type === "CharacterClass" ? classTest(part, ignoreCase) : cached(nativeTest(part.raw, ignoreCase));
}

function classTest({ elements, negate }: AST.CharacterClass, ignoreCase: boolean): CodeTest {
  const ranges: Range[] = [];
  const names = new Set<string>();
  for (const element of elements) {
    if (element.type === "Character") ranges.push([element.value, element.value]);
    else if (element.type === "CharacterClassRange") ranges.push([element.min.value, element.max.value]);
    else names.add(element.raw);
  }
  const tests = [...names].map((name) => namedTest(name, ignoreCase));
  if (ranges.length > 0) tests.unshift(ignoreCase ? nativeTest(classOf(ranges), true) : rangeTest(ranges));
  const matches: CodeTest = (code) => tests.some((test) => test(code)) !== negate;
  return names.size === 0 && !ignoreCase ? matches : cached(matches);
}

type Range = readonly [from: number, to: number];

/** The source of a class with these ranges only. */
function classOf(ranges: readonly Range[]): string {
  return `[${ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`;
}

function rangeTest(ranges: readonly Range[]): CodeTest {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const starts = Uint32Array.from(sorted, ([from]) => from);
  let last = 0;
  // The running maximum: with overlapping ranges, an earlier range may end last.
  const ends = Uint32Array.from(sorted, ([, to]) => last = Math.max(last, to));
  return (code) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= code) low = middle + 1;
      else high = middle;
    }
    return low > 0 && code <= (ends[low - 1] ?? 0);
  };
}

/** Tests of named sets; bounded by the number of names in Unicode. */
const named = new Map<string, CodeTest>();

/** The test of a named set, such as `\d` or `\p{L}`. */
export function namedTest(raw: string, ignoreCase: boolean): CodeTest {
  const key = `${ignoreCase ? "i" : ""}${raw}`;
  const before = named.get(key);
  if (before !== undefined) return before;
  const made = cached(nativeTest(raw, ignoreCase));
  named.set(key, made);
  return made;
}

/** Tests with the runtime's engine, which is fast for one code point. */
function nativeTest(raw: string, ignoreCase: boolean): CodeTest {
  const expression = new RegExp(`^(?:${raw})$`, ignoreCase ? "ui" : "u");
  return (code) => expression.test(String.fromCodePoint(code));
}

/** Slots of the cache of a test; a power of two. */
const CACHE_SLOTS = 256;

function cached(test: CodeTest): CodeTest {
  // A slot holds the last code point with its low bits, plus one, shifted left by one; the lowest bit is the result.
  let slots: Int32Array | null = null;
  return (code) => {
    slots ??= new Int32Array(CACHE_SLOTS);
    const slot = code & (CACHE_SLOTS - 1);
    const entry = slots[slot] ?? 0;
    if (entry >> 1 === code + 1) return (entry & 1) === 1;
    const matches = test(code);
    slots[slot] = (code + 1) << 1 | (matches ? 1 : 0);
    return matches;
  };
}
