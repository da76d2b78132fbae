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
/** Asks the function that the script defines, as readline would. */
const BASH = `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gate
(IFS=$'\\n'; echo "\${COMPREPLY[*]}")`;

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

/** What a shell is run with to complete a line. */
function asking(shell: Shell, script: string, line: string): string[] {
  if (shell === "bash") return ["--norc", "-c", BASH, "bash", script, ...line.split(" ")];
  if (shell === "zsh") return ["-f", ZSH, script, line];
  return ["--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line];
}

/** The candidates of a shell, sorted, without what it adds to show them. */
async function candidates(shell: Shell, script: string, line: string, cwd: string): Promise<string[]> {
  const { code, stdout, stderr } = await new Deno.Command(shell, {
    args: asking(shell, script, line),
    cwd,
    env: { HOME: cwd, TERM: "dumb" },
    stdin: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  assert.equal(new TextDecoder().decode(stderr), "", line);
  const lines = new TextDecoder().decode(stdout).split("\n").map((one) => one.split("\t")[0] ?? "");
  return lines.filter((one) => one !== "").map((one) => one.replaceAll("\\", "").replace(/\/$/, "")).sort();
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
      for (const [line, expected] of ROWS) {
        await t.step(`${line}|`, async () => {
          assert.deepEqual(await candidates(shell, script, line, here), expected);
        });
      }
      for (const { words, commands, flags } of program) {
        const line = ["gate", ...words, ""].join(" ");
        if (commands.length > 0) {
          await t.step(`${line}|`, async () => {
            const names = commands.map(({ name }) => name).sort();
            assert.deepEqual(await candidates(shell, script, line, here), names);
          });
        }
        await t.step(`${line}--|`, async () => {
          const names = flags.map(({ name }) => name).sort();
          assert.deepEqual(await candidates(shell, script, `${line}--`, here), names);
        });
      }
    });
  });
}

Deno.test("zsh takes the completions from a file that is sourced, too", () =>
  inFolder(async (folder) => {
    const [installed] = await install("zsh", folder);
    assert.deepEqual(await candidates("zsh", `${installed}/_gate`, "gate conf", folder), ["config"]);
  }));
