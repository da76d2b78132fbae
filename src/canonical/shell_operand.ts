/** Writes texts as operands of a shell command that a person copies. */

/**
 * A text as one operand of a POSIX shell: quoted where the shell would read more in it, and after `--` where the
 * command would read an option.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { shellOperand } from "@/canonical/shell_operand.ts";
 *
 * assert.equal(shellOperand("release"), "release");
 * assert.equal(shellOperand("a; ls"), "'a; ls'");
 * ```
 */
export function shellOperand(text: string): string {
  const word = /^[\w.:,@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  return text.startsWith("-") ? `-- ${word}` : word;
}
