/** Every exit code, from commands that end with it. */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { EXAMPLES, withExample } from "../docs/example_goals.ts";
import { gate, inFolder } from "../gate_command.ts";

/** A folder with a run whose first stage is open, and with damaged files. */
interface World {
  /** The arguments that identify the run. */
  readonly run: Readonly<Record<string, unknown>>;
  readonly law: string;
  /** The head before the stage was opened. */
  readonly head: unknown;
}

type Row = (world: World) => readonly string[];

function claim(value: number): readonly JsonObject[] {
  const retention = { retention: "RetainCanonicalValue" };
  return [{ condition_id: "acceptance_criteria", retention, value: { value, value_type: "Integer" } }];
}

/** The configuration allows addresses of this machine, so it must be named on the command line. */
const NAMED = ["--config", "gate.toml"];

/** A call of a tool by `gate client`. */
function call(tool: string, input: Readonly<Record<string, unknown>>): string[] {
  const pairs = Object.entries(input).map(([name, value]) => [
    "--arg",
    `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  return ["client", "call", tool, ...pairs.flat(), ...NAMED];
}

const NOBODY = "0".repeat(32);

function precheck({ law }: World, evidence: readonly JsonObject[]): string[] {
  const scenario = { namespace_id: 2, scenario_id: "agent-task", scenario_law_identity: law, stage_id: "plan" };
  return call("scenario_precheck_stage", { ...scenario, caller_evidence: evidence });
}

/** Commands by exit code. */
const ROWS: readonly (readonly [code: number, what: string, command: Row])[] = [
  [0, "a configuration that is valid", () => ["config", "check", "gate.toml"]],
  [0, "cases that pass", () => ["scenario", "test", "scenario.yaml", ...NAMED]],
  [0, "a precheck that is true", (world) => precheck(world, claim(1))],
  [0, "a runpack whose claims hold", () => ["runpack", "verify", "whole.runpack"]],
  [1, "a server that fails inside", () => ["client", "list", "--stdio", "--", "sh", "broken.sh"]],
  [2, "a flag that there is not", () => ["doctor", "--colour"]],
  [2, "an unknown command", () => ["doktor"]],
  [2, "a configuration that is wrong", () => ["config", "check", "wrong.toml"]],
  [2, "a server on a configuration that is wrong", () => ["serve", "--config", "wrong.toml"]],
  [2, "a client of such a server", () => ["client", "list", "--config", "wrong.toml"]],
  [2, "a scenario that is no law", () => ["scenario", "check", "scenario.cases.yaml", ...NAMED]],
  [2, "a run that there is not", () => ["explain", NOBODY, ...NAMED]],
  [2, "a call that is wrong", () => call("scenario_status", {})],
  [
    2,
    "a server with a signing key that there is not",
    () => ["serve", "--config", "local.toml", "--signing-key", "absent.key"],
  ],
  [2, "an audit log that there is not", () => ["audit", "verify", "absent.jsonl"]],
  [2, "a folder in place of an audit log", () => ["audit", "verify", "."]],
  [3, "a precheck that is false", (world) => precheck(world, claim(0))],
  [
    3,
    "a case that fails",
    () => ["scenario", "test", "scenario.yaml", "--cases", "wrong.cases.yaml", ...NAMED],
  ],
  [4, "a precheck that is unknown", (world) => precheck(world, [])],
  [4, "a check that has no answer", () => ["provider", "check", "json", "path", ...param("absent.json"), ...NAMED]],
  [4, "a runpack that withholds a value", () => ["runpack", "verify", "redacted"]],
  [
    5,
    "a head that is no longer accepted",
    ({ run, head }) => call("scenario_next", { ...run, request_id: NOBODY, expected_head: head }),
  ],
  [6, "a store that is not as it was written", () => ["store", "check", "damaged.db"]],
  [6, "a runpack that is not as it was written", () => ["runpack", "verify", "damaged.runpack"]],
  [6, "an audit log that is not as it was written", () => ["audit", "verify", "damaged.jsonl"]],
  [6, "an audit log with an invalid head file", () => ["audit", "verify", "headless.jsonl"]],
  [6, "an unsigned runpack with --require-signature", () => [
    ...["runpack", "verify", "whole.runpack", "--require-signature"],
    ...["--trusted-key", "keys/reader.key.pub"],
  ]],
  [7, "a namespace that is not open", () => call("scenarios_list", { namespace_id: 1 })],
  [8, "a server that there is not", () => ["client", "list", "--url", "http://127.0.0.1:1"]],
  [8, "a store that there is not", () => ["store", "check", "absent.db"]],
  [8, "a server whose audit log cannot be written", () => ["serve", "--config", "unaudited.toml"]],
  [8, "a server whose certificate is not there", () => ["serve", "--config", "uncertified.toml"]],
  [
    8,
    "a server whose address is not this machine's",
    () => ["serve", "--config", "elsewhere.toml", "--allow-non-loopback"],
  ],
  [
    8,
    "a provider that cannot ask",
    () => ["provider", "check", "http", "status", "--param", "url=http://127.0.0.1:1/", ...NAMED],
  ],
];

function param(file: string): string[] {
  return ["--param", `file=${file}`, "--param", "jsonpath=$.a"];
}

const PROVIDERS = `
[server.audit]
path = "audit.jsonl"
[[providers]]
name = "json"
type = "builtin"
config = { root = ".", root_id = "here" }
[[providers]]
name = "http"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
`;

const LOCAL = 'transport = "http"\nbind = "127.0.0.1:0"';

/** Settings of servers that cannot start; 192.0.2.1 is not assigned (RFC 5737). */
const SERVERS: Readonly<Record<string, string>> = {
  local: LOCAL,
  unaudited: `${LOCAL}\naudit.path = "absent/audit.jsonl"`,
  uncertified: `${LOCAL}\ntls = { cert_path = "absent.pem", key_path = "absent.key" }`,
  elsewhere: `transport = "http"
bind = "192.0.2.1:8080"
tls_termination = "upstream"
auth = { mode = "bearer_token", bearer_tokens = ["a-token-of-this-test"] }`,
};

/** A server that answers every request with an internal error. */
const BROKEN = `while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id": *\\([0-9"a-z-]*\\).*/\\1/')
  printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error","data":{"kind":"internal"}}}\\n' "$id"
done
`;

async function succeed(folder: string, ...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await gate(folder, ...command);
  assert.equal(code, 0, `${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Writes a file with one of its bytes, or with a text of its first line, changed. */
async function damage(from: string, to: string, change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
  await Deno.writeFile(to, change(await Deno.readFile(from)));
}

/** Creates the folder for the rows. */
async function prepare(folder: string): Promise<World> {
  await Deno.writeTextFile(`${folder}/gate.toml`, PROVIDERS, { append: true });
  await Deno.writeTextFile(`${folder}/wrong.toml`, "colour = 1\n");
  for (const [name, server] of Object.entries(SERVERS)) {
    await Deno.writeTextFile(`${folder}/${name}.toml`, `[server]\n${server}\n`);
  }
  await Deno.writeTextFile(`${folder}/broken.sh`, BROKEN);
  const cases = await Deno.readTextFile(`${folder}/scenario.cases.yaml`);
  await Deno.writeTextFile(
    `${folder}/wrong.cases.yaml`,
    cases.replace("acceptance_criteria: 3", "acceptance_criteria: 0"),
  );
  await Deno.writeTextFile(
    `${folder}/define.json`,
    await succeed(folder, "scenario", "json", "scenario.yaml", ...NAMED),
  );
  const define = ["client", "call", "scenario_define", "--input", "define.json", ...NAMED];
  const law = String(JSON.parse(await succeed(folder, ...define)).scenario_law_identity);
  const scenario = { namespace_id: 2, scenario_id: "agent-task" };
  const begin = { ...scenario, scenario_law_identity: law, correlation: { kind: "unset" }, genesis: { kind: "empty" } };
  const started = await succeed(folder, ...call("scenario_start", { ...begin, creation_request_id: "a".repeat(32) }));
  const { run_key, head } = JSON.parse(started).outcome.result as { run_key: { run_id: string }; head: unknown };
  const run = { ...scenario, run_id: run_key.run_id };
  const step = { ...run, request_id: "b".repeat(32), expected_head: head, caller_evidence: claim(3) };
  await succeed(folder, ...call("scenario_next", step));
  const exported = ["runpack", "export", "--namespace", "2", "--run", run_key.run_id, ...NAMED];
  await succeed(folder, ...exported, "--archive", "whole.runpack");
  await succeed(folder, ...exported, "--out", "redacted", "--redact", "acceptance_criteria");
  const flip = (at: number) => (bytes: Uint8Array): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 1);
  await damage(`${folder}/whole.runpack`, `${folder}/damaged.runpack`, flip(600));
  await damage(`${folder}/audit.jsonl`, `${folder}/damaged.jsonl`, flip(40));
  await Deno.copyFile(`${folder}/audit.jsonl`, `${folder}/headless.jsonl`);
  await Deno.writeTextFile(`${folder}/headless.jsonl.head`, "{}");
  await Deno.writeTextFile(`${folder}/damaged.db`, "not a database, but long enough to be taken for one".repeat(100));
  return { run, law, head };
}

Deno.test("every exit code comes from its commands", async (t) => {
  const example = EXAMPLES.find(({ name }) => name === "agent_task");
  assert.ok(example);
  await withExample(example, async ({ folder }) => {
    await succeed(folder, "key", "create", "keys/reader.key");
    const world = await prepare(folder);
    for (const [code, what, command] of ROWS) {
      await t.step(`${code}: ${what}`, async () => {
        const words = command(world);
        const ended = await gate(folder, ...words);
        assert.equal(ended.code, code, `${words.join(" ")}: ${ended.stdout}${ended.stderr}`);
      });
    }
  });
  assert.deepEqual([...new Set(ROWS.map(([code]) => code))], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

Deno.test("docs/reference/cli.md lists the exit codes of gate help exit-codes", () =>
  inFolder(async (folder) => {
    const { result } = JSON.parse(await succeed(folder, "help", "exit-codes", "--json"));
    const expected = (result as { code: number; meaning: string }[]).map(({ code, meaning }) => `${code}: ${meaning}`);
    const text = await Deno.readTextFile(new URL("../../../docs/reference/cli.md", import.meta.url));
    const rows = [...text.matchAll(/^\| (\d) +\| (.*?) +\|$/gm)].map((row) => `${row[1]}: ${row[2]}`);
    assert.deepEqual(rows, expected);
  }));
