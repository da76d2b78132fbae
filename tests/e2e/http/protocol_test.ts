/**
 * Streamable HTTP: statuses, header fields, cancellation and the orderly end, over a real port.
 */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { envelope, initializeParams, type Wire } from "../client.ts";
import { callText, exchange, message, modernHeaders, send, type Sending, startHttpFixture } from "../http_fixture.ts";

const MODERN_CALL = callText(1, "echo", { a: 1 }, envelope());
const P = "io.modelcontextprotocol/";

/** What is sent, then the status and the code of the error (0 for none), or "empty" for no body. */
const ROWS: readonly (readonly [
  what: string,
  body: string | null,
  sending: Sending,
  status: number,
  code: number | "empty",
])[] = [
  ["initialize", message(1, "initialize", initializeParams()), {}, 200, 0],
  [
    "initialize, Accept is JSON alone",
    message(1, "initialize", initializeParams()),
    {
      headers: { accept: "application/json" },
    },
    200,
    0,
  ],
  ["a legacy call", callText(1, "echo"), {}, 200, 0],
  ["a legacy call by the alias", callText(1, "echo"), { path: "/rpc" }, 200, 0],
  [
    "a legacy call with its version",
    callText(1, "echo"),
    { headers: { "mcp-protocol-version": "2025-11-25" } },
    200,
    0,
  ],
  [
    "a legacy call with an unknown version",
    callText(1, "echo"),
    { headers: { "mcp-protocol-version": "1999-01-01" } },
    400,
    -32022,
  ],
  ["a legacy notification", JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }), {}, 202, "empty"],
  [
    "a notification of an older version in an envelope, whatever its method field",
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/a", params: { _meta: envelope("1999-01-01") } }),
    { headers: { "mcp-method": "other" } },
    400,
    -32022,
  ],
  ["a response", JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }), {}, 202, "empty"],
  [
    "a response on the modern era",
    JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }),
    { headers: { "mcp-protocol-version": "2026-07-28" } },
    400,
    -32600,
  ],
  ["an unknown legacy method", message(1, "no/such"), {}, 200, -32601],
  ["a modern call", MODERN_CALL, { headers: modernHeaders("tools/call", "echo") }, 200, 0],
  [
    "a modern call, name in Base64",
    MODERN_CALL,
    { headers: modernHeaders("tools/call", "=?base64?ZWNobw==?=") },
    200,
    0,
  ],
  [
    "a modern call without version field",
    MODERN_CALL,
    { headers: { "mcp-method": "tools/call", "mcp-name": "echo" } },
    400,
    -32020,
  ],
  [
    "a modern call without method field",
    MODERN_CALL,
    { headers: { "mcp-protocol-version": "2026-07-28", "mcp-name": "echo" } },
    400,
    -32020,
  ],
  ["a modern call without name field", MODERN_CALL, { headers: modernHeaders("tools/call") }, 400, -32020],
  ["a modern call of another name", MODERN_CALL, { headers: modernHeaders("tools/call", "refuse") }, 400, -32020],
  ["a modern call of another method", MODERN_CALL, { headers: modernHeaders("tools/list", "echo") }, 400, -32020],
  [
    "a modern call of another version",
    MODERN_CALL,
    { headers: { ...modernHeaders("tools/call", "echo"), "mcp-protocol-version": "2025-11-25" } },
    400,
    -32020,
  ],
  [
    "a modern version without envelope",
    callText(1, "echo"),
    { headers: modernHeaders("tools/call", "echo") },
    400,
    -32602,
  ],
  [
    "an envelope of a later version",
    callText(1, "echo", {}, envelope("2099-01-01")),
    {
      headers: { ...modernHeaders("tools/call", "echo"), "mcp-protocol-version": "2099-01-01" },
    },
    400,
    -32022,
  ],
  [
    "an envelope without capabilities",
    callText(1, "echo", {}, { [`${P}protocolVersion`]: "2026-07-28" }),
    {
      headers: modernHeaders("tools/call", "echo"),
    },
    400,
    -32602,
  ],
  [
    "an unknown modern method",
    message(1, "no/such", { _meta: envelope() }),
    { headers: modernHeaders("no/such") },
    404,
    -32601,
  ],
  [
    "a modern ping, which is gone",
    message(1, "ping", { _meta: envelope() }),
    { headers: modernHeaders("ping") },
    404,
    -32601,
  ],
  [
    "discover",
    message(1, "server/discover", { _meta: envelope() }),
    { headers: modernHeaders("server/discover") },
    200,
    0,
  ],
  ["an unknown tool", callText(1, "nothing"), {}, 200, -32602],
  [
    "an unknown tool, modern",
    callText(1, "nothing", {}, envelope()),
    { headers: modernHeaders("tools/call", "nothing") },
    200,
    -32602,
  ],
  ["a tool that fails as it may", callText(1, "refuse"), {}, 200, 0],
  ["a tool that throws", callText(1, "throws"), {}, 200, -32603],
  ["a batch", `[${callText(1, "echo")}]`, {}, 400, -32600],
  ["what is no JSON", "{", {}, 400, -32700],
  ["nothing", "", {}, 400, -32700],
  ["a member twice", '{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}', {}, 400, -32600],
  ["GET", null, {}, 405, -32600],
  ["DELETE", null, { method: "DELETE" }, 405, -32600],
  ["PUT", "{}", { method: "PUT" }, 405, -32600],
  ["another path", callText(1, "echo"), { path: "/mcp/" }, 404, -32600],
  ["a query is passed over", callText(1, "echo"), { path: "/mcp?a=1" }, 200, 0],
  ["text", callText(1, "echo"), { headers: { "content-type": "text/plain" } }, 415, -32600],
  ["an answer that cannot be given", callText(1, "echo"), { headers: { accept: "text/html" } }, 406, -32600],
  ["a correlation id", callText(1, "echo"), { headers: { "x-correlation-id": "abc" } }, 200, 0],
  ["a bad correlation id", callText(1, "echo"), { headers: { "x-correlation-id": "a b" } }, 400, -32073],
];

