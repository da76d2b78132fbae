/**
 * The command `gate completions`.
 *
 * @module
 */

import type { Command } from "commander";
import { SHELLS } from "./choices.ts";
import { command, type Finish, type Flags, withJson, withValues } from "./command_parts.ts";

/** Adds `gate completions`. */
export function addCompletions(program: Command, finish: Finish): void {
  const added = withJson(command(program, "completions", "Print the completions of a shell: bash, zsh or fish", [
    "source <(gate completions bash)",
    "gate completions zsh > ~/.zfunc/_gate",
    "gate completions fish > ~/.config/fish/completions/gate.fish",
  ]));
  withValues(added, { shell: SHELLS })
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string, flags: Flags) =>
      finish((await import("./completions.ts")).runCompletions(program, shell, flags))
    );
}
