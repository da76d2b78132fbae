/** `gate completions`: generates shell completions from the command definitions. */

import { type Shell, SHELLS } from "./choices.ts";
import { CliError } from "./cli_error.ts";
import { type DescribedCommand, type DescribedFlag, describeTree, type GateCommand } from "./command_parts.ts";
import { writeAnswer } from "./output.ts";

/** Runs `gate completions`. */
export function runCompletions(program: GateCommand, name: string, flags: { readonly json?: boolean }): number {
  const shell = SHELLS.find((known) => known === name);
  if (shell === undefined) {
    throw new CliError("usage", `Unknown shell "${name}"`, `expected one of ${SHELLS.join(", ")}`);
  }
  const commands = describeTree(program);
  const script = completionScript(shell, commands);
  return writeAnswer("completions", flags, { shell, script, commands }, script);
}

/** Returns the completion script of a shell. */
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

/** The candidates for a word: fixed words, file names, or nothing that a shell can list. */
type Candidates = readonly string[] | "files" | "nothing";

/** The names of values and arguments that are a file or a folder. */
const FILES = ["PATH", "FILE", "DIR", "file", "runpack", "a", "b", "command"];

/** The candidates for the value of a flag; null for a switch. */
function candidatesOfFlag({ value, values }: DescribedFlag): Candidates | null {
  if (value === null) return null;
  return values ?? (FILES.includes(value) ? "files" : "nothing");
}

/** The candidates for an argument or subcommand. */
function candidatesOfCommand({ commands, arguments: own }: DescribedCommand): Candidates {
  const words = [...commands.map(({ name }) => name), ...own.flatMap(({ values }) => values ?? [])];
  if (words.length > 0) return words;
  return own.some(({ name }) => FILES.includes(name)) ? "files" : "nothing";
}

/** The words of a command as one key of a shell `case`. */
function keyOf(words: readonly string[]): string {
  return words.join(" ");
}

/** The keys of all commands, as alternatives of a shell pattern. */
function pathPattern(commands: readonly DescribedCommand[]): string {
  return commands.filter(({ words }) => words.length > 0).map(({ words }) => `"${keyOf(words)}"`).join("|");
}

/** The branches of a shell `case` for every flag with a value; the key is the command and the flag. */
function valueCases(commands: readonly DescribedCommand[], body: (candidates: Candidates) => string): string[] {
  return commands.flatMap(({ words, flags }) =>
    flags.flatMap((flag) => {
      const candidates = candidatesOfFlag(flag);
      return candidates === null ? [] : [`    "${keyOf(words)} ${flag.name}") ${body(candidates)} ;;`];
    })
  );
}

/** The keys of commands followed by a word after which a file is expected, each with its command. */
function fileCases(commands: readonly DescribedCommand[]): readonly (readonly [key: string, one: DescribedCommand])[] {
  return commands.flatMap((one) =>
    one.arguments.flatMap(({ values }, index) => {
      const next = one.arguments[index + 1]?.name;
      const words = next !== undefined && FILES.includes(next) ? values ?? [] : [];
      return words.map((word) => [`${keyOf(one.words)} ${word}`, one] as const);
    })
  );
}

