/** What bash, zsh and fish offer for command lines of gate, asked of the shells themselves. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../e2e/gate_command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = typeof SHELLS[number];

/** A command, as the completions know it. */
interface Completed {
  readonly words: readonly string[];
  readonly flags: readonly { readonly name: string }[];
  readonly commands: readonly { readonly name: string }[];
}

const ZSH = new URL("./complete.zsh", import.meta.url).pathname;
/** Stands after the candidates of each line. */
const END = "GATE-END";
/** Asks the function that the script defines, as readline would. */
const BASH = `source "$1"; shift
for line; do
  COMPREPLY=() COMP_WORDS=(\${line% }); [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _gate
  (IFS=$'\\n'; echo "\${COMPREPLY[*]}"); echo ${END}
done`;
const FISH = `source $argv[1]
for line in $argv[2..]; complete -C $line; echo ${END}; end`;

/** The script of a shell in a folder, as its first lines say to install it, with the commands that it is about. */
async function install(shell: Shell, folder: string): Promise<readonly [path: string, commands: readonly Completed[]]> {
  const { code, stdout } = await gate(folder, "completions", shell, "--json");
  assert.equal(code, 0);
  const { script, commands } = JSON.parse(stdout).result as { script: string; commands: readonly Completed[] };
  assert.ok(commands.length > 30);
  const path = shell === "zsh" ? `${folder}/zfunc` : `${folder}/gate.${shell}`;
  if (shell === "zsh") await Deno.mkdir(path);
  await Deno.writeTextFile(shell === "zsh" ? `${path}/_gate` : path, script);
  return [path, commands];
}

/** What a shell is run with to complete lines, one after another. */
function asking(shell: Shell, script: string, lines: readonly string[]): string[] {
  if (shell === "bash") return ["--norc", "-c", BASH, "bash", script, ...lines];
  if (shell === "zsh") return ["-f", ZSH, script, ...lines];
  return ["--no-config", "-c", FISH, script, ...lines];
}

/** The candidates of a shell for each line, sorted, without what it adds to show them. */
async function candidates(shell: Shell, script: string, lines: readonly string[], cwd: string): Promise<string[][]> {
  const output = await new Deno.Command(shell, {
    args: asking(shell, script, lines),
    cwd,
    env: { HOME: cwd, TERM: "dumb" },
    stdin: "null",
  }).output();
  const [shown, error] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual({ code: output.code, error }, { code: 0, error: "" });
  const parts = (shown ?? "").split(`${END}\n`);
  assert.equal(parts.pop(), "");
  assert.equal(parts.length, lines.length);
  return parts.map((part) => {
    const found = part.split("\n").map((one) => one.split("\t")[0] ?? "").filter((one) => one !== "");
    return found.map((one) => one.replaceAll("\\", "").replace(/\/$/, "")).sort();
  });
}

const FOLDER = ["config", "release.yaml", "two words.yaml"];
const SCENARIO = [
  "build",
  "check",
  "compare",
  "explain",
  "format",
  "graph",
  "json",
  "prove",
  "schema",
  "test",
  "who",
  "write",
];

const ROWS: readonly (readonly [line: string, expected: readonly string[]])[] = [
  // Commands and those below them; a folder that is called as a command is, changes nothing.
  ["gate conf", ["config"]],
  ["gate runpack ", ["admit", "attest", "diff", "export", "pull", "show", "sign", "verify"]],
  ["gate runpack s", ["show", "sign"]],
  ["gate scenario ", SCENARIO],
  ["gate key ", ["create", "trust"]],
  // Flags, where one is begun.
  ["gate audit verify --", ["--config", "--help", "--json"]],
  ["gate client call --to", ["--token-file"]],
  ["gate scenario graph release.yaml --f", ["--format"]],
  // Files, where a file is wanted, and nothing where it is not.
  ["gate scenario check ", FOLDER],
  ["gate scenario check re", ["release.yaml"]],
  ["gate scenario check --json two", ["two words.yaml"]],
  ["gate doctor --config rel", ["release.yaml"]],
  ["gate provider import openapi re", ["release.yaml"]],
  ["gate provider import openapi --fo", ["--force"]],
  ["gate provider import g", ["grpc"]],
  ["gate doctor ", []],
  ["gate explain ", []],
  ["gate explain --namespace ", []],
  // What a flag or an argument may be.
  ["gate scenario graph --format ", ["mermaid", "svg", "terminal"]],
  ["gate scenario graph release.yaml --format s", ["svg"]],
  ["gate runpack verify --profile ", ["full_replay_v1", "integrity_only_v1"]],
  ["gate completions ", ["bash", "fish", "zsh"]],
  ["gate client call scenario_s", ["scenario_start", "scenario_status", "scenario_submit"]],
  // What help explains is completed as it would be called.
  ["gate help ex", ["exit-codes", "explain"]],
  ["gate help scenario ", SCENARIO],
];

for (const shell of SHELLS) {
  Deno.test(`${shell} completes commands, flags, values and files`, async (t) => {
    await inFolder(async (folder) => {
      const here = `${folder}/here`;
      await Deno.mkdir(`${here}/config`, { recursive: true });
      for (const name of ["release.yaml", "two words.yaml"]) await Deno.writeTextFile(`${here}/${name}`, "");
      const [script, program] = await install(shell, folder);
      const rows = [...ROWS, ...program.flatMap(rowsOf)];
      const found = await candidates(shell, script, rows.map(([line]) => line), here);
      for (const [index, [line, expected]] of rows.entries()) {
        await t.step(`${line}|`, () => assert.deepEqual(found[index], expected));
      }
    });
  });
}

/** What a command completes: the commands below it, where there are some, and its flags. */
function rowsOf({ words, commands, flags }: Completed): readonly (readonly [line: string, expected: string[]])[] {
  const line = ["gate", ...words, ""].join(" ");
  const named = (items: readonly { readonly name: string }[]): string[] => items.map(({ name }) => name).sort();
  return [...(commands.length > 0 ? [[line, named(commands)] as const] : []), [`${line}--`, named(flags)]];
}

Deno.test("zsh takes the completions from a file that is sourced, too", () =>
  inFolder(async (folder) => {
    const [installed] = await install("zsh", folder);
    assert.deepEqual(await candidates("zsh", `${installed}/_gate`, ["gate conf"], folder), [["config"]]);
  }));
