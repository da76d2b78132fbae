/** `scenario_next` asks clients of the older era over Streamable HTTP: sessions, questions, and who may answer them. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { sha256 } from "@/evidence/host_primitives.ts";
import { QUESTIONS_MAXIMUM } from "@/server/protocol/questions.ts";
import { startServer, type Wire } from "../client.ts";
import { ClientOne, ElicitRequestSchema, HttpOne } from "../protocol/first_sdk.ts";
import { STORES } from "../gate_command.ts";
import {
  type Answer,
  callText,
  type HttpServer,
  listening,
  message,
  modernHeaders,
  pause,
  send,
} from "../http_fixture.ts";
import { askingServer, idOf, PUBLIC_URL, type WaitingWorld, withWaitingRun } from "./waiting_world.ts";

const PAGES = { elicitation: { url: {} } };
const VERSION = "2025-11-25";
const ALICE = "alice".padEnd(32, "0");
const BOB = "bob".padEnd(32, "0");
const BODY_BYTES = 4096;

/** No answer takes this long, in milliseconds: a question that stays open fails the test. */
const PATIENCE_MILLISECONDS = 20_000;

type Headers = Readonly<Record<string, string>>;

function of(token: string, session?: string): Headers {
  return { authorization: `Bearer ${token}`, ...session === undefined ? {} : { "mcp-session-id": session } };
}

/** A server with two callers, on the run of the world. */
async function withServer(
  world: WaitingWorld,
  body: (server: HttpServer) => Promise<void>,
  limits = "max_inflight = 32",
  stateKeys: readonly string[] = [],
): Promise<void> {
  const subjects = [ALICE, BOB].map((token) => `token:${sha256(new TextEncoder().encode(token))}`);
  const roles = 'roles = [{ name = "NamespaceWriter", namespace_id = 2 }]';
  await Deno.writeTextFile(
    join(world.folder, "http.toml"),
    `[server]
transport = "http"
bind = "127.0.0.1:0"
max_body_bytes = ${BODY_BYTES}
limits = { ${limits} }
state_keys = ${JSON.stringify(stateKeys)}
[server.auth]
mode = "bearer_token"
bearer_tokens = ["${ALICE}", "${BOB}"]
principals = [${subjects.map((subject) => `{ subject = "${subject}", ${roles} }`).join(", ")}]
${STORES}`,
    { mode: 0o600 },
  );
  const args = askingServer("--config", "http.toml", "--log-level", "info");
  await using server = await listening(startServer({ args, cwd: world.folder }));
  await body(server);
}

async function initialize({ url }: HttpServer, capabilities: Wire, token = ALICE): Promise<Answer> {
  const params = { protocolVersion: VERSION, capabilities, clientInfo: { name: "wire", version: "1" } };
  return await send(url, message(1, "initialize", params), { headers: of(token) });
}

async function sessionOf(server: HttpServer, capabilities: Wire = PAGES, token = ALICE): Promise<string> {
  const { status, headers } = await initialize(server, capabilities, token);
  assert.equal(status, 200);
  return String(headers["mcp-session-id"]);
}

async function headOf({ url }: HttpServer, { run }: WaitingWorld): Promise<Wire> {
  const { text } = await send(url, callText(1, "scenario_status", run), { headers: of(ALICE) });
  return JSON.parse(text).result.structuredContent.accepted_head;
}

let calls = 0;

async function inputOf(server: HttpServer, world: WaitingWorld): Promise<Wire> {
  return { ...world.run, request_id: idOf(++calls), expected_head: await headOf(server, world), ask: true };
}

/** A message of an answer. */
interface Event {
  readonly id?: string;
  readonly method?: string;
  readonly params?: Wire;
  readonly result?: { readonly structuredContent: { outcome?: { outcome: string }; error?: { code: string } } };
}

/** A call whose answer is read message by message. */
interface OpenCall {
  readonly id: number;
  readonly type: string | null;
  readonly next: () => Promise<Event>;
  /** The outcome or error code of the last message. */
  readonly outcome: () => Promise<string>;
  readonly leave: () => void;
}

