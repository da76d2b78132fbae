/** A client of 2025 is asked by one of two servers behind nginx, with the affinity that `docs/guide/several_servers.md` names. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "@/evidence/host_primitives.ts";
import { startServer, type Wire } from "../e2e/client.ts";
import { ClientOne, ElicitRequestSchema, HttpOne } from "../e2e/protocol/first_sdk.ts";
import { STORES } from "../e2e/gate_command.ts";
import { callText, type HttpServer, listening, message, send } from "../e2e/http_fixture.ts";
import { askingServer, idOf, type WaitingWorld, withWaitingRun } from "../e2e/people/waiting_world.ts";
import { startFleetNginx } from "./proxy_nginx.ts";

const TOKEN = "alice".padEnd(32, "0");
const AS_ALICE = { authorization: `Bearer ${TOKEN}` };
const PAGES = { elicitation: { url: {} } };

/** Starts one of two servers with the same state keys, on the run of the world. */
async function startOne(world: WaitingWorld): Promise<HttpServer> {
  const subject = `token:${sha256(new TextEncoder().encode(TOKEN))}`;
  const principal = `{ subject = "${subject}", roles = [{ name = "NamespaceWriter", namespace_id = 2 }] }`;
  await Deno.writeTextFile(
    join(world.folder, "http.toml"),
    `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\nstate_keys = ["state.key"]\n[server.auth]\n` +
      `mode = "bearer_token"\nbearer_tokens = ["${TOKEN}"]\nprincipals = [${principal}]\n${STORES}`,
    { mode: 0o600 },
  );
  return await listening(
    startServer({ args: askingServer("--config", "http.toml", "--log-level", "info"), cwd: world.folder }),
  );
}

/** The input of a step that asks first. */
async function inputOf(url: string, { run }: WaitingWorld, number: number): Promise<Wire> {
  const { text } = await send(url, callText(1, "scenario_status", run), { headers: AS_ALICE });
  const expected_head = JSON.parse(text).result.structuredContent.accepted_head;
  return { ...run, request_id: idOf(number), expected_head, ask: true };
}

/** The official client accepts the question, and the step follows. */
async function acceptsByClient(url: string, world: WaitingWorld): Promise<void> {
  const client = new ClientOne({ name: "suite", version: "1" }, { capabilities: PAGES });
  let questions = 0;
  client.setRequestHandler(ElicitRequestSchema, () => {
    questions++;
    return { action: "accept" as const };
  });
  // deno-lint-ignore no-explicit-any
  await client.connect(new HttpOne(new URL(`${url}/mcp`), { requestInit: { headers: AS_ALICE } }) as any);
  try {
    for (let step = 1; step <= 4; step++) {
      const answer = await client.callTool({ name: "scenario_next", arguments: await inputOf(url, world, step) });
      const { outcome } = answer.structuredContent as { outcome: { outcome: string } };
      assert.deepEqual([questions, outcome.outcome], [step, "accepted"]);
    }
  } finally {
    await client.close();
  }
}

/** Without affinity the calls go around: the response reaches the other server first. */
async function missesWithoutAffinity(url: string, world: WaitingWorld): Promise<void> {
  const input = await inputOf(url, world, 9);
  const hello = { protocolVersion: "2025-11-25", capabilities: PAGES, clientInfo: { name: "wire", version: "1" } };
  const { headers } = await send(url, message(1, "initialize", hello), { headers: AS_ALICE });
  const session = { ...AS_ALICE, "mcp-session-id": String(headers["mcp-session-id"]) };
  const asking = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { ...session, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: callText(2, "scenario_next", input),
  });
  assert.ok(asking.body !== null);
  const reader = asking.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (wanted: RegExp): Promise<string> => {
    for (;;) {
      const found = wanted.exec(text)?.[1];
      if (found !== undefined) return found;
      const { value, done } = await reader.read();
      assert.ok(!done, text);
      text += value;
    }
  };
  const { id } = JSON.parse(await until(/^data: (\{.*"elicitation\/create".*\})$/m)) as { id: string };
  const response = JSON.stringify({ jsonrpc: "2.0", id, result: { action: "accept" } });
  const statuses: number[] = [];
  for (let tries = 0; tries < 2; tries++) statuses.push((await send(url, response, { headers: session })).status);
  assert.deepEqual(statuses, [400, 202]);
  assert.equal(await until(/"outcome":\{"outcome":"(\w+)"/), "accepted");
  await reader.cancel();
}

const ROWS = [
  ["ip_hash", acceptsByClient],
  ["no affinity", missesWithoutAffinity],
] as const;

Deno.test("behind nginx a question to a client of 2025 is answered with ip_hash; without it another server answers 400", () =>
  withWaitingRun(async (world) => {
    await Deno.writeFile(join(world.folder, "state.key"), crypto.getRandomValues(new Uint8Array(32)), { mode: 0o600 });
    const [first, second] = [await startOne(world), await startOne(world)];
    await using _first = first.process;
    await using _second = second.process;
    for (const [affinity, check] of ROWS) {
      const folder = await Deno.makeTempDir({ prefix: "nginx-" });
      await using proxy = await startFleetNginx(folder, [first.url, second.url], affinity === "ip_hash");
      await check(proxy.url, world);
    }
  }));
