/**
 * The command `gate completions`.
 *
 * @module
 */

import type { Command } from "commander";
import type { Finish, Flags } from "./program.ts";
import type { CommandParts } from "./runpack_commands.ts";

/** Adds `gate completions`. */
export function addCompletions(program: Command, finish: Finish, { command, withJson }: CommandParts): void {
  withJson(command(program, "completions", "Print the completions of a shell: bash, zsh or fish", [
    "source <(gate completions bash)",
    "gate completions zsh > ~/.zfunc/_gate",
    "gate completions fish > ~/.config/fish/completions/gate.fish",
  ]))
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string, flags: Flags) =>
      finish((await import("./completions.ts")).runCompletions(program, shell, flags))
    );
}