/** Calls `scenario_next`, and returns with the head of its answer. */
async function ask({ url }: HttpServer, input: Wire, headers: Headers): Promise<OpenCall> {
  const gone = new AbortController();
  const id = ++calls;
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      ...headers,
    },
    body: callText(id, "scenario_next", input),
    signal: AbortSignal.any([gone.signal, AbortSignal.timeout(PATIENCE_MILLISECONDS)]),
  });
  const type = response.headers.get("content-type");
  assert.equal(response.status, 200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<Event> => {
    for (;;) {
      const [, event] = /^event: message\ndata: (.*)\n\n/.exec(text) ?? [];
      if (event !== undefined) {
        text = text.slice(text.indexOf("\n\n") + 2);
        return JSON.parse(event);
      }
      const { value, done } = await reader.read();
      if (done) return JSON.parse(text);
      text += value;
    }
  };
  const outcome = async (): Promise<string> => {
    let event = await next();
    while (event.result === undefined) event = await next();
    while (!(await reader.read()).done);
    const { outcome, error } = event.result.structuredContent;
    return error?.code ?? outcome?.outcome ?? "";
  };
  return { id, type, next, outcome, leave: () => gone.abort() };
}

/** Opens a question of the run; gives the call and the id of the server's request. */
async function question(server: HttpServer, world: WaitingWorld, headers: Headers): Promise<[OpenCall, string]> {
  const call = await ask(server, await inputOf(server, world), headers);
  assert.equal(call.type, "text/event-stream");
  const { id = "", method, params = {} } = await call.next();
  assert.deepEqual([method, params["mode"]], ["elicitation/create", "url"]);
  assert.equal(params["url"], `${PUBLIC_URL}/console#/run/2/release/${world.run.run_id}/release`);
  return [call, id];
}

function response(id: unknown, action: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: { action } });
}

async function respond({ url }: HttpServer, body: string, headers: Headers): Promise<number> {
  return (await send(url, body, { headers })).status;
}

/** What a client declares, and whether its answer has a session id. */
const DECLARED: readonly (readonly [capabilities: Wire, hasSession: boolean])[] = [
  [PAGES, true],
  [{ elicitation: { form: {}, url: {} }, roots: {} }, true],
  [{ elicitation: {} }, true],
  [{ elicitation: { url: { long: "x".repeat(2000) } } }, false],
  [{ sampling: {}, roots: { listChanged: true } }, false],
  [{}, false],
];

/** Header fields of a call, and whether its user is asked. */
const SESSIONS:
  readonly (readonly [what: string, headers: (own: string, other: string) => Headers, isAsked: boolean])[] = [
    ["its session id", (own) => of(ALICE, own), true],
    ["no session id", () => of(ALICE), false],
    ["an empty session id", () => of(ALICE, ""), false],
    ["a forged session id", (own) => of(ALICE, forged(own)), false],
    [
      "the capabilities of its session id with another signature",
      (own, other) => of(ALICE, swapped(own, other)),
      false,
    ],
    ["the session id of another caller", (own) => of(BOB, own), false],
    ["a session whose client shows no pages", (_, other) => of(ALICE, other), false],
    ["its session id, but without event streams", (own) => ({ ...of(ALICE, own), accept: "application/json" }), false],
  ];

function forged(session: string): string {
  return `${session.slice(0, -1)}${session.endsWith("A") ? "B" : "A"}`;
}

function swapped(own: string, other: string): string {
  return own.split(".")[0] + other.slice(other.indexOf("."));
}

async function testSessions(server: HttpServer, world: WaitingWorld): Promise<void> {
  const texts = new Set<string>();
  for (const [capabilities, hasSession] of DECLARED) {
    const { headers, text } = await initialize(server, capabilities);
    assert.equal(headers["mcp-session-id"] !== undefined, hasSession, JSON.stringify(capabilities));
    assert.equal(headers["content-type"], "application/json");
    texts.add(text);
  }
  assert.equal(texts.size, 1, "the message is the same for all");
  const own = await sessionOf(server);
  const other = await sessionOf(server, { elicitation: { form: {} } });
  for (const [what, headers, isAsked] of SESSIONS) {
    const head = await headOf(server, world);
    const call = await ask(server, await inputOf(server, world), headers(own, other));
    assert.equal(call.type, isAsked ? "text/event-stream" : "application/json", what);
    if (isAsked) {
      const { id } = await call.next();
      assert.deepEqual(await headOf(server, world), head, "nothing was recorded");
      assert.equal(await respond(server, response(id, "accept"), of(ALICE, own)), 202);
    }
    assert.equal(await call.outcome(), "accepted", what);
  }
  for (const method of ["GET", "DELETE"]) {
    const { status } = await send(server.url, null, { method, headers: of(ALICE, own) });
    assert.equal(status, 405, method);
  }
  const discovered = await send(server.url, message(1, "server/discover", { _meta: MODERN }), {
    headers: { ...of(ALICE), ...modernHeaders("server/discover") },
  });
  assert.deepEqual([discovered.status, discovered.headers["mcp-session-id"]], [200, undefined]);
}