function bashScript(commands: readonly DescribedCommand[]): string {
  const offer = (candidates: Candidates): string => {
    if (candidates === "nothing") return "";
    return candidates === "files" ? "files=1" : `offered="${candidates.join(" ")}"`;
  };
  const cases = commands.map((one) => {
    const flags = one.flags.map(({ name }) => name).join(" ");
    return `    "${keyOf(one.words)}") flags="${flags}"; ${offer(candidatesOfCommand(one))} ;;`;
  });
  const afterWords = fileCases(commands).map(([key, { flags }]) => {
    const names = flags.map(({ name }) => name).join(" ");
    return `    "${key}") if [[ "$current" == -* ]]; then offered="${names}"; else files=1; fi ;;`;
  });
  return `# bash completion of gate; source it, or put it into a folder of bash-completion
_gate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path="" word index offered="" flags="" files="" IFS=$' \\t\\n'
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    # The arguments of help are completed like the command that they name.
    if [[ $index == 1 && $COMP_CWORD -gt 2 && "$word" == help ]]; then continue; fi
    case "\${path:+$path }$word" in
      ${pathPattern(commands)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $previous" in
${[...valueCases(commands, (candidates) => offer(candidates) || ":"), ...afterWords].join("\n")}
    *)
      case "$path" in
${cases.map((line) => `    ${line}`).join("\n")}
      esac
      if [[ "$current" == -* ]]; then offered="$flags" files=""; fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ "$files" ]]; then
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _gate gate
`;
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function zshScript(commands: readonly DescribedCommand[]): string {
  const entry = (name: string, description: string): string => quoted(`${name.replaceAll(":", "\\:")}:${description}`);
  const offer = (candidates: Candidates): string => {
    if (candidates === "nothing") return "_message 'a value'";
    return candidates === "files" ? "_files" : `compadd -- ${candidates.map(quoted).join(" ")}`;
  };
  const cases = commands.map((one) => {
    const named = one.commands.map(({ name, summary }) => entry(name, summary));
    const names = named.length > 0
      ? `names=(${named.join(" ")}); _describe 'command' names`
      : offer(candidatesOfCommand(one));
    return [
      `    "${keyOf(one.words)}")`,
      `      flags=(${one.flags.map(({ name, description }) => entry(name, description)).join(" ")})`,
      `      if [[ "$current" == -* ]]; then _describe -o 'flag' flags; else ${names}; fi`,
      "      ;;",
    ].join("\n");
  });
  const afterWords = fileCases(commands).map(([key]) =>
    `    "${key}") if [[ "$current" != -* ]]; then _files; return; fi ;;`
  );
  return `#compdef gate
# zsh completion of gate; put it into a folder of $fpath as _gate
_gate() {
  local current="\${words[CURRENT]}" path_words="" word index
  local -a names flags
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    # The arguments of help are completed like the command that they name.
    if [[ $index == 2 && $CURRENT -gt 3 && "$word" == help ]]; then continue; fi
    case "\${path_words:+$path_words }$word" in
      ${pathPattern(commands)}) path_words="\${path_words:+$path_words }$word" ;;
    esac
  done
  case "$path_words \${words[CURRENT-1]}" in
${[...valueCases(commands, (candidates) => `${offer(candidates)}; return`), ...afterWords].join("\n")}
  esac
  case "$path_words" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_gate" ]; then _gate "$@"; else compdef _gate gate; fi
`;
}

function fishScript(commands: readonly DescribedCommand[]): string {
  const paths = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(keyOf(words))).join(" ");
  const offer = (candidates: Candidates | null): string => {
    if (candidates === null) return "";
    if (candidates === "files") return " -r -F";
    return candidates === "nothing" ? " -x" : ` -x -a ${quoted(candidates.join(" "))}`;
  };
  const lines = commands.flatMap((one) => {
    const when = `complete -c gate -n ${quoted(`__gate_at ${quoted(keyOf(one.words))}`)}`;
    const own = candidatesOfCommand(one);
    const values = one.arguments.flatMap(({ values }) => values ?? []);
    return [
      ...(own === "files" ? [] : [`${when} -f`]),
      ...one.commands.map(({ name, summary }) => `${when} -a ${name} -d ${quoted(summary)}`),
      ...(values.length > 0 ? [`${when} -a ${quoted(values.join(" "))}`] : []),
      ...fileCases([one]).map(([key]) => `complete -c gate -n ${quoted(`__gate_after ${quoted(key)}`)} -F`),
      ...one.flags.map((flag) =>
        `${when} -l ${flag.name.slice(2)}${offer(candidatesOfFlag(flag))} -d ${quoted(flag.description)}`
      ),
    ];
  });
  return `# fish completion of gate; put it into ~/.config/fish/completions as gate.fish
function __gate_at
  set -l known ${paths}
  set -l path ""
  set -l words (commandline -opc)[2..-1]
  # The arguments of help are completed like the command that they name.
  if test (count $words) -gt 1 -a "$words[1]" = help
    set -e words[1]
  end
  for word in $words
    set -l longer (string trim -- "$path $word")
    if contains -- "$longer" $known
      set path $longer
    end
  end
  test "$path" = "$argv[1]"
end
function __gate_after
  string match -q -- "* $argv[1]" (string join " " -- (commandline -opc))
end
${lines.join("\n")}
`;
}
