/**
 * `gate completions`: what a shell completes, made from the commands themselves.
 *
 * @module
 */

import type { Command } from "commander";
import { CliError } from "./cli_error.ts";
import { type DescribedCommand, describeTree } from "./command_parts.ts";
import { EXIT } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";

/** The shells. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of {@link SHELLS}. */
export type Shell = typeof SHELLS[number];

/** Runs `gate completions`. */
export function runCompletions(program: Command, name: string, flags: { readonly json?: boolean }): number {
  const shell = SHELLS.find((known) => known === name);
  if (shell === undefined) {
    throw new CliError("usage", `Cannot complete for shell "${name}"`, `known are ${SHELLS.join(", ")}`);
  }
  const commands = describeTree(program);
  const script = completionScript(shell, commands);
  if (flags.json === true) writeResult("completions", { shell, script, commands });
  else writeOut(script);
  return EXIT.ok;
}

/** The script that teaches a shell the commands. */
export function completionScript(shell: Shell, commands: readonly DescribedCommand[]): string {
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      return zshScript(commands);
    case "fish":
      return fishScript(commands);
  }
}

/** The words of a command as one, to switch by. */
function keyOf(words: readonly string[]): string {
  return words.join(" ");
}

function bashScript(commands: readonly DescribedCommand[]): string {
  const paths = commands.filter(({ words }) => words.length > 0).map(({ words }) => `"${keyOf(words)}"`).join("|");
  const cases = commands.map(({ words, flags, commands }) => {
    const offered = [...commands.map(({ name }) => name), ...flags.map(({ name }) => name)].join(" ");
    return `    "${keyOf(words)}") offered="${offered}" ;;`;
  });
  return `# bash completion of gate; source it, or put it where bash-completion looks
_gate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word index offered=""
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "\${path:+$path }$word" in
      ${paths}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ "$current" != -* ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _gate gate
`;
}

/** A text within single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function zshScript(commands: readonly DescribedCommand[]): string {
  const paths = commands.filter(({ words }) => words.length > 0).map(({ words }) => `"${keyOf(words)}"`).join("|");
  const entry = (name: string, description: string): string => quoted(`${name.replaceAll(":", "\\:")}:${description}`);
  const cases = commands.map(({ words, flags, commands }) =>
    [
      `    "${keyOf(words)}")`,
      `      names=(${commands.map(({ name, summary }) => entry(name, summary)).join(" ")})`,
      `      flags=(${flags.map(({ name, description }) => entry(name, description)).join(" ")})`,
      "      ;;",
    ].join("\n")
  );
  return `#compdef gate
# zsh completion of gate; put it into a folder of $fpath as _gate
_gate() {
  local path_words="" word index
  local -a names flags
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "\${path_words:+$path_words }$word" in
      ${paths}) path_words="\${path_words:+$path_words }$word" ;;
    esac
  done
  case "$path_words" in
${cases.join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o 'flag' flags
  else
    (( \${#names} )) && _describe 'command' names
    _files
  fi
}
if [ "$funcstack[1]" = "_gate" ]; then _gate "$@"; else compdef _gate gate; fi
`;
}

function fishScript(commands: readonly DescribedCommand[]): string {
  const paths = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(keyOf(words))).join(" ");
  const lines = commands.flatMap(({ words, flags, commands }) => {
    const when = `-n ${quoted(`__gate_at ${quoted(keyOf(words))}`)}`;
    return [
      ...commands.map(({ name, summary }) => `complete -c gate ${when} -f -a ${name} -d ${quoted(summary)}`),
      ...flags.map(({ name, value, description }) =>
        `complete -c gate ${when} -l ${name.slice(2)}${value === null ? "" : " -r"} -d ${quoted(description)}`
      ),
    ];
  });
  return `# fish completion of gate; put it into ~/.config/fish/completions as gate.fish
function __gate_at
  set -l known ${paths}
  set -l path ""
  set -l words (commandline -opc)
  for word in $words[2..-1]
    set -l longer (string trim -- "$path $word")
    if contains -- "$longer" $known
      set path $longer
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}
