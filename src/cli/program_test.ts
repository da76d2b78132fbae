import assert from "node:assert/strict";
import { CliError } from "./terminal/cli_error.ts";
import { EXIT } from "./terminal/exit_codes.ts";
import { describeTree, type GateCommand } from "./terminal/command_parts.ts";
import { completionScript } from "./terminal/completions.ts";
import { SHELLS } from "./terminal/choices.ts";
import { exitCodeOfAnswer, exitCodeOfEdge } from "./client/exit_code.ts";
import { buildProgram, runProgram } from "./program.ts";

const PROGRAM = buildProgram(() => {});
const TREE = describeTree(PROGRAM);
/** Commands with an action: those without subcommands. */
const LEAVES = TREE.filter(({ commands }) => commands.length === 0);
const GROUPS = TREE.filter((one) => one.words.length > 0 && !LEAVES.includes(one));

/** Finds a command by its words. */
function found(words: readonly string[]): GateCommand {
  return words.reduce((at, word) => {
    const next = at.commands.find((one) => one.name() === word);
    assert.ok(next, words.join(" "));
    return next;
  }, PROGRAM);
}

/** The help text of a command. */
function helpOf(command: GateCommand): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => text += part, getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

Deno.test("every command and every group has a summary, help of at most 80 columns, and examples of itself", () => {
  assert.ok(LEAVES.length > 20 && GROUPS.length > 5, `${LEAVES.length} commands, ${GROUPS.length} groups`);
  for (const { words, summary, flags, examples } of TREE) {
    const name = ["gate", ...words].join(" ");
    assert.ok(summary.length > 10, name);
    const help = helpOf(found(words));
    assert.ok(help.startsWith(`Usage: ${name} `), name);
    assert.deepEqual(help.split("\n").filter((line) => line.length > 80), [], name);
    assert.ok(examples.some((example) => example.includes(name)), `${name} has an example`);
    const shown = help.split("\nExamples:\n")[1]?.replaceAll(/^ {2}/gm, "") ?? "";
    assert.ok(shown.startsWith(examples.join("\n")), name);
    for (const flag of flags) assert.ok(flag.description !== "", `${name} ${flag.name}`);
  }
});

Deno.test("every command accepts --json", () => {
  for (const { words, flags } of LEAVES) assert.ok(flags.some(({ name }) => name === "--json"), words.join(" "));
});

