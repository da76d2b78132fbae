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

/** Refused texts. Brackets keep a pattern from matching itself. */
export const WORD_RULES: readonly { readonly pattern: RegExp; readonly advice: string }[] = [
  { pattern: /\b(?:co-authored|signed-off)-by\b/gi, advice: "Remove the trailer: history names authors already" },
  { pattern: /\b(?:a|the) (?:later|next|future) (?:issue|task)\b/gi, advice: "Open an issue and remove the remark" },
  { pattern: /\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b/g, advice: "Open an issue and remove the remark" },
  { pattern: /\/(?:[h]ome|[r]oot|[U]sers)\//g, advice: "Use a path that every machine has, such as /srv or /opt" },
];

/** Finds every match of the word rules in a text. */
export function findWords(text: string): FoundWord[] {
  return WORD_RULES.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map((match) => ({ word: match[0], line: lineAt(text, match.index), advice }))
  );
}

/** No file has such a word. The lock is exempt: it lists names of packages. */
export function checkWords(files: readonly SourceFile[]): Violation[] {
  return files.filter(({ path }) => path !== "deno.lock").flatMap((file) =>
    findWords(file.text).map(({ word, line, advice }) => ({
      rule: "words",
      path: file.path,
      line,
      message: `Cannot keep "${word}". ${advice}`,
    }))
  );
}
