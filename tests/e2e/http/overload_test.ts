/**
 * What one caller, or a stranger, can take of a server over HTTP: connections, bodies on their way, places in work, answers
 * that are not read, and the disk under the audit log. Other callers are served meanwhile.
 */

import assert from "node:assert/strict";
import type { ServerConfig } from "@/config/types.ts";
import { PIPELINED } from "@/server/http/connections.ts";
import { CONNECTION_BOUNDS } from "@/server/http/listener.ts";
import { type BodyBounds, bodyBounds } from "@/server/http/body_admission.ts";
import { BACKPRESSURE_BOUNDS } from "@/server/http/response_backpressure.ts";
import { until } from "../../until.ts";
import { TOKEN } from "./attack_rows.ts";
import { type Answer, callText, exchange, message, send } from "../http_fixture.ts";
import {
  assertHealthy,
  attack,
  bearerAuth,
  fieldsOf,
  halfOpen,
  headOf,
  linesAfterEnd,
  metric,
  OTHER_TOKEN,
  refusals,
  refusalsIn,
  resetBeforeTaken,
  settledMemory,
  type Target,
} from "../http_target.ts";

/** Two callers with long timeouts. */
const TWO = { auth: bearerAuth([TOKEN, OTHER_TOKEN]) };
const PATIENT = { bounds: CONNECTION_BOUNDS };
const HALF_BODY = "Content-Length: 4000\r\n\r\n{";

/** Requests on one connection, one after the other; gives how often each status came. */
async function flood(target: Target, request: string, count: number): Promise<Map<string, number>> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: target.port });
  const [bytes, buffer] = [new TextEncoder().encode(request), new Uint8Array(1 << 14)];
  const statuses = new Map<string, number>();
  try {
    for (let sent = 0; sent < count; sent++) {
      await connection.write(bytes);
      const read = await connection.read(buffer);
      const [, status = "none"] = /^HTTP\/1\.1 (\d+)/.exec(new TextDecoder().decode(buffer.subarray(0, read ?? 0))) ??
        [];
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  } finally {
    connection.close();
  }
  return statuses;
}

const bare = (line: string, ...fields: string[]): string => [line, "Host: localhost", ...fields, "", ""].join("\r\n");

/** What strangers can repeat as fast as they like: the request, its status, and the word for it. */
const REPEATED: readonly (readonly [what: string, request: string, status: string, word: string])[] = [
  ["a path that is not there", bare("GET /nowhere HTTP/1.1"), "404", "path_unknown"],
  ["another name", bare("GET /mcp HTTP/1.1").replace("localhost", "evil.example.com"), "403", "host_not_allowed"],
  ["no token", bare("GET /metrics HTTP/1.1"), "401", "token_missing"],
  ["a guess", bare("GET /metrics HTTP/1.1", "Authorization: Bearer guess"), "401", "token_unknown"],
];

const REPEATS = 500;

Deno.test("repeated requests of strangers are all counted, and logged in two lines a minute", async () => {
  await attack({}, PATIENT, async (target) => {
    for (const [what, request, status, word] of REPEATED) {
      assert.deepEqual(await flood(target, request, REPEATS), new Map([[status, REPEATS]]), what);
      assert.equal(await refusals(target, word), REPEATS, what);
    }
    await assertHealthy(target);
    const lines = await linesAfterEnd(target);
    for (const [what, , , word] of REPEATED) assert.equal(refusalsIn(lines, word), REPEATS, what);
    // The number of lines depends on minutes, not on requests.
    const rejections = lines.filter(({ outcome }) => outcome === "refused");
    assert.ok(rejections.length < REPEATED.length * REPEATS / 10, JSON.stringify(rejections));
    for (const { peer_address } of rejections) assert.equal(peer_address, "127.0.0.1");
  });
});