const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": PAGES,
};

interface Attack {
  /** The id of the server's request. */
  readonly id: string;
  /** The session of the call, another one of the same caller, and one of another caller. */
  readonly own: string;
  readonly second: string;
  readonly foreign: string;
  /** A call of the session that ended. */
  readonly endedCall: number;
}

/** What is sent while a question of Alice is open, and the status. The question stays open in each row. */
const ATTACKS:
  readonly (readonly [what: string, body: (a: Attack) => string, headers: (a: Attack) => Headers, status: number])[] = [
    ["a response to a guessed id", () => response("gate-1", "accept"), ({ own }) => of(ALICE, own), 400],
    ["a response to a number", () => response(1, "accept"), ({ own }) => of(ALICE, own), 400],
    ["a response without a session", ({ id }) => response(id, "accept"), () => of(ALICE), 202],
    ["a response with a forged session", ({ id }) => response(id, "accept"), ({ own }) => of(ALICE, forged(own)), 400],
    ["a response of another session", ({ id }) => response(id, "accept"), ({ second }) => of(ALICE, second), 400],
    ["a response of another caller", ({ id }) => response(id, "accept"), ({ own }) => of(BOB, own), 400],
    [
      "a response of another caller's session",
      ({ id }) => response(id, "accept"),
      ({ foreign }) => of(BOB, foreign),
      400,
    ],
    [
      "a response without credentials",
      ({ id }) => response(id, "accept"),
      ({ own }) => ({ "mcp-session-id": own }),
      401,
    ],
    [
      "a response of the newer era",
      ({ id }) => response(id, "accept"),
      ({ own }) => ({ ...of(ALICE, own), "mcp-protocol-version": "2026-07-28" }),
      400,
    ],
    [
      "a response that is too large",
      ({ id }) => response(id, "a".repeat(BODY_BYTES)),
      ({ own }) => of(ALICE, own),
      413,
    ],
    ["a response that is no JSON", ({ id }) => response(id, "accept").slice(1), ({ own }) => of(ALICE, own), 400],
    ["a batch", ({ id }) => `[${response(id, "accept")}]`, ({ own }) => of(ALICE, own), 400],
    ["a cancellation of another call", ({ endedCall }) => cancelled(endedCall), ({ own }) => of(ALICE, own), 202],
    ["a cancellation of another caller", () => cancelled(calls), ({ own }) => of(BOB, own), 202],
  ];

function cancelled(requestId: number): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
}

async function testAttacks(server: HttpServer, world: WaitingWorld): Promise<void> {
  const [own, second, foreign] = [
    await sessionOf(server),
    await sessionOf(server),
    await sessionOf(server, PAGES, BOB),
  ];
  const head = await headOf(server, world);
  const [first, firstId] = await question(server, world, of(ALICE, own));
  assert.equal(await respond(server, response(firstId, "decline"), of(ALICE, own)), 202);
  assert.equal(await first.outcome(), "ask_declined");
  const [call, id] = await question(server, world, of(ALICE, own));
  assert.notEqual(id, firstId);
  const attack: Attack = { id, own, second, foreign, endedCall: first.id };
  for (const [what, body, headers, status] of ATTACKS) {
    assert.equal(await respond(server, body(attack), headers(attack)), status, what);
  }
  const replayed = await respond(server, response(firstId, "accept"), of(ALICE, own));
  assert.equal(replayed, 400, "a replayed response");
  assert.equal(await respond(server, response(id, "cancel"), of(ALICE, own)), 202);
  assert.equal(await call.outcome(), "ask_declined");
  assert.equal(await respond(server, response(id, "accept"), of(ALICE, own)), 400, "a second response");
  assert.deepEqual(await headOf(server, world), head, "nothing was recorded");
}

