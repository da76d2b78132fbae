/**
 * Row 4: `scenario_status` over Streamable HTTP with 16 keep-alive connections, bearer token and checks of Host and
 * Origin. Its peers are a server that only echoes, and the reference server.
 *
 * @module
 */

import { gateArgs } from "../../e2e/gate_command.ts";
import { callText, listening, send } from "../../e2e/http_fixture.ts";
import { initializeParams, startServer, type Wire } from "../../e2e/client.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { alternate, type BenchRow, makeRow } from "../harness.ts";
import { startBenchRuns } from "./mutation_bench.ts";
import { installServerEverything, SERVER_EVERYTHING } from "../server_everything.ts";
import { postBytes, runSocketLoad } from "../socket_load.ts";

const CONNECTIONS = 16;
const ROUND_MILLISECONDS = 1_500;
const TOKEN = "bench-token-0123456789abcdef";

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"
auth = { mode = "bearer_token", bearer_tokens = ["${TOKEN}"] }

[server.audit]
path = "audit.log"

[run_state_store]
type = "sqlite"
path = "gate.db"
`;

const ECHO = `
const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => new Response(request.body));
console.log(server.addr.port);
`;

/** Measures row 4 against both peers. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await using gate = await startGateHttp(folder);
    const ours = await statusLoad(gate.url, gate.port);
    return [await againstEcho(folder, ours), await againstEverything(folder, ours)];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A server process that listens. */
function startGateHttp(folder: string): ReturnType<typeof listening> {
  return listening(startServer({ args: gateArgs("serve", "--config", `${folder}/gate.toml`) }));
}

/** Starts a run and gives the load that asks for its status. */
async function statusLoad(url: string, port: number): Promise<() => Promise<number>> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const [run] = await startBenchRuns(async (tool, input) => {
    const answer = JSON.parse((await send(url, callText(1, tool, input), { headers })).text) as Wire;
    return (answer["result"] as { structuredContent: JsonObject }).structuredContent;
  }, 1);
  if (run === undefined) throw new Error("Cannot measure: no run was started");
  const body = callText(1, "scenario_status", { ...run.run_key, scenario_id: "crash" });
  const fields = { Authorization: headers.authorization, Origin: "http://localhost:3000" };
  return load(port, "/mcp", fields, body);
}

function load(
  port: number,
  path: string,
  fields: Readonly<Record<string, string>>,
  body: string,
): () => Promise<number> {
  const request = postBytes(port, path, fields, body);
  return () => runSocketLoad({ port, connections: CONNECTIONS, milliseconds: ROUND_MILLISECONDS, request });
}

async function againstEcho(folder: string, ours: () => Promise<number>): Promise<BenchRow> {
  await Deno.writeTextFile(`${folder}/echo.ts`, ECHO);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-net=127.0.0.1", `${folder}/echo.ts`],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  try {
    const port = Number(await firstLine(child.stdout));
    const samples = await alternate(ours, load(port, "/", {}, "x".repeat(200)));
    return makeRow({
      row: "4",
      name: "scenario_status over HTTP, 16 connections, bearer",
      peer_name: "Deno.serve echo",
      unit: "calls/s",
      must: 0.2,
      goal: 0.3,
      direction: "higher",
      ceiling: "node:http alone is about 0.5",
    }, samples);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
}

async function againstEverything(folder: string, ours: () => Promise<number>): Promise<BenchRow> {
  const { command, args } = await installServerEverything(folder);
  const port = freePort();
  const child = new Deno.Command(command, {
    args: [args[0] ?? "", "streamableHttp"],
    env: { PORT: String(port) },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const session = await openSession(port);
    const fields = { "Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25" };
    const samples = await alternate(ours, load(port, "/mcp", fields, callText(1, "echo", { message: "hello" })));
    return makeRow({
      row: "4",
      name: "scenario_status over HTTP, 16 connections, bearer",
      peer_name: `${SERVER_EVERYTHING} echo over Streamable HTTP`,
      unit: "calls/s",
      must: 6,
      goal: 8,
      direction: "higher",
    }, samples);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
}

/** Initialises a session of the peer, once it listens. */
async function openSession(port: number): Promise<string> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams() });
  const deadline = performance.now() + 20_000;
  for (;;) {
    try {
      const { headers } = await send(`http://127.0.0.1:${port}`, body);
      const session = headers["mcp-session-id"];
      if (typeof session !== "string") throw new Error("Cannot measure: the peer gave no session");
      const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
      await send(`http://127.0.0.1:${port}`, initialized, { headers: { "mcp-session-id": session } });
      return session;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim();
  throw new Error("Cannot measure: the peer ended at once");
}