Deno.test("requests of a caller over its rate are all counted, and logged in two lines a minute", async () => {
  const rate_limit = { max_requests: 10, window_ms: 60_000, max_entries: 64 };
  await attack({ ...TWO, limits: { max_inflight: 256, rate_limit } }, PATIENT, async (target) => {
    const body = callText(1, "echo");
    // Not even what is refused for its form comes free.
    const request = `${
      headOf().replace("application/json", "text/plain")
    }Content-Length: ${body.length}\r\n\r\n${body}`;
    const statuses = await flood(target, request, REPEATS);
    assert.ok(
      (statuses.get("415") ?? 0) <= 10 && (statuses.get("429") ?? 0) >= REPEATS - 10,
      JSON.stringify([...statuses]),
    );
    await assertHealthy(target, OTHER_TOKEN);
    const lines = await linesAfterEnd(target);
    assert.equal(refusalsIn(lines, "rate_limited"), statuses.get("429"));
    assert.ok(lines.filter(({ reason }) => reason === "rate_limited").length < REPEATS / 10);
  });
});

/** Half-sent bodies of one caller, some below the most that it may have on their way, and so many places in work. */
const HELD = 100;

Deno.test("half-sent bodies of one caller take no place in work", async () => {
  await attack({ ...TWO, limits: { max_inflight: 4, rate_limit: null } }, PATIENT, async (target) => {
    const opened = await halfOpen(target.port, HELD, `${headOf()}${HALF_BODY}`);
    await until("all are on their way", async () => await metric(target, "gate_http_bodies") === HELD);
    assert.equal(await metric(target, "gate_inflight"), 0);
    await assertHealthy(target, OTHER_TOKEN);
    await assertHealthy(target, TOKEN);
    for (const connection of opened) connection.close();
    await until("none is left", async () => await metric(target, "gate_http_bodies") === 0);
  });
});

/** What one of two callers may have on its way. */
function boundsOf(max_inflight: number): BodyBounds {
  const auth = TWO.auth as unknown as ServerConfig["auth"];
  return bodyBounds({ transport: "http", auth, max_body_bytes: 1 << 20, limits: { max_inflight, rate_limit: null } });
}

const BODIES = boundsOf(4).bodies;

Deno.test("one caller can send a bounded number of bodies, and further ones are rejected at once", async () => {
  await attack({ ...TWO, limits: { max_inflight: 4, rate_limit: null } }, PATIENT, async (target) => {
    const opened = await halfOpen(target.port, BODIES - 1, `${headOf()}${HALF_BODY}`);
    await until("all but one are on their way", async () => await metric(target, "gate_http_bodies") === BODIES - 1);
    await assertHealthy(target, TOKEN);
    opened.push(...await halfOpen(target.port, 1, `${headOf()}${HALF_BODY}`));
    await until("all are on their way", async () => await metric(target, "gate_http_bodies") === BODIES);
    const refused = await send(target.url, callText(1, "echo"), { headers: fieldsOf(TOKEN) });
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "1"]);
    await assertHealthy(target, OTHER_TOKEN);
    for (const connection of opened) connection.close();
  });
});

Deno.test("long bodies of one caller are bounded in bytes, and others can send theirs", async () => {
  await attack({ ...TWO, max_body_bytes: 1 << 20 }, PATIENT, async (target) => {
    const { callerBytes } = boundsOf(256);
    const most = Math.ceil(callerBytes / (1 << 20)) + 1;
    const part = `${headOf()}Content-Length: ${1 << 20}\r\n\r\n${" ".repeat((1 << 20) - 1)}`;
    const opened = await halfOpen(target.port, most + 4, part);
    await until("what is too much is refused", async () => await refusals(target, "inflight_limit") > 0);
    const held = await metric(target, "gate_http_bodies") ?? 0;
    assert.ok(held <= most, `${held}`);
    const text = callText(1, "echo", { text: "a".repeat(500_000) });
    assert.equal((await send(target.url, text, { headers: fieldsOf(OTHER_TOKEN) })).status, 200);
    await assertHealthy(target, TOKEN);
    for (const connection of opened) connection.close();
  });
});

