/**
 * `config/fleet/one_machine.sh`: the release gate goes through nginx with the official client, while a server and the primary of the
 * database are killed.
 */

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { COMMIT, releaseOf } from "../../e2e/docs/example_goals.ts";
import { gate, gateArgs, inFolder, processOf } from "../../e2e/gate_command.ts";
import { GOOD_RESULTS } from "../../e2e/docs/release_goal.ts";

const EXAMPLE = new URL("../../../docs/examples/release_gate/", import.meta.url).pathname;
const SCRIPT = new URL("../../../config/fleet/one_machine.sh", import.meta.url).pathname;

interface Json {
  // deno-lint-ignore no-explicit-any
  readonly [name: string]: any;
}

function id(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Nine ports in a row that are free now. */
function freePorts(): number {
  for (;;) {
    using first = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = first.addr;
    try {
      for (let next = port + 1; next < port + 9; next++) Deno.listen({ hostname: "127.0.0.1", port: next }).close();
      return port;
    } catch {
      // One of them is taken.
    }
  }
}

/** The fleet of the script. */
interface Fleet {
  readonly folder: string;
  readonly run: (command: "start" | "promote" | "stop") => Promise<string>;
  readonly gate: (...args: readonly string[]) => Promise<string>;
  /** The address of one server, past nginx. */
  readonly addressOf: (server: number) => string;
}

/** Runs a program that has to succeed, and returns its output. */
async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  // Programs that go on in the background would keep a pipe open.
  const log = await Deno.makeTempFile();
  const quoted = [command, ...args].map((part) => `'${part}'`).join(" ");
  const { code } = await new Deno.Command("bash", { args: ["-c", `${quoted} >${log} 2>&1`], env: { ...env } }).output();
  const output = await Deno.readTextFile(log);
  await Deno.remove(log);
  assert.equal(code, 0, `${command} ${args.join(" ")}: ${output}`);
  return output;
}

async function fleetIn(folder: string, providers: string): Promise<Fleet> {
  await Deno.writeTextFile(`${folder}/providers.toml`, providers);
  const { command, args } = processOf(gateArgs());
  const env = {
    GATE: [command, ...args].join(" "),
    GATE_PORTS: String(freePorts()),
    GATE_PROVIDERS: `${folder}/providers.toml`,
  };
  return {
    folder: `${folder}/fleet`,
    addressOf: (server) => `http://127.0.0.1:${Number(env.GATE_PORTS) + server}/mcp`,
    run: (name) => run(SCRIPT, [name, `${folder}/fleet`], env),
    gate: async (...rest) => {
      const [primary, standby] = [4, 5].map((at) => Number(env.GATE_PORTS) + at);
      const password = await Deno.readTextFile(`${folder}/fleet/server.password`);
      const url = `postgres://gate_server:${password}@127.0.0.1:${primary},127.0.0.1:${standby}/gate`;
      return await run(command, [...args, ...rest], { GATE_DATABASE: url });
    },
  };
}

/** What the script printed under a name. */
function printedValue(printed: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, "m").exec(printed)?.[1] ?? "";
}

/** Connects the official client to an address of the fleet. */
async function connect(printed: string, address: string): Promise<Client> {
  const http = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(printedValue(printed, "authority"))] });
  const transport = new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { authorization: `Bearer ${printedValue(printed, "token")}` } },
    fetch: (url: string | URL, init?: RequestInit) => fetch(url, { ...init, client: http } as RequestInit),
  });
  const client = new Client({ name: "release", version: "1" });
  await client.connect(transport);
  return client;
}