Deno.test("Streamable HTTP answers with the status and code of each case", async (t) => {
  await using server = await startHttpFixture();
  for (const [what, body, sending, status, code] of ROWS) {
    await t.step(`${what}: ${status} ${code}`, async () => {
      const answer = await send(server.url, body, sending);
      const answered = answer.text === ""
        ? "empty"
        : (JSON.parse(answer.text) as { error?: Wire }).error?.["code"] ?? 0;
      assert.deepEqual([answer.status, answered], [status, code], answer.text);
      assert.match(String(answer.headers["x-server-correlation-id"]), /^gate-[0-9a-f]{16}-[0-9a-f]{16}$/);
    });
  }
});

Deno.test("every error has its kind, whether to retry, and the id if known", async () => {
  await using server = await startHttpFixture();
  const late = JSON.parse((await send(server.url, message("x", "no/such"))).text) as Wire;
  assert.deepEqual(late, {
    jsonrpc: "2.0",
    id: "x",
    error: {
      code: -32601,
      message: "Method not found",
      data: { kind: "method_not_found", retryable: false, request_id: "x" },
    },
  });
  const faulty = JSON.parse(
    (await send(server.url, '{"jsonrpc":"2.0","id":7,"method":"a","params":{"b":1,"b":2}}')).text,
  ) as Wire;
  assert.equal(faulty["id"], 7);
});

Deno.test("an answer has the bytes and the length of its text, whichever its characters and its size", async () => {
  await using gate = await startHttpFixture();
  for (const character of ["a", "\u007f", "\u0080", "\u00e9", "\u20ac", "\u{1f600}"]) {
    // The runtime gets answers of up to 64 KiB in another way than longer ones.
    for (const size of [1, 65_000, 66_000]) {
      const id = character.repeat(Math.ceil(size / new TextEncoder().encode(character).length));
      const { text, headers } = await send(gate.url, message(id, "ping", {}));
      assert.deepEqual(JSON.parse(text), { result: {}, jsonrpc: "2.0", id });
      assert.equal(Number(headers["content-length"]), new TextEncoder().encode(text).length);
    }
  }
});

