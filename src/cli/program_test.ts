import assert from "node:assert/strict";
import type { Command } from "commander";
import { CliError } from "./cli_error.ts";
import { EXIT } from "./exit_codes.ts";
import { completedCommands, completionScript, SHELLS } from "./completions.ts";
import { exitCodeOfAnswer, exitCodeOfEdge } from "./client_exit_code.ts";
import { buildProgram, runProgram } from "./program.ts";

/** A command with the words that call it. */
interface Leaf {
  readonly words: readonly string[];
  readonly command: Command;
}

/** What does something: commands without others below them, and `approve`, which has one below it. */
function leaves(command: Command, words: readonly string[] = []): Leaf[] {
  const below = command.commands.flatMap((one) => leaves(one, [...words, one.name()]));
  return below.length === 0 || words.join(" ") === "approve" ? [{ words, command }, ...below] : below;
}

const PROGRAM = buildProgram(() => {});
const LEAVES = leaves(PROGRAM);

/** The help of a command as it is written. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => text += part });
  command.outputHelp();
  return text;
}

Deno.test("every command has a summary, examples of itself, and --json", () => {
  assert.ok(LEAVES.length > 20, `${LEAVES.length} commands`);
  for (const { words, command } of LEAVES) {
    const name = `gate ${words.join(" ")}`;
    assert.ok(command.summary().length > 10, name);
    assert.ok(command.options.some(({ long }) => long === "--json"), `${name} --json`);
    const help = helpOf(command);
    assert.ok(help.includes(`Usage: ${name}`), name);
    const examples = help.split("\nExamples:\n")[1] ?? "";
    assert.ok(examples.includes(name), `${name} has an example`);
    for (const { long, description } of command.options) assert.ok(description !== "", `${name} ${long}`);
  }
});

Deno.test("docs/cli.md names every command", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/cli.md", import.meta.url));
  const named = [...page.matchAll(/^\| `gate ([a-z ]+)` /gm)].map((match) => match[1]);
  assert.deepEqual([...named].sort(), LEAVES.map(({ words }) => words.join(" ")).sort());
});

Deno.test("every command refuses a flag that it does not have with exit code 2", async () => {
  for (const { words } of LEAVES) {
    if (words[0] === "serve") continue;
    await assert.rejects(
      runProgram([...words, "--no-such-flag"]),
      (error) =>
        error instanceof CliError && error.exitCode === EXIT.usage &&
        /--no-such-flag|not specified/.test(error.message),
      words.join(" "),
    );
  }
});

Deno.test("every command with a required argument, and every group, says what is missing with exit code 2", async () => {
  const groups = completedCommands(PROGRAM).filter(({ words, commands }) => words.length > 0 && commands.length > 0)
    .filter(({ words }) => !LEAVES.some((leaf) => leaf.words.join(" ") === words.join(" "))).map(({ words }) => words);
  const needy = LEAVES.filter(({ command }) => command.registeredArguments.some(({ required }) => required))
    .map(({ words }) => words);
  assert.ok(groups.length >= 5 && needy.length >= 5);
  for (const words of [...groups, ...needy]) {
    await assert.rejects(
      runProgram([...words]),
      (error) =>
        error instanceof CliError && error.exitCode === EXIT.usage && /missing|not specified/i.test(error.message),
      words.join(" "),
    );
  }
});

Deno.test("completions hold every command and flag, in every shell", () => {
  const commands = completedCommands(PROGRAM);
  for (const shell of SHELLS) {
    const script = completionScript(shell, commands);
    for (const { words, flags } of commands) {
      assert.ok(script.includes(words.join(" ")), `${shell} ${words.join(" ")}`);
      for (const { name } of flags) {
        assert.ok(
          script.includes(shell === "fish" ? `-l ${name.slice(2)}` : name),
          `${shell} ${words.join(" ")} ${name}`,
        );
      }
    }
  }
});

Deno.test("bash takes the completions, and completes commands and flags by where they stand", async () => {
  const script = completionScript("bash", completedCommands(PROGRAM));
  const rows: readonly [words: readonly string[], expected: readonly string[]][] = [
    [["gate", "scen"], ["scenario"]],
    [["gate", "scenario", "ch"], ["check"]],
    [["gate", "scenario", "graph", "no-such.yaml", "--f"], ["--format"]],
    [["gate", "client", "call", "--url", "x", "--tok"], ["--token-file"]],
  ];
  for (const [words, expected] of rows) {
    const ask = `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _gate; echo "\${COMPREPLY[@]}"`;
    const folder = await Deno.makeTempDir();
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", `${script}\n${ask}`],
      cwd: folder,
    }).output();
    await Deno.remove(folder);
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.deepEqual(new TextDecoder().decode(stdout).trim().split(" "), expected, words.join(" "));
  }
});

Deno.test("exitCodeOfAnswer() says what a tool answered", () => {
  const accepted = (result: Record<string, unknown>): Record<string, unknown> => ({
    outcome: { outcome: "accepted", result },
  });
  const rows: readonly [answer: Record<string, unknown>, expected: number][] = [
    [{ items: [] }, 0],
    [{ outcome: "true", trace: [] }, 0],
    [{ outcome: "false", trace: [] }, 3],
    [{ outcome: "unknown", trace: [] }, 4],
    [accepted({ attempt: { outcome: "true" } }), 0],
    [accepted({ attempt: { outcome: "false" } }), 3],
    [accepted({ attempt: { outcome: "unknown" } }), 4],
    [accepted({ decision: { kind: "hold" } }), 4],
    [accepted({ decision: { kind: "hold" }, feedback: { attempts: [{ outcome: "false" }] } }), 3],
    [accepted({ decision: { kind: "advance" } }), 0],
    [accepted({ decisions: [{ kind: "advance" }, { kind: "hold" }] }), 4],
    [accepted({ stage_id: "a" }), 0],
    [{ outcome: { outcome: "stale", result: {} } }, 5],
    [{ outcome: { outcome: "policy_denied", result: {} } }, 7],
    [{ outcome: { outcome: "unauthorized", result: {} } }, 7],
    [{ outcome: { outcome: "acquisition_failed", result: {} } }, 8],
    [{ outcome: { outcome: "stage_not_ready", result: {} } }, 2],
    [{ publication: { outcome: "published" } }, 0],
    [{ publication: { outcome: "integrity_failure" } }, 6],
    [{ report: { claims: [{ claim: "a", status: { status: "satisfied" } }] } }, 0],
    [{ report: { claims: [{ claim: "a", status: { status: "violated" } }] } }, 6],
    [{ error: { code: "role_refused", kind: "unauthorized" } }, 7],
    [{ error: { code: "store_busy", kind: "unavailable" } }, 8],
    [{ error: { code: "internal", kind: "internal" } }, 1],
    [{ error: { code: "invalid_input", kind: "invalid_request" } }, 2],
    [{ content: [] }, 0],
    [{ content: [], isError: true }, 2],
    // A name that every object inherits is no outcome.
    [{ outcome: { outcome: "constructor", result: {} } }, 2],
  ];
  for (const [answer, expected] of rows) {
    assert.equal(exitCodeOfAnswer(answer as never), expected, JSON.stringify(answer));
  }
  assert.deepEqual(
    ["unauthorized", "rate_limited", "invalid_params", undefined].map((kind) => exitCodeOfEdge({ kind })),
    [
      7,
      8,
      2,
      2,
    ],
  );
});
