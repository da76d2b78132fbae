/** Text for terminals: colours, escaping and aligned columns. */

export { shown } from "../../canonical/shown.ts";

/** The colour codes by tone. */
const SEQUENCES = { good: "32", warning: "33", bad: "31", strong: "1" } as const;

/** The meaning of a colour. */
export type Tone = keyof typeof SEQUENCES;

/**
 * Whether to write colours: standard output is a terminal, and `NO_COLOR` is unset or empty (no-color.org). Without
 * permission to read `NO_COLOR`, there are no colours.
 */
export function wantsColour(): boolean {
  if (!Deno.stdout.isTerminal()) return false;
  const { state } = Deno.permissions.querySync({ name: "env", variable: "NO_COLOR" });
  return state === "granted" && (Deno.env.get("NO_COLOR") ?? "") === "";
}

/** Colours a text, where colours are on. */
export function paint(text: string, tone: Tone, colour: boolean): string {
  return colour ? `\x1b[${SEQUENCES[tone]}m${text}\x1b[0m` : text;
}

/**
 * Formats rows as lines with aligned columns; the last column is not padded.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { columns } from "@/cli/terminal/text.ts";
 *
 * assert.equal(columns([["a", "first"], ["bcd", "second"]]), "a    first\nbcd  second\n");
 * ```
 */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => widths[index] = Math.max(widths[index] ?? 0, cell.length));
  }
  const lines = rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)).join("  ").trimEnd()
  );
  return lines.map((line) => `${line}\n`).join("");
}

/** Formats a command for a shell with one flag a line. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ").replaceAll(/ (?=--)/g, " \\\n  ");
}
