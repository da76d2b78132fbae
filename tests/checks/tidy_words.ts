/**
 * Words that do not belong in the tree or its history: the project speaks of itself, not of how, where or by whom it
 * was written.
 *
 * @module
 */

import { lineAt, type SourceFile, type Violation } from "./source.ts";

/** One rule on words: what it finds, and why it is refused. */
interface WordRule {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Names of client programs that documentation has to call by name. They are taken out before the words are looked at. */
const CLIENT_NAMES =
  /Claude Desktop|Claude Code|claude_desktop_config\.json|claude mcp add|~\/\.claude\.json|Codex CLI|codex mcp add|~\/\.codex\//g;

const AUTHORSHIP = "it speaks of how the project was written";
const MACHINE = "it is a place on somebody's machine";
const REGISTRY = "packages are named, not the hosts that serve them";
const LATER = "work that is left belongs in an issue";

/** Every rule on words. */
export const WORD_RULES: readonly WordRule[] = [
  { pattern: /\bclaude\b|\banthropic\b|\bchat-?gpt\b|\bopenai\b|\bcopilot\b|\bcodex\b/i, reason: AUTHORSHIP },
  { pattern: /\bsub-?agents?\b|\bco-authored-by\b|\bsigned-off-by\b/i, reason: AUTHORSHIP },
  { pattern: /\b(LLM|AI|machine|model)[- ](generated|written|authored|assisted)\b/i, reason: AUTHORSHIP },
  { pattern: /\b(generated|written|made) (with|by) (an? )?(AI|LLM|language model|assistant)\b/i, reason: AUTHORSHIP },
  { pattern: /\bas an AI\b|\bprompt engineering\b|\bmy (session|context window|instructions)\b/i, reason: AUTHORSHIP },
  { pattern: /\b(the|this|my|our|per|common) brief\b(?!ly)|\bthe coordinator\b/i, reason: AUTHORSHIP },
  {
    pattern: /\bolder (implementation|core|server)\b|\breference digest\b|\bolder-(core|server)\b/i,
    reason: AUTHORSHIP,
  },
  { pattern: /\b(a|the) (later|next|future) (issue|session|task)\b/i, reason: LATER },
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, reason: LATER },
  { pattern: /\/work\/|\/root\/|\/tmp\/brief|\/home\/[a-z]/, reason: MACHINE },
  {
    pattern: /\bregistry\.npmjs\.org\b|\b(deb|security|ftp)\.debian\.org\b|\bregistry\.yarnpkg\.com\b/,
    reason: REGISTRY,
  },
];

/** Files whose text the word rules leave alone: these rules and their tests, and the lock, which lists what others named. */
const EXEMPT = /^(tests\/checks\/|deno\.lock$|\.gitignore$)/;

/** Every place in a text that a word rule refuses. */
export function findWords(text: string): { readonly word: string; readonly line: number; readonly reason: string }[] {
  const plain = text.replace(CLIENT_NAMES, (name) => " ".repeat(name.length));
  return WORD_RULES.flatMap(({ pattern, reason }) =>
    [...plain.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => ({
      word: match[0],
      line: lineAt(plain, match.index),
      reason,
    }))
  );
}

/** The tree holds none of those words. */
export function checkWords(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => !EXEMPT.test(file.path)).flatMap((file) =>
    findWords(file.text).map(({ word, line, reason }) => ({
      rule: "words",
      path: file.path,
      line,
      message: `Cannot keep "${word}": ${reason}`,
    }))
  );
}
