/**
 * The fast lane and the SDK answer alike: each conversation is held with a server that has the fast lane and with one
 * that leaves every message to the SDK, and the answers are the same.
 */

import assert from "node:assert/strict";
import { envelope, initializeParams, startFixture, type Wire } from "./client.ts";

/** A message of a conversation; one with an id is answered before the next is sent. */
type Line = Wire | string;

const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
const request = (id: unknown, method: string, params?: unknown): Wire => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const call = (id: unknown, name: string, input?: unknown, meta?: Wire): Wire =>
  request(id, "tools/call", {
    name,
    ...(input === undefined ? {} : { arguments: input }),
    ...(meta === undefined ? {} : { _meta: meta }),
  });
const modern = (id: unknown, method: string, params: Wire = {}): Wire =>
  request(id, method, { ...params, _meta: envelope() });
const claim = (id: unknown, method: string, members: Wire): Wire =>
  request(id, method, { _meta: { ...envelope(), ...members } });

const P = "io.modelcontextprotocol/";
const PROTO_CALL =
  '{"jsonrpc":"2.0","id":31,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"a":1},"constructor":2}}}';
const PROTO_CALL_MODERN = PROTO_CALL.replace('"params":{', `"params":{"_meta":${JSON.stringify(envelope())},`);

/** The calls of every tool and every way to get one wrong; `meta` is the envelope, where the era has one. */
function calls(meta?: Wire): Line[] {
  return [
    call(10, "echo", { a: [1, 0.1, 1e21, 'é\u2028"\\', null, true, { b: {} }] }, meta),
    call("a string id", "echo_text", { z: 1, a: 2 }, meta),
    call(11, "echo", undefined, meta),
    call(12, "refuse", {}, meta),
    call(13, "throws", {}, meta),
    call(14, "nothing", {}, meta),
    call(15, "__proto__", {}, meta),
    call(16, "scenario_hidden", {}, meta),
    call(17, "large", { characters: 100_000 }, meta),
    call(-1, "names", { a: { b: 1 } }, meta),
    call(0, "prints", {}, meta),
    call(9007199254740991, "echo", {}, { ...meta, progressToken: "t", "com.example/other": 1 }),
    request(20, "tools/call", { name: "echo", arguments: [], ...(meta === undefined ? {} : { _meta: meta }) }),
    request(21, "tools/call", { name: 1, arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) }),
    request(22, "tools/call", { arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) }),
    request(23, "tools/call", { name: "echo", arguments: null, ...(meta === undefined ? {} : { _meta: meta }) }),
    request(24, "tools/call", { name: "echo", task: { ttl: 1 }, ...(meta === undefined ? {} : { _meta: meta }) }),
    request(25, "tools/call", { name: "echo", requestState: 1, ...(meta === undefined ? {} : { _meta: meta }) }),
    request(26, "tools/list", { ...(meta === undefined ? {} : { _meta: meta }) }),
    request(27, "tools/list", { cursor: "a", ...(meta === undefined ? {} : { _meta: meta }) }),
    request(28, "resources/list", { ...(meta === undefined ? {} : { _meta: meta }) }),
    request(29, "no/such/method", { ...(meta === undefined ? {} : { _meta: meta }) }),
    request(30, "ping", { ...(meta === undefined ? {} : { _meta: meta }) }),
  ];
}

