/** Tasks of slow providers, tasks that other callers ask for, and the official client of tasks. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "../protocol/first_sdk.ts";
import { gate, gateArgs, inFolder, processOf, STORES } from "../gate_command.ts";
import { callText, type HttpServer, listening, message, modernHeaders, send } from "../http_fixture.ts";
import { askingServer, declaring, headOf, idOf, type WaitingWorld, withWaitingRun } from "./waiting_world.ts";

const POLLING = { extensions: { "io.modelcontextprotocol/tasks": {} } };

const SLOW = `
law: release
evidence:
  up:
    type: integer
    from: { http.status: { url: "URL" } }
stages:
  release: up == 200
`;

const HTTP_PROVIDER = `
[server]
state_keys = ["state.key"]

[[providers]]
name = "http"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"], timeout_ms = 60000 }
`;

/** A service that answers when the test says so. */
function slowService():
  & { readonly url: string; readonly asked: () => number; readonly answer: () => void }
  & AsyncDisposable {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, async () => {
    asked++;
    await promise;
    return new Response("up");
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    asked: () => asked,
    answer: resolve,
    [Symbol.asyncDispose]: async () => {
      resolve();
      await server.shutdown();
    },
  };
}

interface Shown extends Wire {
  readonly resultType?: string;
  readonly taskId?: string;
  readonly status?: string;
  readonly result?: {
    readonly structuredContent: { readonly outcome: { readonly outcome: string; readonly result: Wire } };
  };
}

async function call(server: ServerProcess, method: string, params: Wire): Promise<Shown> {
  const { result, error } = await server.request(method, { ...params, _meta: declaring(POLLING) });
  assert.equal(error, undefined, JSON.stringify(error));
  return result as Shown;
}

/** Looks until a status is shown. */
async function lookUntil(server: ServerProcess, taskId: string, status: string): Promise<Shown> {
  for (let tries = 0; tries < 100; tries++) {
    const shown = await call(server, "tasks/get", { taskId });
    if (shown.status === status) return shown;
  }
  throw new Error(`The task is not ${status}`);
}

Deno.test("a step with a slow provider is a task, and a server that is killed in its middle loses nothing", () =>
  inFolder(async (folder) => {
    await using service = slowService();
    await Deno.writeFile(join(folder, "state.key"), new Uint8Array(32).fill(7));
    await Deno.writeTextFile(join(folder, "gate.toml"), `${STORES}${HTTP_PROVIDER}`);
    await Deno.writeTextFile(join(folder, "short.yaml"), SLOW.replace("URL", service.url));
    const built = await gate(folder, "scenario", "build", "short.yaml");
    assert.equal(built.code, 0, built.stderr);
    const args = gateArgs("serve", "--config", "gate.toml", "--log-level", "error");
    const first = startServer({ args, cwd: folder });
    const spec = JSON.parse(built.stdout) as Wire;
    const tool = async (name: string, input: Wire): Promise<Wire> => {
      const result = await call(first, "tools/call", { name, arguments: input });
      return (result as { structuredContent: Wire }).structuredContent;
    };
    const { scenario_law_identity } = await tool("scenario_define", { spec });
    const named = { namespace_id: 2, scenario_id: "release" };
    const own = { creation_request_id: idOf(1), correlation: { kind: "unset" }, genesis: { kind: "empty" } };
    const start = { ...named, scenario_law_identity, ...own };
    const { outcome } = await tool("scenario_start", start) as { outcome: { result: { run_key: Wire; head: Wire } } };
    const run = { ...named, run_id: outcome.result.run_key["run_id"] };
    const input = { ...run, request_id: idOf(2), expected_head: outcome.result.head };
    const created = await call(first, "tools/call", { name: "scenario_next", arguments: input });
    assert.deepEqual([created.resultType, created.status, service.asked()], ["task", "working", 1]);
    const taskId = created.taskId ?? "";
    assert.equal((await call(first, "tasks/get", { taskId })).status, "working");
    first.signal("SIGKILL");
    await first.ended();
    {
      await using cancelling = startServer({ args, cwd: folder });
      assert.equal((await call(cancelling, "tasks/cancel", { taskId })).resultType, "complete");
      const { result } = await lookUntil(cancelling, taskId, "completed");
      assert.equal(result?.structuredContent.outcome.outcome, "acquisition_failed", "the end of a task takes no step");
      assert.equal(service.asked(), 1, "the end of a task queries no provider");
    }
    await using second = startServer({ args, cwd: folder });
    assert.equal((await call(second, "tasks/get", { taskId })).status, "working");
    service.answer();
    const { result } = await lookUntil(second, taskId, "completed");
    const decision = { kind: "complete", stage_id: "release", unmet: [] };
    assert.deepEqual(result?.structuredContent.outcome.result["decision"], decision);
    const again = await call(second, "tools/call", { name: "scenario_next", arguments: input });
    assert.deepEqual(again["structuredContent"], result?.structuredContent, "the task is the call");
  }));

