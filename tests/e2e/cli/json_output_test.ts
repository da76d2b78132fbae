/** The output of every command with `--json`. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { openStores } from "@/store/open.ts";
import { SHA256 } from "../../simulation/kernel/fixture.ts";
import { GOLDEN_FOLDER } from "../../simulation/runpack/packs.ts";
import { playGoldenRun, storeRun } from "../../simulation/runpack/run.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { gate, inFolder } from "../gate_command.ts";
import { evidence, LAW as TWO_STAGES } from "./run_command_fixture.ts";

const RUN = playGoldenRun(0, () => "gate-kernel-1");
const { run_id } = RUN.state.run_key;
const PACK = join(GOLDEN_FOLDER, "plain");
const SCENARIO = new URL("../../../docs/examples/agent_task/scenario.yaml", import.meta.url).pathname;

const CONFIG = `
[run_state_store]
type = "sqlite"
path = "gate.db"

[server.audit]
path = "audit.jsonl"

[[providers]]
name = "time"
type = "builtin"
`;

const APPROVAL = [
  ...["--key", "a.key", "--namespace", "2", "--law", "0".repeat(64), "--run", run_id, "--any-head"],
  ...["--stage", "build", "--condition", "built", "--value", "true"],
];

/** An OpenAPI document with one operation. */
const SERVICE = JSON.stringify({
  openapi: "3.1.0",
  servers: [{ url: "https://service.example" }],
  paths: {
    "/ready": { get: { responses: { 200: { content: { "application/json": { schema: { type: "boolean" } } } } } } },
  },
});

const RUN_LAW = "two_stages.yaml";

const LAW_FILE = `law: release
evidence:
  tests_failed: count
stages:
  ship: tests_failed == 0
`;

/** Arguments with a successful result, by command, in an order that works in one folder. */
const ROWS: readonly (readonly [command: string, args: readonly string[]])[] = [
  ["init", ["other.toml"]],
  ["new", ["approval"]],
  ["config check", []],
  ["config schema", []],
  ["doctor", []],
  ["permissions", []],
  ["scenario check", [SCENARIO]],
  ["scenario explain", [SCENARIO]],
  ["scenario graph", [SCENARIO]],
  ["scenario test", [SCENARIO]],
  ["scenario build", [SCENARIO]],
  ["scenario json", [SCENARIO]],
  ["scenario schema", []],
  ["scenario write", [SCENARIO]],
  ["scenario format", ["law.yaml"]],
  ["scenario prove", [SCENARIO, "--needs", "caller()"]],
  ["scenario who", [SCENARIO]],
  ["scenario compare", [SCENARIO, SCENARIO]],
  ["provider list", []],
  ["provider check", ["time", "now"]],
  ["provider import", ["openapi", "service.json"]],
  ["client call", ["scenarios_list", "--arg", "namespace_id=2"]],
  ["client list", []],
  ["explain", [run_id]],
  ["run", [RUN_LAW, "--evidence", "evidence.json"]],
  ["runs", []],
  ["status", [run_id.slice(0, 8)]],
  ["history", [run_id]],
  ["key create", ["a.key"]],
  ["key trust", ["a.key.pub", "--name", "alice"]],
  ["evidence sign", APPROVAL],
  ["waiting", []],
  ["runpack export", ["--namespace", "2", "--run", run_id, "--out", "pack"]],
  ["runpack sign", ["pack", "--key", "a.key"]],
  ["runpack verify", ["pack", "--profile", "integrity_only_v1"]],
  ["runpack show", ["pack"]],
  ["runpack diff", ["pack", PACK]],
  ["replay", ["pack", "--law", "law.json"]],
  ["store check", []],
  ["store backup", ["copy.db"]],
  ["store copy", ["gate.db", "copied.db"]],
  ["store archive", ["--before", "2020-01-01T00:00:00Z"]],
  ["store migrate", []],
  ["audit verify", ["audit.jsonl"]],
  ["completions", ["bash"]],
  ["help", []],
];

/**
 * `serve` has no result, `console` runs until a signal, `pull` needs an object store, and `attest` a digest that the run decided on; their
 * errors are JSON as well.
 */
