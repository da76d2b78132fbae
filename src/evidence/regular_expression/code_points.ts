/**
 * Which code points a part of a pattern takes that takes one.
 *
 * Properties and letters of either case are asked of the runtime. What it makes ready for that is large and kept for long after
 * its use, so each set that has a name is asked for once in all patterns, and what stands in a class by itself is compared here.
 *
 * @module
 */

import type { AST } from "@eslint-community/regexpp";

/** Whether a code point is taken. */
export type CodeTest = (code: number) => boolean;

/** A part of a pattern that takes one code point. */
export type CodePart = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass;

/** How the letters of a part are read. */
export interface Mode {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

/** Where lines end, for `^`, `$` and the dot. */
export const LINE_ENDS: ReadonlySet<string> = new Set(["\n", "\r", "\u2028", "\u2029"]);

/**
 * What tells whether a part takes a code point.
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
  return part.type === "CharacterClass" ? classTest(part, ignoreCase) : remembering(nativeTest(part.raw, ignoreCase));
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
  const takes: CodeTest = (code) => tests.some((test) => test(code)) !== negate;
  return names.size === 0 && !ignoreCase ? takes : remembering(takes);
}

type Range = readonly [from: number, to: number];

/** As written from scratch, without what stood between the ranges. */
function classOf(ranges: readonly Range[]): string {
  return `[${ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`;
}

function rangeTest(ranges: readonly Range[]): CodeTest {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const starts = Uint32Array.from(sorted, ([from]) => from);
  let last = 0;
  // Where ranges overlap, each ends no earlier than those that begin before it.
  const ends = Uint32Array.from(sorted, ([, to]) => last = Math.max(last, to));
  return (code) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= code) low = middle + 1;
      else high = middle;
    }
    return low > 0 && code <= (ends[low - 1] ?? 0);
  };
}

/** As many as Unicode has names for, at most. */
const named = new Map<string, CodeTest>();

/** The test of a set that has a name, such as `\d` or `\p{L}`. */
export function namedTest(raw: string, ignoreCase: boolean): CodeTest {
  const key = `${ignoreCase ? "i" : ""}${raw}`;
  const before = named.get(key);
  if (before !== undefined) return before;
  const made = remembering(nativeTest(raw, ignoreCase));
  named.set(key, made);
  return made;
}

/** Asks the runtime: of one code point it cannot take long. */
function nativeTest(raw: string, ignoreCase: boolean): CodeTest {
  const expression = new RegExp(`^(?:${raw})$`, ignoreCase ? "ui" : "u");
  return (code) => expression.test(String.fromCodePoint(code));
}

/** Code points for which an answer is kept; a power of two. */
const KNOWN_CODE_POINTS = 256;

function remembering(test: CodeTest): CodeTest {
  // Each place has the last code point that came to it, one more than it is, and below that the answer.
  let known: Int32Array | null = null;
  return (code) => {
    known ??= new Int32Array(KNOWN_CODE_POINTS);
    const place = code & (KNOWN_CODE_POINTS - 1);
    const before = known[place] ?? 0;
    if (before >> 1 === code + 1) return (before & 1) === 1;
    const takes = test(code);
    known[place] = (code + 1) << 1 | (takes ? 1 : 0);
    return takes;
  };
}
