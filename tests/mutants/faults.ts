/**
 * Plants faults of one token in a source file: what a slip of the hand would change, and a test should notice.
 *
 * @module
 */

import { lineAt, maskSource, type SourceFile } from "../checks/source.ts";

/** One token, and what stands in its place. */
export interface Fault {
  readonly path: string;
  readonly line: number;
  readonly offset: number;
  readonly before: string;
  readonly after: string;
}

/** A token as a pattern on masked code, and its replacement. */
const SLIPS: readonly (readonly [pattern: RegExp, after: string])[] = [
  [/(?<= )<=(?= )/g, "<"],
  [/(?<= )>=(?= )/g, ">"],
  [/(?<= )<(?= )/g, "<="],
  [/(?<= )>(?= )/g, ">="],
  [/(?<= )===(?= )/g, "!=="],
  [/(?<= )!==(?= )/g, "==="],
  [/(?<= )&&(?= )/g, "||"],
  [/(?<= )\|\|(?= )/g, "&&"],
  [/(?<= )\?\?(?= )/g, "&&"],
  [/(?<= )\+(?= )/g, "-"],
  [/(?<=[\w)\]] )-(?= )/g, "+"],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
  [/(?<=[(&|=?:] ?)!(?=[\w(])/g, ""],
  [/\bsome(?=\()/g, "every"],
  [/\bevery(?=\()/g, "some"],
  [/(?<![\w.])0(?![\w.])/g, "1"],
  [/(?<![\w.])1(?![\w.])/g, "2"],
];

/** Types and their parameters look like comparisons and values, and change nothing at run time. */
const OF_TYPES = /^\s*(?:export )?(?:declare |interface |type |readonly \w+\??:)|^\s*\w+\??: (?:true|false);/;

/** Every fault of one token that a file may have. */
export function faultsOf({ path, text }: SourceFile): Fault[] {
  const code = maskSource(text);
  const lines = code.split("\n");
  return SLIPS.flatMap(([pattern, after]) =>
    [...code.matchAll(pattern)].map(({ index, 0: before }) => ({
      path,
      line: lineAt(code, index),
      offset: index,
      before,
      after,
    }))
  ).filter(({ line }) => !OF_TYPES.test(lines[line - 1] ?? "")).sort((a, b) => a.offset - b.offset);
}

/** The text with a fault in it. */
export function withFault(text: string, { offset, before, after }: Fault): string {
  return text.slice(0, offset) + after + text.slice(offset + before.length);
}

/** Some of many, drawn by a seed: the same ones each time. */
export function draw<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  let state = seed >>> 0;
  const random = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(random() * left.length), 1))
    .flat();
}
