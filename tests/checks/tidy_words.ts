/**
 * Words that do not belong in the tree or its history: the project speaks of itself, and unfinished work is an issue.
 *
 * @module
 */

import { lineAt, type SourceFile, type Violation } from "./source.ts";

/** A text that a rule refuses, with its line and what to do. */
export interface FoundWord {
  readonly word: string;
  readonly line: number;
  readonly advice: string;
}

/** Refused texts, in all files or in those that `path` matches. Brackets keep a pattern from matching itself. */
export const WORD_RULES: readonly { readonly pattern: RegExp; readonly advice: string; readonly path?: RegExp }[] = [
  { pattern: /\b(?:co-authored|signed-off)-by\b/gi, advice: "Remove the trailer: history names authors already" },
  { pattern: /\b(?:a|the) (?:later|next|future) (?:issue|task)\b/gi, advice: "Open an issue and remove the remark" },
  { pattern: /\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b/g, advice: "Open an issue and remove the remark" },
  {
    pattern: /\b(?:tells|told|nobody|whoever|comes? to nothing)\b/gi,
    advice: "Use the field's term: report, return, no caller, each caller",
    path: /^(?:README\.md|docs\/.*\.md|src\/(?!.*_(?:test|fixture)\.ts$).*\.ts)$/,
  },
  { pattern: /\/(?:[h]ome|[r]oot|[U]sers)\//g, advice: "Use a path that every machine has, such as /srv or /opt" },
];

/** Finds every match of the word rules in the text of a file, or in a text without a path. */
export function findWords(text: string, path = ""): FoundWord[] {
  return WORD_RULES.filter((rule) => rule.path?.test(path) !== false).flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map((match) => ({ word: match[0], line: lineAt(text, match.index), advice }))
  );
}

/** No file has such a word. The lock is exempt: it lists names of packages. */
export function checkWords(files: readonly SourceFile[]): Violation[] {
  return files.filter(({ path }) => path !== "deno.lock" && path !== "tests/deno.lock").flatMap((file) =>
    findWords(file.text, file.path).map(({ word, line, advice }) => ({
      rule: "words",
      path: file.path,
      line,
      message: `Cannot keep "${word}". ${advice}`,
    }))
  );
}
