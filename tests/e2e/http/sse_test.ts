/** The HTTP+SSE transport of older clients: its sessions, whose they are, and how they end. */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { ClientOne as Client, SseOne as SSEClientTransport } from "../protocol/first_sdk.ts";
import { callText, type HttpServer, send, type Sending, startHttpFixture } from "../http_fixture.ts";

const AUTH = {
  mode: "bearer_token",
  bearer_tokens: ["alice-token", "bob-token"],
  mtls_subjects: [],
  allowed_tools: [],
  principals: [],
};

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Opens a stream and reads until the path for messages is known. */
async function openStream(
  server: HttpServer,
  headers: Record<string, string> = {},
): Promise<{ readonly path: string; readonly next: () => Promise<string | null>; readonly close: () => void }> {
  const stop = new AbortController();
  const response = await fetch(`${server.url}/sse`, {
    headers: { accept: "text/event-stream", ...headers },
    signal: stop.signal,
  });
  assert.equal(response.status, 200, await (response.ok ? "" : response.text()));
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string | null> => {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    return done ? null : value ?? null;
  };
  const first = await next() ?? "";
  const path = /^event: endpoint\ndata: (\S+)\n\n/.exec(first)?.[1] ?? "";
  assert.match(path, /^\/messages\?session_id=[0-9a-f]{64}$/);
  const close = (): void => {
    stop.abort();
    // The runtime may no longer know the request of a response that was collected: the body ends it as well.
    reader.cancel().catch(() => {});
  };
  return { path, next, close };
}

Deno.test("the official client of that time is served", async () => {
  await using server = await startHttpFixture({ server: { transport: "sse" } });
  const client = new Client({ name: "suite", version: "1" });
  // deno-lint-ignore no-explicit-any
  await client.connect(new SSEClientTransport(new URL(`${server.url}/sse`)) as any);
  const { structuredContent } = await client.callTool({ name: "echo", arguments: { a: 1 } });
  assert.deepEqual(structuredContent, { input: { a: 1 } });
  await client.close();
});

Deno.test("a session belongs to the caller that opened it, and ends with its stream", async (t) => {
  await using server = await startHttpFixture({ server: { transport: "sse", auth: AUTH } });
  const stream = await openStream(server, bearer("alice-token"));
  const post = (path: string, sending: Sending): Promise<number> =>
    send(server.url, callText(1, "echo"), { path, ...sending }).then(({ status }) => status);
  const rows: readonly (readonly [what: string, path: string, headers: Record<string, string>, status: number])[] = [
    ["its owner", stream.path, bearer("alice-token"), 202],
    ["another caller", stream.path, bearer("bob-token"), 404],
    ["no token", stream.path, {}, 401],
    ["an unknown session", stream.path.replace(/.$/, (last) => last === "0" ? "1" : "0"), bearer("alice-token"), 404],
    ["no session", "/messages", bearer("alice-token"), 404],
    ["an invalid session id", "/messages?session_id=__proto__", bearer("alice-token"), 404],
    ["two session ids", `${stream.path}&session_id=0`, bearer("alice-token"), 404],
  ];
  for (const [what, path, headers, status] of rows) {
    await t.step(`${what}: ${status}`, async () => assert.equal(await post(path, { headers }), status));
  }
  assert.match(await stream.next() ?? "", /^event: message\ndata: \{.*"id":1\}\n\n$/);
  stream.close();
  await until("its session ends", async () => await post(stream.path, { headers: bearer("alice-token") }) === 404);
});

Deno.test("each stream has its own id, and one caller a bounded number", async () => {
  await using server = await startHttpFixture({ server: { transport: "sse", auth: AUTH } });
  const streams = [];
  for (let index = 0; index < 64; index++) streams.push(await openStream(server, bearer("alice-token")));
  assert.equal(new Set(streams.map(({ path }) => path)).size, 64);
  const one = await send(server.url, null, { path: "/sse", headers: bearer("alice-token") });
  assert.deepEqual([one.status, one.headers["retry-after"]], [503, "1"]);
  streams.push(await openStream(server, bearer("bob-token")));
  for (const { close } of streams) close();
  const reopen = (): Promise<void> => openStream(server, bearer("alice-token")).then(({ close }) => close());
  await until("there is room", () => reopen().then(() => true, () => false));
});