const REFUSING: readonly (readonly [command: string, args: readonly string[]])[] = [
  ["serve", ["--nope"]],
  ["console", ["--nope"]],
  ["lsp", ["--nope"]],
  ["hook check", []],
  ["hook stop", []],
  ["hook tool", []],
  ["runpack pull", ["0".repeat(64)]],
  ["approve", [run_id, "--key", "a.key", "--yes"]],
  ["runpack attest", ["pack", "--law", "law.json", "--subject", `a=sha256:${"0".repeat(64)}`, "--key", "a.key"]],
];

/** Commands whose answer is not that everything holds. `admit`: the run kept only the digest of a value. */
const NEGATIVE: readonly (readonly [command: string, args: readonly string[], code: number])[] = [
  ["runpack admit", ["pack", "--law", "law.json", "--origin-unchecked"], 4],
  // A list without an operation.
  ["client apply", ["operations.json"], 2],
  // No folder of a release.
  ["release verify", [".", "--origin-unchecked"], 6],
];

interface Help {
  readonly flags: readonly { readonly name: string }[];
  readonly commands: readonly { readonly name: string }[];
}

/** Every command with `--json` according to help, with subcommands. */
async function commandsOf(folder: string): Promise<string[]> {
  const help = async (...words: readonly string[]): Promise<Help> =>
    JSON.parse((await gate(folder, "help", ...words, "--json")).stdout).result;
  const found = (await help()).commands.map(async ({ name }) => {
    const { flags, commands } = await help(name);
    const own = flags.some((flag) => flag.name === "--json") ? [name] : [];
    return [...own, ...commands.map((one) => `${name} ${one.name}`)];
  });
  return (await Promise.all(found)).flat();
}

Deno.test("every command with --json writes one line of JSON, for any position of the flag", () =>
  inFolder(async (folder) => {
    assert.deepEqual(
      [...ROWS, ...REFUSING, ...NEGATIVE].map(([command]) => command).sort(),
      (await commandsOf(folder)).sort(),
    );
    const stores = await openStores(storesOptions(folder, WAL_FULL), SHA256);
    await storeRun(stores.runs, RUN);
    await stores.runs.close();
    await stores.schemas.close();
    await Deno.writeTextFile(join(folder, "gate.toml"), CONFIG);
    await Deno.writeTextFile(join(folder, "law.json"), RUN.law.law);
    await Deno.writeTextFile(join(folder, RUN_LAW), TWO_STAGES);
    await Deno.writeTextFile(join(folder, "evidence.json"), evidence({ built: true, deployed: true }));
    await Deno.writeTextFile(join(folder, "service.json"), SERVICE);
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW_FILE);
    await Deno.writeTextFile(join(folder, "operations.json"), '{"operations":[]}');
    for (const [command, args] of ROWS) {
      const { code, stdout, stderr } = await gate(folder, ...command.split(" "), ...args, "--json");
      assert.deepEqual([code, stderr], [0, ""], `${command}: ${stdout}${stderr}`);
      assert.deepEqual(stdout.split("\n").length, 2, command);
      assert.deepEqual({ ...JSON.parse(stdout), result: null }, { ok: true, command, result: null });
    }
    for (const [command, args, wanted] of NEGATIVE) {
      const { code, stdout, stderr } = await gate(folder, ...command.split(" "), ...args, "--json");
      assert.deepEqual([code, stderr], [wanted, ""], `${command}: ${stdout}${stderr}`);
      assert.deepEqual({ ...JSON.parse(stdout), result: null }, { ok: false, command, result: null });
    }
    for (const [command, args] of REFUSING) {
      const { stdout, stderr } = await gate(folder, ...command.split(" "), ...args, "--json");
      assert.equal(stdout, "");
      assert.deepEqual(Object.keys(JSON.parse(stderr).error), ["code", "message", "hint"], command);
    }
    for (const [name, args] of [["b.key", ["--json", "b.key"]], ["c.key", ["c.key", "--json"]]] as const) {
      const { result } = JSON.parse((await gate(folder, "key", "create", ...args)).stdout);
      assert.equal(result.private_key, join(folder, name));
    }
  }));