Deno.test("correlation ids are returned unchanged, or not at all", async () => {
  await using server = await startHttpFixture();
  const good = await send(server.url, callText(1, "echo"), { headers: { "x-correlation-id": " run-7 " } });
  assert.equal(good.headers["x-correlation-id"], "run-7");
  const bad = await send(server.url, callText(1, "echo"), { headers: { "x-correlation-id": "x".repeat(129) } });
  assert.deepEqual([bad.status, bad.headers["x-correlation-id"]], [400, undefined]);
  assert.notEqual(good.headers["x-server-correlation-id"], bad.headers["x-server-correlation-id"]);
});

Deno.test("pages of listed origins may call and read; pages of others may not", async () => {
  await using server = await startHttpFixture({ http: { allowedOrigins: ["https://app.example.com"] } });
  const preflight = await send(server.url, null, {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [
    204,
    "https://app.example.com",
  ]);
  const listed = await send(server.url, callText(1, "echo"), { headers: { origin: "https://app.example.com" } });
  assert.deepEqual([listed.status, listed.headers["access-control-allow-origin"]], [200, "https://app.example.com"]);
  const local = await send(server.url, callText(1, "echo"), { headers: { origin: "http://localhost:3000" } });
  assert.deepEqual([local.status, local.headers["access-control-allow-origin"]], [200, undefined]);
  const other = await send(server.url, callText(1, "echo"), { headers: { origin: "https://evil.example.com" } });
  assert.deepEqual([other.status, other.headers["access-control-allow-origin"]], [403, undefined]);
});

Deno.test("a call is cancelled when its client disconnects, and is no longer counted", async () => {
  await using server = await startHttpFixture({ server: { limits: { max_inflight: 1, rate_limit: null } } });
  const body = callText(1, "wait", { milliseconds: 60_000 });
  const head =
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  await exchange(server.port, [head + body], 300);
  await server.process.logged("wait aborted");
  assert.equal((await send(server.url, callText(2, "echo"))).status, 200);
});

Deno.test("a stopping server finishes requests in work and accepts no more", async () => {
  await using server = await startHttpFixture();
  const slow = send(server.url, callText(1, "wait", { milliseconds: 2_000 }));
  await server.process.logged("wait 2000 begun");
  server.process.signal("SIGTERM");
  await until("it accepts no more", () => send(server.url, callText(2, "echo")).then(() => false, () => true));
  const answer = await slow;
  assert.deepEqual([answer.status, answer.headers["connection"]], [200, "close"]);
  assert.equal(await server.process.ended(), 0);
  assert.ok(server.process.errors().includes("stores closed"));
});

Deno.test("a target may have the whole address, where its host is that of the request", async () => {
  await using server = await startHttpFixture();
  const rows: readonly (readonly [target: string, status: number])[] = [
    ["http://localhost/healthz", 200],
    ["HTTP://LOCALHOST/healthz?a=1", 200],
    ["https://localhost/healthz", 200],
    ["http://localhost", 404],
    ["http://localhost@evil.example/healthz", 404],
    ["http://evil.example/healthz", 404],
    ["ftp://localhost/healthz", 404],
  ];
  for (const [target, status] of rows) {
    const request = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const { text } = await exchange(server.port, [request]);
    assert.equal(text.slice(0, 12), `HTTP/1.1 ${status}`, target);
  }
});

Deno.test("a stopping server still answers requests that arrive at that moment over open connections", async () => {
  await using server = await startHttpFixture();
  const { hostname, port } = new URL(server.url);
  const body = callText(1, "echo");
  const head =
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const [request, decoder] = [new TextEncoder().encode(head + body), new TextDecoder()];
  const connections = await Promise.all(
    Array.from({ length: 5 }, () => Deno.connect({ hostname, port: Number(port) })),
  );
  const answerOver = async (connection: Deno.Conn): Promise<string> => {
    const buffer = new Uint8Array(1 << 14);
    await connection.write(request);
    return decoder.decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
  };
  await Promise.all(connections.map(answerOver));
  // Once only: a second signal ends the process at once.
  server.process.signal("SIGTERM");
  const statuses = await Promise.all(connections.map(async (connection) => {
    for (;;) {
      const text = await answerOver(connection);
      if (/connection: close/i.test(text) || text === "") return text.slice(0, 12);
    }
  }));
  assert.deepEqual(statuses, Array.from(connections, () => "HTTP/1.1 200"));
  for (const connection of connections) connection.close();
  assert.equal(await server.process.ended(), 0);
});

Deno.test("health needs no authentication or Host; readiness names the failing parts", async () => {
  await using well = await startHttpFixture();
  const host = { headers: { host: "10.0.0.9:8080" } };
  const live = await send(well.url, null, { ...host, path: "/healthz" });
  assert.deepEqual([live.status, live.text], [200, '{"status":"ok"}']);
  const ready = await send(well.url, null, { ...host, path: "/readyz" });
  assert.deepEqual([ready.status, ready.text], [200, '{"status":"ready"}']);
  await using ill = await startHttpFixture({ http: { unready: ["run_state_store"] } });
  const not = await send(ill.url, null, { path: "/readyz" });
  assert.deepEqual([not.status, not.text], [503, '{"status":"not_ready","reasons":["run_state_store"]}']);
  assert.equal((await send(ill.url, null, { path: "/healthz" })).status, 200);
  const posted = await send(ill.url, "{}", { ...host, path: "/readyz" });
  assert.deepEqual([posted.status, posted.headers["allow"]], [405, "GET, HEAD"]);
  assert.equal(JSON.parse(posted.text).error.code, -32600);
  const metrics = (await send(ill.url, null, { path: "/metrics" })).text;
  assert.match(metrics, /^gate_refusals_total\{reason="method_not_allowed"\} 1$/m);
});

/** Fields of a request of HTTP/1.0, and those that its answer then has beside its length. */
const OLD: readonly (readonly [fields: string, answer: readonly RegExp[]])[] = [
  ["", [/^connection: close\r$/im]],
  ["Connection: keep-alive\r\n", [/^connection: keep-alive\r$/im, /^keep-alive: timeout=\d+\r$/im]],
];

for (const [fields, expected] of OLD) {
  Deno.test(`a request of HTTP/1.0 with ${JSON.stringify(fields)} is answered with the length`, async () => {
    await using server = await startHttpFixture();
    const { text } = await exchange(server.port, [`GET /healthz HTTP/1.0\r\nHost: localhost\r\n${fields}\r\n`], 500);
    assert.equal(text.slice(0, 12), "HTTP/1.1 200");
    for (const field of [/^content-length: 15\r$/im, ...expected]) assert.match(text, field);
    assert.ok(text.endsWith('\r\n\r\n{"status":"ok"}'), text);
  });
}

Deno.test("metrics count calls by tool and outcome, and requests by route and status", async () => {
  await using server = await startHttpFixture();
  await send(server.url, callText(1, "echo"));
  await send(server.url, callText(1, "refuse"));
  await send(server.url, callText(1, "x".repeat(100)));
  await send(server.url, callText(1, "echo"), { path: "/secret/path" });
  const { text, headers } = await send(server.url, null, { path: "/metrics" });
  assert.equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  for (
    const line of [
      'gate_tool_calls_total{tool="echo",outcome="ok"} 1',
      'gate_tool_calls_total{tool="refuse",outcome="not_found"} 1',
      'gate_tool_calls_total{tool="unknown",outcome="invalid_params"} 1',
      'gate_http_requests_total{route="/mcp",status="200"} 3',
      'gate_http_requests_total{route="other",status="404"} 1',
      "gate_inflight 0",
    ]
  ) assert.ok(text.includes(`${line}\n`), `${line} in ${text}`);
});

Deno.test("subscriptions/listen is acknowledged with no changes and ends, as events", async () => {
  await using server = await startHttpFixture();
  const body = message("a", "subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: envelope() });
  const answer = await send(server.url, body, { headers: modernHeaders("subscriptions/listen") });
  assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "text/event-stream"]);
  const [acknowledged, ended, ...others] = [...answer.text.matchAll(/^event: message\ndata: (.*)\n\n/gm)].map((event) =>
    JSON.parse(event[1] ?? "")
  );
  assert.deepEqual(acknowledged.params, { notifications: {}, _meta: { [`${P}subscriptionId`]: "a" } });
  assert.deepEqual([ended.id, ended.result.resultType, ended.result._meta[`${P}subscriptionId`]], [
    "a",
    "complete",
    "a",
  ]);
  assert.deepEqual(others, []);
});