/** The calls of gate in an example, as words, without the rest of the shell command. */
function callsIn(example: string): string[][] {
  const words = example.replaceAll("\\\n", " ").match(/(?:'[^']*'|\S)+/g) ?? [];
  const calls: string[][] = [];
  for (const [index, word] of words.entries()) {
    if (!/^(<\()?gate$/.test(word)) continue;
    const rest = words.slice(index + 1);
    const end = rest.findIndex((one) => ["|", ">", "<", "--"].includes(one));
    calls.push((end < 0 ? rest : rest.slice(0, end)).map((one) => one.replace(/\)$/, "")));
  }
  return calls;
}

Deno.test("every example calls an existing command with existing flags and everything that is required", () => {
  const checked = new Set<string>();
  for (const call of TREE.flatMap(({ examples }) => examples.flatMap(callsIn))) {
    const command = TREE.findLast(({ words }) => words.every((word, at) => call[at] === word));
    assert.ok(command && LEAVES.includes(command), call.join(" "));
    const given = call.slice(command.words.length);
    const positional: string[] = [];
    for (let at = 0; at < given.length; at++) {
      const word = given[at] ?? "";
      const flag = command.flags.find(({ name }) => name === word);
      if (!word.startsWith("--")) positional.push(word);
      else assert.ok(flag, `${call.join(" ")}: ${word}`);
      // The value of --stdio may follow --.
      if (flag !== undefined && flag.value !== null && flag.name !== "--stdio") at++;
    }
    const required = command.arguments.filter((argument) => argument.required).length;
    const most = command.arguments.some(({ repeatable }) => repeatable) ? Infinity : command.arguments.length;
    assert.ok(positional.length >= required && positional.length <= most, call.join(" "));
    for (const { long, mandatory } of found(command.words).options) {
      if (mandatory) assert.ok(given.includes(long ?? ""), `${call.join(" ")}: ${long}`);
    }
    checked.add(command.words.join(" "));
  }
  assert.equal(checked.size, LEAVES.length);
});

/** The standard output of a command line, as JSON. */
async function listen(argv: readonly string[]): Promise<unknown> {
  const { stdout } = Deno;
  const written: string[] = [];
  const write = stdout.writeSync.bind(stdout);
  stdout.writeSync = (bytes) => (written.push(new TextDecoder().decode(bytes)), bytes.length);
  try {
    assert.equal(await runProgram(argv), EXIT.ok);
  } finally {
    stdout.writeSync = write;
  }
  return JSON.parse(written.join(""));
}

/** The arguments of `gate help`, and the command that it shows; null if the topic is unknown. */
const TOPICS: readonly [string, string | null][] = [
  ["exit-codes", "help exit-codes"],
  ["exit", "help exit-codes"],
  ["exi", "help exit-codes"],
  ["exit codes", "help exit-codes"],
  ["exitcodes", "help exit-codes"],
  ["exit-code", "help exit-codes"],
  ["explain", "explain"],
  ["exp", "explain"],
  ["scen", "scenario"],
  ["scen check", "scenario check"],
  ["ex", null],
  ["scenaroi", null],
  ["scenario chec", null],
  ["nothing", null],
];

Deno.test("gate help finds a topic by a unique prefix, and the exit codes by a near name", async () => {
  for (const [topic, shown] of TOPICS) {
    const help = listen(["help", ...topic.split(" "), "--json"]);
    if (shown === null) await assert.rejects(help, CliError, topic);
    else {
      const { command, result } = await help as { command: string; result: { words?: string[] } };
      assert.equal(result.words === undefined ? command : result.words.join(" "), shown, topic);
    }
  }
});

Deno.test("gate help --json and COMMAND --help --json write the same JSON object", async () => {
  for (const described of TREE) {
    const expected = { ok: true, command: "help", result: described };
    assert.deepEqual(await listen(["help", ...described.words, "--json"]), expected);
    assert.deepEqual(await listen([...described.words, "--json", "--help"]), expected);
    assert.deepEqual(await listen([...described.words, "-h", "--json"]), expected);
  }
});

Deno.test("docs/reference/cli.md names every command", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reference/cli.md", import.meta.url));
  const named = [...page.matchAll(/^\| `gate ([a-z ]+)` /gm)].map((match) => match[1]);
  assert.deepEqual([...named].sort(), LEAVES.map(({ words }) => words.join(" ")).sort());
});

Deno.test("every command rejects an unknown flag with exit code 2", async () => {
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

Deno.test("every command with a required argument, and every group, reports a missing one with exit code 2", async () => {
  const needy = LEAVES.filter((leaf) => leaf.arguments.some(({ required }) => required));
  assert.ok(needy.length >= 5);
  for (const { words } of [...GROUPS, ...needy]) {
    await assert.rejects(
      runProgram([...words]),
      (error) =>
        error instanceof CliError && error.exitCode === EXIT.usage && /missing|not specified/i.test(error.message),
      words.join(" "),
    );
  }
});

Deno.test("completions contain every command and flag, in every shell", () => {
  for (const shell of SHELLS) {
    const script = completionScript(shell, TREE);
    for (const { words, flags } of TREE) {
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

Deno.test("bash completes commands and flags by their position", async () => {
  const script = completionScript("bash", TREE);
  const rows: readonly [words: readonly string[], expected: readonly string[]][] = [
    [["gate", "scen"], ["scenario"]],
    [["gate", "scenario", "ch"], ["check"]],
    [["gate", "scenario", "graph", "no-such.yaml", "--f"], ["--format"]],
    [["gate", "client", "call", "--url", "x", "--tok"], ["--token-file"]],
    [["gate", "provider", "import", "o"], ["openapi"]],
    [["gate", "provider", "import", "openapi", "--fo"], ["--force"]],
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

Deno.test("exitCodeOfAnswer() maps the answer of a tool", () => {
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
    [{ error: { code: "store_corrupt", kind: "internal" } }, 6],
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