async function metric({ url }: HttpServer, name: string): Promise<number> {
  const { text } = await send(url, null, { path: "/metrics", headers: of(ALICE) });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

async function testEndings(server: HttpServer, world: WaitingWorld): Promise<void> {
  const own = await sessionOf(server);
  const head = await headOf(server, world);
  const [cancelledCall, cancelledId] = await question(server, world, of(ALICE, own));
  assert.equal(await respond(server, cancelled(cancelledCall.id), of(ALICE, own)), 202);
  const { method, params } = await cancelledCall.next();
  assert.deepEqual([method, params], ["notifications/cancelled", { requestId: cancelledId }]);
  assert.equal(await cancelledCall.outcome(), "ask_declined");

  const [left, leftId] = await question(server, world, of(ALICE, own));
  assert.equal(await metric(server, "gate_inflight"), 1);
  left.leave();
  for (let turns = 0; await metric(server, "gate_inflight") > 0; turns++) {
    assert.ok(turns < PATIENCE_MILLISECONDS / 20, "the call of a client that is gone ends");
    await pause(20);
  }
  assert.equal(await respond(server, response(leftId, "accept"), of(ALICE, own)), 400);
  assert.deepEqual(await headOf(server, world), head, "nothing was recorded");

  // A server that stops answers the question itself.
  const [last] = await question(server, world, of(ALICE, own));
  server.process.signal("SIGTERM");
  assert.equal(await last.outcome(), "ask_declined");
  assert.equal(await server.process.ended(), 0);
}

async function testFlood(server: HttpServer, world: WaitingWorld): Promise<void> {
  const own = await sessionOf(server);
  const open: [OpenCall, string][] = [];
  while (open.length < QUESTIONS_MAXIMUM) open.push(await question(server, world, of(ALICE, own)));
  const further = await ask(server, await inputOf(server, world), of(ALICE, own));
  assert.deepEqual([further.type, await further.outcome()], ["application/json", "ask_declined"]);
  const [first, id] = open.shift() as [OpenCall, string];
  assert.equal(await respond(server, response(id, "decline"), of(ALICE, own)), 202);
  assert.equal(await first.outcome(), "ask_declined");
  open.push(await question(server, world, of(ALICE, own)));
  for (const [call, id] of open) {
    assert.equal(await respond(server, response(id, "decline"), of(ALICE, own)), 202);
    assert.equal(await call.outcome(), "ask_declined");
  }
  assert.equal(await metric(server, "gate_inflight"), 0);
}

async function testFull(server: HttpServer, world: WaitingWorld): Promise<void> {
  const sessions = [of(ALICE, await sessionOf(server)), of(BOB, await sessionOf(server, PAGES, BOB))];
  const input = await inputOf(server, world);
  const open: [OpenCall, string, Headers][] = [];
  for (const headers of sessions) {
    const call = await ask(server, { ...input, request_id: idOf(++calls) }, headers);
    open.push([call, (await call.next()).id ?? "", headers]);
  }
  for (const headers of sessions) {
    assert.equal(await respond(server, callText(1, "scenario_status", world.run), headers), 503);
    assert.equal(await respond(server, callText(1, "scenario_status", world.run), of(ALICE)), 503);
  }
  for (const headers of [of(ALICE), of(BOB)]) {
    assert.equal(
      await respond(server, cancelled(open[0]?.[0].id ?? 0), headers),
      503,
      "a cancellation without a session",
    );
  }
  for (const [at, [call, id, headers]] of open.entries()) {
    const ending = at === 0 ? cancelled(call.id) : response(id, "decline");
    assert.equal(await respond(server, ending, headers), 202, ending);
    assert.equal(await call.outcome(), "ask_declined");
  }
  assert.equal(await metric(server, "gate_inflight"), 0);
}

/** The keys of two servers, and whether the second one asks a client that began at the first. */
const FLEETS: readonly (readonly [keys: readonly string[], others: readonly string[], isAsked: boolean])[] = [
  [["one.key"], ["one.key"], true],
  [["one.key"], ["two.key", "one.key"], true],
  [["one.key"], ["two.key"], false],
  [[], [], false],
];

async function testFleet(world: WaitingWorld): Promise<void> {
  for (const name of ["one.key", "two.key"]) {
    await Deno.writeFile(join(world.folder, name), crypto.getRandomValues(new Uint8Array(32)), { mode: 0o600 });
  }
  for (const [keys, others, isAsked] of FLEETS) {
    const what = `${keys} and ${others}`;
    await withServer(
      world,
      (first) =>
        withServer(
          world,
          async (second) => {
            const own = of(ALICE, await sessionOf(first));
            const call = await ask(second, await inputOf(second, world), own);
            assert.equal(call.type, isAsked ? "text/event-stream" : "application/json", what);
            if (!isAsked) return assert.equal(await call.outcome(), "accepted", what);
            const { id } = await call.next();
            assert.equal(await respond(first, response(id, "accept"), own), 400, "the first server did not ask");
            assert.equal(await respond(second, response(id, "accept"), own), 202);
            assert.equal(await call.outcome(), "accepted", what);
          },
          undefined,
          others,
        ),
      undefined,
      keys,
    );
  }
}

interface Peer {
  readonly callTool: (request: { name: string; arguments: Wire }) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

type Asked = ((params: Wire) => { action: "accept" | "decline" }) | null;
type Connect = (url: URL, asked: Asked) => Promise<Peer>;

const INFO = { name: "suite", version: "1" };
const AS_ALICE = { requestInit: { headers: { authorization: `Bearer ${ALICE}` } } };

function connectTwo(mode: "auto" | "legacy"): Connect {
  return async (url, asked) => {
    const client = new ClientTwo(INFO, { versionNegotiation: { mode }, capabilities: asked === null ? {} : PAGES });
    if (asked !== null) {
      client.setRequestHandler("elicitation/create", ({ params }) => asked(params as unknown as Wire));
    }
    await client.connect(new HttpTwo(url, AS_ALICE));
    return client;
  };
}

const connectOne: Connect = async (url, asked) => {
  const client = new ClientOne(INFO, { capabilities: asked === null ? {} : PAGES });
  if (asked !== null) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }: { params: unknown }) => asked(params as Wire));
  }
  // deno-lint-ignore no-explicit-any
  await client.connect(new HttpOne(url, AS_ALICE) as any);
  return client;
};