Deno.test("one of several callers cannot take every place in work", async () => {
  await attack({ ...TWO, limits: { max_inflight: 16, rate_limit: null } }, PATIENT, async (target) => {
    const stop = new AbortController();
    const wait = (): Promise<Response> =>
      fetch(`${target.url}/mcp`, {
        method: "POST",
        headers: { ...fieldsOf(), "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: callText(1, "wait", { milliseconds: 60_000 }),
        signal: stop.signal,
      });
    const calls = Array.from({ length: 15 }, () => wait().catch(() => null));
    await until("places are taken", async () => await metric(target, "gate_inflight") === 14);
    await until("one was too much", async () => await refusals(target, "inflight_limit") === 1);
    await assertHealthy(target, OTHER_TOKEN);
    stop.abort();
    await Promise.all(calls);
    await until("places are free", async () => await metric(target, "gate_inflight") === 0);
    await assertHealthy(target, TOKEN);
  });
});

/** Places in work unless the configuration says otherwise, and a server of which this machine is the one caller. */
const PLACES = 256;
const LOCAL = { auth: null, limits: { max_inflight: PLACES, rate_limit: null } };

for (const [calls, taken, refused] of [[255, 255, 0], [256, 256, 0], [257, 256, 1]] as const) {
  Deno.test(`of ${calls} calls of this machine at the same time ${taken} are taken`, async () => {
    await attack(LOCAL, PATIENT, async (target) => {
      const body = callText(1, "wait", { milliseconds: 60_000 });
      const opened = await halfOpen(target.port, calls, `${headOf()}Content-Length: ${body.length}\r\n\r\n`);
      await until("all bodies are on their way", async () => await metric(target, "gate_http_bodies") === calls);
      await Promise.all(opened.map((connection) => connection.write(new TextEncoder().encode(body))));
      await until("no body is on its way", async () => await metric(target, "gate_http_bodies") === 0);
      const inWork = await metric(target, "gate_inflight");
      assert.deepEqual([inWork, await refusals(target, "inflight_limit")], [taken, refused]);
      for (const connection of opened) connection.close();
      await until("places are free", async () => await metric(target, "gate_inflight") === 0);
      assert.equal((await send(target.url, callText(2, "echo"))).status, 200);
    });
  });
}

/** Opens a stream of the older transport; gives the path for messages, and how to read on. */
async function openStream(
  target: Target,
  token: string,
): Promise<{ readonly path: string; readonly next: () => Promise<string>; readonly close: () => void }> {
  const stop = new AbortController();
  const headers = { accept: "text/event-stream", ...fieldsOf(token) };
  const response = await fetch(`${target.url}/sse`, { headers, signal: stop.signal });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader.read()).value ?? "";
  const path = /data: (\S+)/.exec(await next())?.[1] ?? "";
  return { path, next, close: () => stop.abort() };
}

Deno.test("over SSE half-sent messages of one caller take no place in work, and are bounded as over HTTP", async () => {
  const limits = { max_inflight: 4, rate_limit: null };
  await attack({ ...TWO, transport: "sse", limits }, PATIENT, async (target) => {
    const [held, other] = [await openStream(target, TOKEN), await openStream(target, OTHER_TOKEN)];
    const opened = await halfOpen(target.port, BODIES, `${headOf(TOKEN, held.path)}${HALF_BODY}`);
    await until("all are on their way", async () => await metric(target, "gate_http_bodies") === BODIES);
    const say = (path: string, token: string): Promise<Answer> =>
      send(target.url, callText(7, "echo", { a: 1 }), { path, headers: fieldsOf(token) });
    assert.equal((await say(held.path, TOKEN)).status, 503);
    assert.equal((await say(other.path, OTHER_TOKEN)).status, 202);
    assert.match(await other.next(), /"structuredContent":\{"input":\{"a":1\}\}/);
    // A message that is complete only after its stream has ended has no session.
    held.close();
    await until("the stream has ended", async () => await metric(target, "gate_sse_sessions") === 1);
    const rest = ["", `${" ".repeat(3999)}`];
    const late = opened.pop();
    await late?.write(new TextEncoder().encode(rest.join("")));
    const buffer = new Uint8Array(1024);
    const count = await late?.read(buffer) ?? 0;
    assert.match(new TextDecoder().decode(buffer.subarray(0, count)), /^HTTP\/1\.1 404/);
    late?.close();
    for (const connection of opened) connection.close();
    other.close();
  });
});