const TOKENS = ["token-of-the-first-caller", "token-of-another-caller"];

/** Sends a request of a caller over HTTP. */
async function request(server: HttpServer, token: string, method: string, taskId: string): Promise<string> {
  const body = message(1, method, { taskId, inputResponses: {}, _meta: declaring(POLLING) });
  const headers = { ...modernHeaders(method, taskId), authorization: `Bearer ${token}` };
  const { status, text } = await send(`${server.url}/mcp`, body, { headers });
  const { result, error } = JSON.parse(text) as { result?: Shown; error?: { code: number; message: string } };
  return error === undefined
    ? `${status} ${result?.status ?? result?.resultType}`
    : `${status} ${error.code} ${error.message}`;
}

Deno.test("a task of another caller, of another server and a forged one are the same error", () =>
  withWaitingRun(async (world: WaitingWorld) => {
    await Deno.writeFile(join(world.folder, "state.key"), new Uint8Array(32).fill(7));
    await Deno.writeTextFile(
      join(world.folder, "gate.toml"),
      `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\nstate_keys = ["state.key"]\n` +
        `auth = { mode = "bearer_token", bearer_tokens = ${JSON.stringify(TOKENS)} }\n${STORES}`,
      { mode: 0o600 },
    );
    const args = askingServer("--config", "gate.toml").map((word) => word === "error" ? "info" : word);
    await using server = await listening(startServer({ args, cwd: world.folder, env: { GATE_CONFIG: "" } }));
    const [own = "", other = ""] = TOKENS;
    const ask = async (name: string, input: Wire): Promise<Shown> => {
      const headers = { ...modernHeaders("tools/call", name), authorization: `Bearer ${own}` };
      const { text } = await send(`${server.url}/mcp`, callText(1, name, input, declaring(POLLING)), { headers });
      return (JSON.parse(text) as { result: Shown }).result;
    };
    const status = await ask("scenario_status", world.run) as Shown & { structuredContent: { accepted_head: Wire } };
    const { accepted_head: expected_head } = status.structuredContent;
    const { taskId = "" } = await ask("scenario_next", {
      ...world.run,
      request_id: idOf(1),
      expected_head,
      stage_id: "release",
    });
    const unknown = "200 -32602 Cannot find the task: params.taskId is not a task of this caller, or has expired";
    const changed = `${taskId.slice(0, 20)}${taskId[20] === "A" ? "B" : "A"}${taskId.slice(21)}`;
    const rows: readonly (readonly [token: string, method: string, taskId: string, shown: string])[] = [
      [own, "tasks/get", taskId, "200 working"],
      [other, "tasks/get", taskId, unknown],
      [other, "tasks/update", taskId, unknown],
      [other, "tasks/cancel", taskId, unknown],
      [own, "tasks/get", changed, unknown],
      [other, "tasks/get", changed, unknown],
      [own, "tasks/get", "1", unknown],
      [own, "tasks/get", taskId, "200 working"],
    ];
    for (const [token, method, id, shown] of rows) {
      assert.equal(await request(server, token, method, id), shown, `${method} by ${token}`);
    }
    const headers = { ...modernHeaders("tasks/get", changed), authorization: `Bearer ${own}` };
    const body = message(1, "tasks/get", { taskId, _meta: declaring(POLLING) });
    const { status: code, text } = await send(`${server.url}/mcp`, body, { headers });
    assert.deepEqual([code, /-32020/.test(text)], [400, true], "the header field names another task");
  }));