const PEERS: Readonly<Record<string, Connect>> = {
  "1.x": connectOne,
  "2.x, initialize": connectTwo("legacy"),
  "2.x, 2026-07-28": connectTwo("auto"),
};

/** What a user does, and the outcome; null for a client that shows no pages. */
const USERS: readonly (readonly [action: "accept" | "decline" | null, questions: number, outcome: string])[] = [
  ["accept", 1, "accepted"],
  ["decline", 1, "ask_declined"],
  [null, 0, "accepted"],
];

async function testOfficialClients(server: HttpServer, world: WaitingWorld): Promise<void> {
  for (const [name, connect] of Object.entries(PEERS)) {
    for (const [action, questions, outcome] of USERS) {
      const seen: Wire[] = [];
      const asked: Asked = action === null ? null : (params) => {
        seen.push(params);
        return { action };
      };
      const peer = await connect(new URL(`${server.url}/mcp`), asked);
      try {
        const input = await inputOf(server, world);
        const { structuredContent } = await peer.callTool({ name: "scenario_next", arguments: input }) as {
          structuredContent: { outcome?: { outcome: string }; error?: { code: string } };
        };
        const came = structuredContent.error?.code ?? structuredContent.outcome?.outcome;
        assert.deepEqual([seen.length, came], [questions, outcome], `${name}, ${action}`);
      } finally {
        await peer.close();
      }
    }
  }
}

Deno.test("clients of the older era are asked over HTTP", (t) =>
  withWaitingRun(async (world) => {
    await withServer(world, async (server) => {
      const rows = {
        "a session id is for clients that can be asked, and a call without a valid one gets a plain answer":
          testSessions,
        "only the caller and session of a call answer its question, once": testAttacks,
        [`${QUESTIONS_MAXIMUM} questions of a session are open at one time; a further one is declined`]: testFlood,
        "the official clients show the page to their users, and the step follows": testOfficialClients,
        // It stops the server.
        "a client that cancels or is gone ends its question, and nothing is recorded or kept": testEndings,
      };
      for (const [name, test] of Object.entries(rows)) await t.step(name, () => test(server, world));
    });
    await t.step(
      "questions that hold every place of a server can be answered, and nothing else enters",
      () => withServer(world, (server) => testFull(server, world), "max_inflight = 2"),
    );
    await t.step("a server asks clients that began at another one with the same keys", () => testFleet(world));
  }));