/** Repeats a call, unchanged, until its answer is certain, as clients are told to. */
async function settle(client: Client, name: string, input: Json): Promise<Json> {
  for (let tries = 0;; tries++) {
    const answer = await client.callTool({ name, arguments: { ...input } }).catch((error: unknown) => error);
    if (!(answer instanceof Error)) {
      const { isError, structuredContent } = answer as { isError?: boolean; structuredContent: Json };
      if (isError !== true) return structuredContent;
      assert.equal(structuredContent["error"].retryable, true, JSON.stringify(structuredContent));
    }
    assert.ok(tries < 300, `${name}: ${answer}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Starts a run of the release gate. */
async function startRun(client: Client, spec: Json): Promise<Json> {
  const { scenario_law_identity } = await settle(client, "scenario_define", { spec });
  const { outcome } = await settle(client, "scenario_start", {
    namespace_id: 2,
    scenario_id: spec["scenario_id"],
    scenario_law_identity,
    creation_request_id: id(),
    correlation: { kind: "unset" },
    genesis: releaseOf("0.1.0", COMMIT),
  });
  const { run_key, head } = outcome.result;
  return { run: { namespace_id: 2, scenario_id: spec["scenario_id"], run_id: run_key.run_id }, head };
}

async function killed(pidFile: string): Promise<void> {
  Deno.kill(Number((await Deno.readTextFile(pidFile)).split("\n")[0]), "SIGKILL");
}

/** The law of the example with the address of an endpoint, and the providers that it asks, reading a folder of evidence. */
async function releaseGate(folder: string, port: number): Promise<{ readonly spec: Json; readonly providers: string }> {
  await Deno.mkdir(`${folder}/evidence`);
  await Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify(GOOD_RESULTS));
  const law = (await Deno.readTextFile(`${EXAMPLE}scenario.yaml`)).replaceAll("127.0.0.1:4287", `127.0.0.1:${port}`);
  await Deno.writeTextFile(`${folder}/scenario.yaml`, law);
  const built = await gate(folder, "scenario", "build", "scenario.yaml");
  const config = await Deno.readTextFile(`${EXAMPLE}gate.toml`);
  const providers = config.slice(config.indexOf("[[providers]]")).replace('"evidence"', `"${folder}/evidence"`)
    .replace('["RELEASE_BRANCH"] }', '["RELEASE_BRANCH"], overrides = { RELEASE_BRANCH = "main" } }');
  return { spec: JSON.parse(built.stdout), providers };
}

Deno.test("the release gate goes on through nginx while a server and the primary of the database are killed", () =>
  inFolder(async (folder) => {
    const endpoint = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => Response.json({ version: "0.1.0" }),
    );
    // The user that runs PostgreSQL has its files below.
    await Deno.chmod(folder, 0o711);
    const { spec, providers } = await releaseGate(folder, endpoint.addr.port);
    const fleet = await fleetIn(folder, providers);
    try {
      const printed = await fleet.run("start");
      const client = await connect(printed, printedValue(printed, "address"));
      const { run, head } = await startRun(client, spec);
      const steps: Json[] = [];
      for (let expected_head = head; steps.at(-1)?.["run_status"] !== "complete";) {
        assert.ok(steps.length < 3, JSON.stringify(steps));
        const { outcome } = await settle(client, "scenario_next", { ...run, expected_head, request_id: id() });
        assert.equal(outcome.outcome, "accepted", JSON.stringify(outcome));
        expected_head = outcome.result.accepted_head;
        steps.push(outcome.result);
        if (steps.length === 1) await killed(`${fleet.folder}/gate1/pid`);
        if (steps.length === 2) {
          await killed(`${fleet.folder}/postgres/primary/postmaster.pid`);
          await fleet.run("promote");
        }
      }
      const { publication } = await settle(client, "runpack_export", { namespace_id: 2, run_id: run.run_id });
      assert.equal(publication.outcome, "published", JSON.stringify(publication));
      const { runpack_identity } = publication;
      await client.close();
      assert.match(await Deno.readTextFile(`${fleet.folder}/gate2/gate.toml`), /^bucket = "gate"\nendpoint = "http:/m);
      // One of the two servers that are left exported it, the other one fetches it.
      for (const server of [2, 3]) {
        const direct = await connect(printed, fleet.addressOf(server));
        const { report } = await settle(direct, "runpack_verify", { runpack_identity, profile: "full_replay_v1" });
        assert.doesNotMatch(JSON.stringify(report), /"violated"/);
        assert.match(JSON.stringify(report), /"status":"satisfied"/);
        await direct.close();
      }
      const logs = [1, 2, 3].map((server) => `${fleet.folder}/gate${server}/audit.jsonl`);
      const verified = await fleet.gate("audit", "verify", "--config", `${fleet.folder}/gate2/gate.toml`, ...logs);
      assert.equal(verified.match(/^chain .*: sound$/gm)?.length, 3, verified);
    } finally {
      await fleet.run("stop").catch(() => {});
      await endpoint.shutdown();
    }
  }));

Deno.test("the script starts nothing where a program is missing", () =>
  inFolder(async (folder) => {
    const env = { GATE: "no-such-gate serve" };
    const started = new Deno.Command("bash", { args: [SCRIPT, "start", `${folder}/fleet`], env });
    const { code, stderr } = await started.output();
    assert.equal(code, 2);
    assert.equal(new TextDecoder().decode(stderr), 'Cannot start the fleet: "no-such-gate" is not found\n');
    await assert.rejects(Deno.stat(`${folder}/fleet`), Deno.errors.NotFound);
  }));