const CONVERSATIONS: readonly (readonly [what: string, lines: readonly Line[]])[] = [
  ...["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07", "2099-01-01", ""].map((version) =>
    [`initialize with "${version}"`, [
      request(1, "initialize", initializeParams(version)),
      initialized,
      request(2, "ping"),
    ]] as const
  ),
  ["the legacy era", [request(1, "initialize", initializeParams()), initialized, ...calls(), PROTO_CALL]],
  ["the modern era", [modern(1, "server/discover"), ...calls(envelope()), PROTO_CALL_MODERN]],
  ["the modern era without discover", [...calls(envelope())]],
  ["calls without initialize", [call(1, "echo", { a: 1 }), request(2, "ping"), request(3, "tools/list")]],
  ["a list without initialize", [request(3, "tools/list"), request(4, "resources/list"), request(5, "ping")]],
  ["initialize with rich capabilities", [
    request(1, "initialize", {
      ...initializeParams(),
      capabilities: {
        roots: { listChanged: true },
        sampling: {},
        elicitation: { form: {}, url: {} },
        tasks: { list: {}, requests: { elicitation: { create: {} } } },
        experimental: { a: {} },
        other: 1,
      },
    }),
    request(2, "tools/list"),
  ]],
  ["initialize with icons, which the SDK judges", [
    request(1, "initialize", { ...initializeParams(), clientInfo: { name: "a", version: "1", icons: [{ src: "x" }] } }),
    request(2, "ping"),
  ]],
  ["a malformed initialize, then a good one", [
    request(1, "initialize", { protocolVersion: 1 }),
    request(2, "initialize"),
    request(3, "initialize", initializeParams()),
    call(4, "echo", {}),
  ]],
  ["initialize twice, the SDK in between", [
    request(1, "initialize", initializeParams("2025-06-18")),
    request(2, "resources/list"),
    request(3, "initialize", initializeParams("2024-11-05")),
    call(4, "echo", {}),
    request(5, "prompts/list"),
  ]],
  ["the SDK late in the legacy era", [
    request(1, "initialize", initializeParams()),
    call(2, "echo", {}),
    request(3, "resources/list"),
  ]],
  ["discover, then back to initialize", [
    modern(1, "server/discover"),
    request(2, "initialize", initializeParams()),
    initialized,
    call(3, "echo", {}),
    request(4, "resources/list"),
  ]],
  ["discover, then back, the SDK in between", [
    modern(1, "server/discover"),
    claim(2, "server/discover", { [`${P}logLevel`]: "debug" }),
    request(3, "initialize", initializeParams()),
    request(4, "ping"),
  ]],
  ["discover, a notification, then the SDK", [
    modern(1, "server/discover"),
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1, _meta: envelope() } },
    modern(2, "resources/list"),
    modern(3, "tools/call", { name: "echo", arguments: {} }),
  ]],
  ["a newer version first", [
    claim(1, "server/discover", { [`${P}protocolVersion`]: "2099-01-01" }),
    modern(2, "server/discover"),
    modern(3, "tools/list"),
  ]],
  ["a malformed envelope first", [
    claim(1, "tools/list", { [`${P}clientCapabilities`]: 1 }),
    request(2, "tools/list", { _meta: { [`${P}protocolVersion`]: "2026-07-28" } }),
    modern(3, "tools/list"),
    request(4, "tools/list"),
  ]],
  ["a legacy message on a modern connection", [
    modern(1, "tools/list"),
    request(2, "tools/list"),
    request(3, "initialize", initializeParams()),
    modern(4, "tools/call", { name: "echo", arguments: {} }),
    modern(5, "server/discover"),
    claim(6, "tools/list", { [`${P}protocolVersion`]: "2099-01-01" }),
  ]],
  ["a modern message on a legacy connection", [
    request(1, "initialize", initializeParams()),
    modern(2, "tools/list"),
    modern(3, "tools/call", { name: "echo", arguments: { a: 1 } }),
    modern(4, "server/discover"),
    call(5, "echo", {}),
  ]],
  ["initialize inside an envelope", [
    request(1, "initialize", { ...initializeParams(), _meta: envelope() }),
    modern(2, "tools/list"),
  ]],
];

async function converse(lines: readonly Line[], fastLane: boolean): Promise<Wire[]> {
  await using server = startFixture({
    fastLane,
    server: { tools: { mode: "filter", allowlist: [], denylist: ["scenario_hidden"] } },
  });
  const answers: Wire[] = [];
  for (const line of lines) {
    const message = typeof line === "string" ? JSON.parse(line) as Wire : line;
    await server.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    if ("id" in message) answers.push(await server.answer(message["id"] as string | number));
  }
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  assert.equal(server.lines().length, answers.length, "nothing but the answers is on standard output");
  return answers;
}

/** What differs from one process to another is replaced. */
function settled(answers: readonly Wire[]): unknown {
  return JSON.parse(JSON.stringify(answers).replaceAll(/gate-[0-9a-f]{8}-[0-9a-f]{4}-\d+/g, "gate-correlation"));
}

for (const [what, lines] of CONVERSATIONS) {
  Deno.test(`both lanes answer alike: ${what}`, async () => {
    const [fast, sdk] = await Promise.all([converse(lines, true), converse(lines, false)]);
    assert.deepEqual(settled(fast), settled(sdk));
  });
}