Deno.test("streams of this machine are as many as there are streams", async () => {
  await using server = await startHttpFixture({ server: { transport: "sse" } });
  const streams = [];
  for (let index = 0; index < 256; index++) streams.push(await openStream(server));
  assert.equal((await send(server.url, null, { path: "/sse" })).status, 503);
  for (const { close } of streams) close();
});

/** Texts of a POST to `/messages`; what stands in its answer, or null where the answer comes on the stream. */
const POSTED: readonly (readonly [what: string, text: string, status: number, error: object | null])[] = [
  ["no JSON", "{", 400, { code: -32700, id: null }],
  ["nothing", "", 400, { code: -32700, id: null }],
  ["a member twice", '{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}', 400, { code: -32600, id: 7 }],
  ["a batch", `[${callText(1, "echo")}]`, 400, { code: -32600, id: null }],
  ["a text", '"ping"', 400, { code: -32600, id: null }],
  ["another protocol", '{"jsonrpc":"1.0","id":7,"method":"ping"}', 400, { code: -32600, id: 7 }],
  ["_meta that is a number", '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":1}}', 400, {
    code: -32602,
    id: 7,
  }],
  ["an unknown method", '{"jsonrpc":"2.0","id":7,"method":"nothing"}', 202, null],
  ["a response", '{"jsonrpc":"2.0","id":7,"result":{}}', 202, null],
  ["a notification", '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}', 202, null],
  ["a request", callText("last", "echo"), 202, null],
];

Deno.test("a POST that is no message gets 400 and its error, and the stream gets nothing", async (t) => {
  await using server = await startHttpFixture({ server: { transport: "sse" } });
  const stream = await openStream(server);
  for (const [what, text, status, error] of POSTED) {
    await t.step(`${what}: ${status}`, async () => {
      const answer = await send(server.url, text, { path: stream.path });
      const { id, error: refused } = JSON.parse(answer.text || "{}") as { id?: unknown; error?: { code: number } };
      assert.deepEqual([answer.status, refused === undefined ? null : { code: refused.code, id }], [status, error]);
    });
  }
  let streamed = "";
  while (!streamed.includes('"id":"last"')) streamed += await stream.next() ?? "";
  assert.deepEqual([...streamed.matchAll(/"code":(-\d+)/g)].map((match) => match[1]), ["-32601"]);
  stream.close();
});

Deno.test("requests in work are cancelled when their stream ends, and answered when the server stops", async () => {
  await using server = await startHttpFixture({ server: { transport: "sse" } });
  const gone = await openStream(server);
  await send(server.url, callText(1, "wait", { milliseconds: 60_000 }), { path: gone.path });
  gone.close();
  await server.process.logged("wait aborted");
  const stays = await openStream(server);
  await send(server.url, callText(2, "wait", { milliseconds: 500 }), { path: stays.path });
  await server.process.logged("wait 500 begun");
  server.process.signal("SIGTERM");
  assert.match(await stays.next() ?? "", /"id":2\}/);
  assert.equal(await stays.next(), null);
  assert.equal(await server.process.ended(), 0);
});

Deno.test("the other transport's endpoint is not served", async () => {
  await using server = await startHttpFixture({ server: { transport: "sse" } });
  assert.equal((await send(server.url, callText(1, "echo"), { path: "/mcp" })).status, 404);
  assert.equal((await send(server.url, null, { path: "/healthz" })).status, 200);
  await using other = await startHttpFixture();
  assert.equal((await send(other.url, null, { path: "/sse" })).status, 404);
});
