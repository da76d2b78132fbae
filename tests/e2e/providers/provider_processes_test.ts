/** The process of a provider of type `mcp` and its descendants end with gate. */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { CONTEXT, contractOf, HOSTILE_COMMAND } from "../evidence/acquisition_entries.ts";
import { initializeParams, type ServerProcess, startServer } from "../client.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";

const PROVIDER = `
[evidence]
allow_raw_values = true
require_provider_opt_in = false

[[providers]]
name = "hostile"
type = "mcp"
command = ${JSON.stringify(HOSTILE_COMMAND)}
capabilities_path = "contract.json"
timeouts = { request_timeout_ms = 20000 }
`;

/** Whether a process runs; a zombie does not. */
async function isAlive(pid: number): Promise<boolean> {
  // The runtime reads files below /proc only with all permissions.
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`], stderr: "null" }).output();
  const stat = new TextDecoder().decode(stdout);
  return stat !== "" && !/^\d+ \(.*\) Z/.test(stat);
}

async function assertGone(pids: readonly number[]): Promise<void> {
  await until(`processes ${pids.join()} are gone`, async () => !(await Promise.all(pids.map(isAlive))).includes(true));
}

/** A law that asks the provider for something that it never answers. */
const SILENT_LAW = `law: silent
evidence:
  answered:
    from: { hostile.any: { behave: family_silent } }
stages:
  ask: answered
`;

/** Writes configurations with the provider and starts gate in their folder. */
async function start(folder: string, args: (folder: string) => Promise<readonly string[]>): Promise<ServerProcess> {
  await Deno.writeTextFile(`${folder}/gate.toml`, STORES + PROVIDER);
  await Deno.writeTextFile(`${folder}/memory.toml`, PROVIDER);
  await Deno.writeTextFile(`${folder}/law.yaml`, SILENT_LAW);
  await Deno.writeTextFile(`${folder}/contract.json`, JSON.stringify(contractOf("hostile").contract));
  await Deno.mkdir(`${folder}/temporary`);
  return startServer({ args: await args(folder), cwd: folder, env: { TMPDIR: `${folder}/temporary` } });
}

async function endAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) if (await isAlive(pid)) Deno.kill(pid, "SIGKILL");
}

/** Starts gate and has the provider start a process that only SIGKILL ends; returns the ids of both. */
async function withFamily(
  args: (folder: string) => Promise<readonly string[]>,
  body: (server: ServerProcess, pids: readonly number[]) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    await using server = await start(folder, args);
    await server.request("initialize", initializeParams());
    await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const query = { provider_id: "hostile", check_id: "any", params: { behave: "family" } };
    const answer = await server.request("tools/call", {
      name: "evidence_query",
      arguments: { query, context: CONTEXT },
    });
    const ids = /"value":\[(\d+),(\d+)\]/.exec(JSON.stringify(answer));
    const pids = ids?.slice(1).map(Number) ?? [];
    assert.equal(pids.length, 2, `${JSON.stringify(answer)} ${server.errors()}`);
    assert.deepEqual(await Promise.all(pids.map(isAlive)), [true, true]);
    try {
      await body(server, pids);
    } finally {
      await endAll(pids);
    }
  });
}

const serve = (folder: string): Promise<readonly string[]> =>
  Promise.resolve(gateArgs("serve", "--config", `${folder}/gate.toml`));

/** How gate ends, and its exit code. */
const ENDS: readonly (readonly [how: string, end: (server: ServerProcess) => void | Promise<void>, code: number])[] = [
  ["the end of its input", (server) => server.closeInput(), 0],
  ["SIGTERM", (server) => server.signal("SIGTERM"), 0],
  ["SIGINT", (server) => server.signal("SIGINT"), 0],
  ["SIGHUP", (server) => server.signal("SIGHUP"), 129],
];

for (const [how, end, code] of ENDS) {
  Deno.test(`gate serve ended by ${how}: exit code ${code}, and no process of a provider is left`, () =>
    withFamily(serve, async (server, pids) => {
      await end(server);
      assert.equal(await server.ended(), code, server.errors());
      await assertGone(pids);
    }));
}

Deno.test("a provider's process that ends takes along what it has started, and gate goes on", () =>
  withFamily(serve, async (server, [provider = 0, started = 0]) => {
    Deno.kill(provider, "SIGKILL");
    await assertGone([provider, started]);
    assert.ok("result" in await server.request("tools/list"));
    await server.closeInput();
    assert.equal(await server.ended(), 0);
  }));

Deno.test("under the flags that gate permissions prints, no process of a provider is left either", () => {
  const pinned = async (folder: string): Promise<readonly string[]> => {
    const printed = await gate(folder, "permissions", "--config", `${folder}/gate.toml`, "--json");
    const { run } = (JSON.parse(printed.stdout) as { result: { run: readonly string[] } }).result;
    assert.ok(!run.includes("--allow-run"));
    return run.slice(1);
  };
  return withFamily(pinned, async (server, pids) => {
    server.signal("SIGTERM");
    assert.equal(await server.ended(), 0, server.errors());
    await assertGone(pids);
  });
});

const CHECK = ["provider", "check", "hostile", "any", "--config", "gate.toml", "--param", "behave=family_silent"];
const RUN = ["run", "law.yaml", "--config", "memory.toml"];
const RUN_IN_STORE = ["run", "law.yaml", "--config", "gate.toml", "--run-key", "a"];

/** Commands that wait for the provider, what ends each, and its exit code. */
const ENDED: readonly (readonly [command: readonly string[], signal: Deno.Signal, code: number])[] = [
  [CHECK, "SIGINT", 130],
  [CHECK, "SIGTERM", 143],
  [CHECK, "SIGHUP", 129],
  [RUN, "SIGINT", 130],
  [RUN, "SIGTERM", 143],
  [RUN_IN_STORE, "SIGTERM", 143],
];

for (const [command, signal, code] of ENDED) {
  const name = `gate ${command.join(" ")} ended by ${signal}`;
  Deno.test(`${name}: exit code ${code}, no process of the provider and no temporary folder is left`, () =>
    inFolder(async (folder) => {
      await using process = await start(folder, () => Promise.resolve(gateArgs(...command)));
      const text = (): Promise<string> => Deno.readTextFile(`${folder}/family.json`).catch(() => "");
      await until("the provider has started its process", async () => (await text()).endsWith("]"));
      const pids = JSON.parse(await text()) as number[];
      try {
        process.signal(signal);
        assert.equal(await process.ended(), code, process.errors());
        await assertGone(pids);
        assert.deepEqual(await Array.fromAsync(Deno.readDir(`${folder}/temporary`)), []);
      } finally {
        await endAll(pids);
      }
    }));
}