Deno.test("over SSE a full server accepts the cancellation of a call in work, and rejects further calls", async () => {
  const limits = { max_inflight: 1, rate_limit: null };
  await attack({ ...TWO, transport: "sse", limits }, PATIENT, async (target) => {
    const [held, other] = [await openStream(target, TOKEN), await openStream(target, OTHER_TOKEN)];
    const say = async (path: string, token: string, text: string): Promise<number> =>
      (await send(target.url, text, { path, headers: fieldsOf(token) })).status;
    const cancellation = message(undefined, "notifications/cancelled", { requestId: 1 });
    assert.equal(await say(held.path, TOKEN, callText(1, "wait", { milliseconds: 60_000 })), 202);
    await until("the call is in work", async () => await metric(target, "gate_inflight") === 1);
    assert.equal(await say(other.path, OTHER_TOKEN, callText(2, "echo")), 503);
    assert.equal(await say(other.path, OTHER_TOKEN, cancellation), 503, "no call of this session is in work");
    assert.equal(await say(held.path, TOKEN, callText(3, "echo")), 202);
    assert.match(await held.next(), /"id":3,"error":\{"code":-32072/);
    assert.equal(await say(held.path, TOKEN, cancellation), 202);
    await until("the call has ended", async () => await metric(target, "gate_inflight") === 0);
    for (const stream of [held, other]) stream.close();
  });
});

Deno.test("over SSE unanswered messages are counted too", async () => {
  const rate_limit = { max_requests: 6, window_ms: 60_000, max_entries: 64 };
  await attack({ ...TWO, transport: "sse", limits: { max_inflight: 4, rate_limit } }, PATIENT, async (target) => {
    // The stream is the first of six requests.
    const { path, next, close } = await openStream(target, TOKEN);
    const text = (id: number): string =>
      id === 5
        ? callText(id, "echo")
        : message(undefined, "notifications/progress", { progressToken: 1, progress: id });
    const statuses: number[] = [];
    for (let id = 1; id <= 8; id++) {
      statuses.push((await send(target.url, text(id), { path, headers: fieldsOf(TOKEN) })).status);
    }
    assert.deepEqual(statuses, [202, 202, 202, 202, 202, 429, 429, 429]);
    assert.match(await next(), /"id":5/, "a request is counted once");
    const other = await openStream(target, OTHER_TOKEN);
    assert.notEqual(other.path, "");
    for (const end of [close, other.close]) end();
  });
});

Deno.test("a packet full of requests ends after the first of them, without a trace", async () => {
  await attack({}, PATIENT, async (target) => {
    const healthz = bare("GET /healthz HTTP/1.1");
    const few = await exchange(target.port, [
      healthz.repeat(PIPELINED - 1) + healthz.replace("Host", "Connection: close\r\nHost"),
    ]);
    assert.equal(few.text.match(/HTTP\/1\.1 200/g)?.length, PIPELINED);
    const heaps: number[] = [];
    const packet = (healthz + bare("GET /healthz HTTP/1.1", "Expect: much")).repeat(750);
    for (let round = 1; round <= 2; round++) {
      const packets = Array.from({ length: 200 }, () => exchange(target.port, [packet], 20_000));
      for (const { closed } of await Promise.all(packets)) assert.equal(closed, true);
      assert.equal(await refusals(target, "too_many_pipelined"), round * 200);
      assert.equal(await refusals(target, "HPE_ERROR"), 0);
      heaps.push((await settledMemory(target)).heap);
    }
    const [before = 0, after = Infinity] = heaps;
    assert.ok(after <= before * 1.1 + 1e6, JSON.stringify(heaps));
    const answered = await metric(target, 'gate_http_requests_total{route="/healthz",status="200"}') ?? Infinity;
    assert.ok(answered <= PIPELINED * 401, `${answered}`);
    await assertHealthy(target);
    assert.ok(!target.process.errors().includes('"level":"error"'), target.process.errors());
  });
});

Deno.test("connections that are reset before they are accepted are neither read nor logged", async () => {
  await attack({}, PATIENT, async (target) => {
    await resetBeforeTaken(target, 20, bare("GET /healthz HTTP/1.1").repeat(20));
    await assertHealthy(target);
    assert.equal(await metric(target, 'gate_http_requests_total{route="/healthz",status="200"}'), null);
    const refused = (await linesAfterEnd(target)).filter(({ outcome }) => outcome === "refused");
    assert.deepEqual(refused, []);
    assert.ok(!target.process.errors().includes('"level":"error"'), target.process.errors());
  });
});

Deno.test("a client that does not read an answer is dropped", async () => {
  await attack({}, {}, async (target) => {
    const body = callText(1, "echo", { text: "a".repeat(500_000) });
    const request = `${headOf()}Content-Length: ${body.length}\r\n\r\n${body}`;
    // What the system holds ready for a reader is a few megabytes; more waits in the server.
    const opened = await halfOpen(target.port, 5, request.repeat(PIPELINED - 1));
    await until("they are let go of", async () => await refusals(target, "answer_not_read") === opened.length);
    await until("they are gone", async () => (await metric(target, "gate_http_connections") ?? Infinity) <= 1);
    for (const connection of opened) connection.close();
    await assertHealthy(target);
  });
});

Deno.test("a client that requests much and reads nothing has bounded memory, and delays no other", async () => {
  const limits = { max_inflight: 16, rate_limit: null };
  await attack({ ...TWO, limits }, PATIENT, async (target) => {
    // An answer has its text twice.
    const body = callText(1, "large", { characters: 500_000 });
    const request = `${headOf()}Content-Length: ${body.length}\r\n\r\n${body}`;
    const unread = async (): Promise<number> => await metric(target, "gate_http_unread_bytes", OTHER_TOKEN) ?? Infinity;
    const opened: Deno.Conn[] = [];
    await until("the bound is reached", async () => {
      opened.push(...await halfOpen(target.port, 2, request.repeat(PIPELINED - 1)));
      return await unread() >= BACKPRESSURE_BOUNDS.callerBytes;
    });
    assert.equal((await send(target.url, callText(2, "echo"), { headers: fieldsOf() })).status, 503);
    await assertHealthy(target, OTHER_TOKEN);
    // What was in work when the bound was reached was answered still.
    assert.ok(await unread() < BACKPRESSURE_BOUNDS.callerBytes + limits.max_inflight * 1.1e6, `${await unread()}`);
    for (const connection of opened) connection.close();
    await until("nothing is left", async () => await unread() < 1e6);
    await assertHealthy(target);
  });
});

/** Opens an unread stream of the older transport; returns the path for its messages. */
async function openUnread(target: Target): Promise<{ readonly path: string; readonly close: () => void }> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: target.port });
  const head =
    `GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: text/event-stream\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const [buffer, decoder] = [new Uint8Array(4096), new TextDecoder()];
  let text = "";
  while (!text.includes("session_id=")) text += decoder.decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
  return { path: /data: (\S+)/.exec(text)?.[1] ?? "", close: () => connection.close() };
}

Deno.test("over SSE a client that does not read is dropped at once, and frees its memory", async () => {
  await attack({ ...TWO, transport: "sse" }, PATIENT, async (target) => {
    const opened = await Promise.all(Array.from({ length: 4 }, () => openUnread(target)));
    for (let round = 0; round < 14; round++) {
      for (const { path } of opened) {
        await send(target.url, callText(round, "large", { characters: 500_000 }), { path, headers: fieldsOf() });
      }
    }
    await until("their sessions have ended", async () => await metric(target, "gate_sse_sessions", OTHER_TOKEN) === 0);
    await until(
      "nothing is left",
      async () => (await metric(target, "gate_http_unread_bytes", OTHER_TOKEN) ?? 0) < 1e6,
    );
    for (const { close } of opened) close();
  });
});

Deno.test("connections of strangers that hold every place are replaced by new ones", async () => {
  await attack({}, { bounds: { ...CONNECTION_BOUNDS, connections: 16 } }, async (target) => {
    const opened = await halfOpen(target.port, 40, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    for (let round = 0; round < 5; round++) await assertHealthy(target);
    assert.ok(await refusals(target, "too_many_connections") >= 24);
    assert.ok((await metric(target, "gate_http_connections") ?? Infinity) <= 16);
    for (const connection of opened) connection.close();
  });
});