Deno.test("the official client of tasks waits until the person signs", () =>
  withWaitingRun(async (world) => {
    await Deno.writeFile(join(world.folder, "state.key"), new Uint8Array(32).fill(7));
    await Deno.writeTextFile(join(world.folder, "gate.toml"), `${STORES}\n[server]\nstate_keys = ["state.key"]\n`);
    const { command, args } = processOf(askingServer());
    const info = { name: "suite", version: "1" };
    const client = new Client(info, { versionNegotiation: { mode: "auto" }, capabilities: POLLING as never });
    await client.connect(new StdioClientTransport({ command, args: [...args], cwd: world.folder, stderr: "ignore" }));
    // The client has no path for results of tasks, so its session gets one to a server on the same stores.
    await using server = startServer({ args: askingServer(), cwd: world.folder });
    const methods: string[] = [];
    const session = createTaskSessionFromClient(client, {
      endpointId: "gate",
      rawDispatch: async (sent) => {
        const { method, params } = sent as unknown as { method: string; params: Wire };
        methods.push(method);
        const { result, error } = await server.request(method, params);
        return (error === undefined ? { kind: "result", result } : { kind: "error", error }) as never;
      },
      v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo: info, clientCapabilities: POLLING },
    });
    try {
      const expected_head = await headOf(server, world);
      const input = { ...world.run, request_id: idOf(1), expected_head, stage_id: "release" };
      const execution = await session.callTool("scenario_next", input as never);
      const settled = execution.settle();
      assert.equal((await world.approve("alice")).code, 0);
      const { outcome } = await settled;
      const result = resultFromTaskOutcome(outcome) as unknown as Required<Shown>["result"];
      const decision = { kind: "complete", stage_id: "release", unmet: [] };
      assert.deepEqual(result.structuredContent.outcome.result["decision"], decision);
      assert.deepEqual([methods[0], methods.at(-1)], ["tools/call", "tasks/get"]);
    } finally {
      await session.close();
      await client.close();
    }
  }));

/** Modules that only callers of questions, tasks and views need. */
const OWN = [
  "rounds.ts",
  "tasks.ts",
  "questions.ts",
  "request_state.ts",
  "ask_person.ts",
  "next_task.ts",
  "run_app.ts",
  "state_keys.ts",
];

Deno.test("a server whose clients use none of it loads none of its modules before a step is asked for", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    const [run = "run", ...rest] = gateArgs("serve");
    const args = [run, "--log-level=debug", ...rest.filter((word) => word !== "--quiet")];
    await using server = startServer({ program: Deno.execPath(), args, cwd: folder });
    for (
      const [method, params] of [["tools/list", {}], ["tools/call", { name: "providers_list", arguments: {} }]] as const
    ) {
      await server.request(method, { ...params, _meta: declaring({}) });
    }
    const loaded = [...server.errors().matchAll(/fetch_no_follow - specifier: (\S+)/g)].map(([, name = ""]) => name);
    assert.ok(loaded.some((name) => name.endsWith("/src/server/protocol/answer.ts")), `${loaded.length} modules`);
    assert.deepEqual(loaded.filter((name) => OWN.some((own) => name.endsWith(`/${own}`))), []);
  }));
