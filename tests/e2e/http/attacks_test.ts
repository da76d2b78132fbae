/**
 * Attacks on the HTTP listener: each is rejected and logged, the server is healthy after it, and its memory
 * is what it was.
 */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { ATTACK_ROWS, BODY_BYTES, TOKEN } from "./attack_rows.ts";
import { type Answer, callText, exchange, pause, send } from "../http_fixture.ts";
import {
  assertHealthy,
  attack,
  bearerAuth,
  BOUNDS,
  fieldsOf,
  halfOpen,
  headOf,
  linesAfterEnd,
  logged,
  type Memory,
  metric,
  NO_MORE,
  OTHER_TOKEN,
  refusals,
  refusalsIn,
  settledMemory,
} from "../http_target.ts";
import type { Wire } from "../client.ts";

Deno.test("each attack of the table is rejected and logged, and does not change the server", async (t) => {
  await attack({ max_body_bytes: BODY_BYTES }, {}, async (target) => {
    assert.ok(ATTACK_ROWS.length >= 60);
    await assertHealthy(target);
    for (const { attack, bytes, status, word } of ATTACK_ROWS) {
      await t.step(`${attack}: ${status} ${word}`, async () => {
        const before = await refusals(target, word);
        const { text } = await exchange(target.port, [bytes], 60_000);
        const answers = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
        assert.deepEqual(answers, status === 0 ? [] : [status], text);
        assert.ok(!text.includes(TOKEN));
        await until(`one "${word}" more`, async () => await refusals(target, word) === before + 1);
        await logged(target, word);
        await assertHealthy(target);
      });
    }
    const words = [...new Set(ATTACK_ROWS.map(({ word }) => word))];
    const counted = await Promise.all(words.map((word) => refusals(target, word)));
    const lines = await linesAfterEnd(target);
    assert.deepEqual(words.map((word) => refusalsIn(lines, word)), counted, "the log has each");
    assert.ok(!JSON.stringify(lines).includes(TOKEN));
    assert.ok(!target.process.errors().includes('"level":"error"'), target.process.errors());
    assert.ok(!target.process.errors().includes(TOKEN));
  });
});

Deno.test("heads of a megabyte are refused, and standard error has only log entries", async () => {
  await attack({}, {}, async (target) => {
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"a".repeat(1 << 20)}\r\n\r\n`;
    for (let round = 0; round < 20; round++) {
      const { text } = await exchange(target.port, [head], 60_000);
      assert.match(text, /^(HTTP\/1\.1 431 [^]*)?$/);
    }
    assert.equal(await refusals(target, "HPE_HEADER_OVERFLOW"), 20);
    await assertHealthy(target);
    const lines = await linesAfterEnd(target);
    assert.equal(refusalsIn(lines, "HPE_HEADER_OVERFLOW"), 20);
    for (const line of target.process.errors().trimEnd().split("\n")) {
      const { level, message } = JSON.parse(line) as { level: string; message: string };
      assert.notEqual(level, "warn", message);
    }
  });
});

Deno.test("a body in chunks of one byte is accepted", async () => {
  await attack({}, {}, async (target) => {
    const body = callText(1, "echo", { text: "a".repeat(60_000) });
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join("");
    const head = `${headOf()}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { text } = await exchange(target.port, [head, 50, `${chunks}0\r\n\r\n`]);
    assert.match(text, /^HTTP\/1\.1 200/);
  });
});

const BEGINNINGS: readonly (readonly [what: string, beginning: string])[] = [
  ["nothing", ""],
  ["half a head", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
  ["half a body", `${headOf()}Content-Length: 4000\r\n\r\n{`],
];

/** Rounds after which a server that keeps nothing of a connection needs no more memory than before. */
const ROUNDS = 6;

Deno.test("2,000 half-open connections are bounded and ended, and delay no other caller", async () => {
  await attack({}, {}, async (target) => {
    const memory: Memory[] = [];
    // The first rounds bring pages that a later one needs no more; what leaks needs more in each.
    while (memory.length < 2 || (hasGrown(memory) && memory.length < ROUNDS)) {
      for (const [what, beginning] of BEGINNINGS) {
        const opened = await halfOpen(target.port, 2_000, beginning);
        await pause(BOUNDS.requestTime);
        // All are ended from the other side while this one holds on to them; until then there may be no room to ask.
        const connections = (): Promise<number | null> => metric(target, "gate_http_connections").catch(() => null);
        await until(`${what} is ended`, async () => (await connections() ?? Infinity) <= 3);
        for (const connection of opened) connection.close();
        await assertHealthy(target);
      }
      await pause(500);
      memory.push(await settledMemory(target));
    }
    assert.ok(!hasGrown(memory), JSON.stringify(memory));
    for (const word of ["ERR_HTTP_REQUEST_TIMEOUT", "too_many_connections"]) await logged(target, word);
  });
});

/** Whether the last round needed more than the one before it. */
function hasGrown(memory: readonly Memory[]): boolean {
  const [before, after] = memory.slice(-2);
  if (before === undefined || after === undefined) return true;
  return after.heap > before.heap * 1.1 + 1e6 || after.resident > before.resident * 1.1;
}

Deno.test("while connections beyond the bound are closed, those within it are served", async () => {
  await attack({}, { bounds: { ...BOUNDS, connections: 8 } }, async (target) => {
    const body = callText(1, "wait", { milliseconds: 600 });
    const head = `${headOf()}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const held = exchange(target.port, [head + body], 60_000);
    await target.process.logged("wait 600 begun");
    const opened = await halfOpen(target.port, 20, "");
    await logged(target, "too_many_connections");
    assert.match((await held).text, /HTTP\/1\.1 200/);
    for (const connection of opened) connection.close();
    await until("there is room", () => assertHealthy(target).then(() => true, () => false));
  });
});

Deno.test("a connection that sends no further request is ended, after its answer and before its next head", async () => {
  await attack({}, {}, async (target) => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const request = `${headOf()}Content-Length: ${ping.length}\r\n\r\n${ping}`;
    const lines = Array.from({ length: 3 }, () => [300, "\r\n"]).flat();
    const ends = await Promise.all([
      exchange(target.port, [request], 60_000),
      exchange(target.port, [request, 300, request], 60_000),
      exchange(target.port, [request, ...lines], 60_000),
      exchange(target.port, [request, 300, "POST /mcp HTTP/1.1\r\n"], 60_000),
    ]);
    const answers = ends.map(({ text }) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1])));
    assert.deepEqual(answers, [[200], [200, 200], [200], [200, 408]]);
    assert.deepEqual(ends.map(({ closed }) => closed), [true, true, true, true]);
    assert.match(ends[0]?.text ?? "", /^keep-alive: timeout=2\r$/im);
    await assertHealthy(target);
  });
});

const DRIPS: readonly (readonly [what: string, chunks: readonly (string | number)[]])[] = [
  ["a head, a field a time", [
    "POST /mcp HTTP/1.1\r\n",
    ...Array.from({ length: 12 }, (_, index) => [300, `X-${index}: 1\r\n`]).flat(),
  ]],
  ["a body, a byte a time", [`${BEGINNINGS[2]?.[1]}`, ...Array.from({ length: 14 }, () => [300, " "]).flat()]],
];

for (const [what, chunks] of DRIPS) {
  Deno.test(`slow input is ended: ${what}`, async () => {
    await attack({}, {}, async (target) => {
      const { text, closed } = await exchange(target.port, chunks, 60_000);
      assert.deepEqual([closed, /^HTTP\/1\.1 408/.test(text)], [true, true], text);
      await assertHealthy(target);
    });
  });
}

Deno.test("guesses are limited by address, and known callers are not", async () => {
  const rate_limit = { max_requests: 20, window_ms: 60_000, max_entries: 4 };
  await attack({ limits: { max_inflight: 256, rate_limit } }, {}, async (target) => {
    const guess = (index: number): Promise<Answer> =>
      send(target.url, callText(1, "echo"), {
        headers: {
          authorization: `Bearer guess-${index}`,
          "x-forwarded-for": `10.0.0.${index % 250}`,
          forwarded: `for=10.0.0.${index % 250}`,
          "x-gate-client-subject": `CN=${index}`,
          "x-correlation-id": `guess-${index}`,
        },
      });
    const statuses: number[] = [];
    for (let index = 0; index < 40; index++) statuses.push((await guess(index)).status);
    assert.deepEqual(statuses, [...Array<number>(20).fill(401), ...Array<number>(20).fill(429)]);
    const last = await guess(99);
    assert.ok(Number(last.headers["retry-after"]) > 0);
    const error = (JSON.parse(last.text) as { error: { code: number; data: Wire } }).error;
    assert.deepEqual([error.code, error.data["kind"], error.data["retryable"]], [-32071, "rate_limited", true]);
    await assertHealthy(target);
    await logged(target, "rate_limited");
  });
});

Deno.test("only a caller over its rate is limited, with Retry-After", async () => {
  const rate_limit = { max_requests: 5, window_ms: 60_000, max_entries: 64 };
  const auth = bearerAuth([TOKEN, OTHER_TOKEN]);
  await attack({ auth, limits: { max_inflight: 256, rate_limit } }, {}, async (target) => {
    const call = (token: string): Promise<Answer> =>
      send(target.url, callText(1, "echo"), { headers: fieldsOf(token) });
    const statuses: number[] = [];
    for (let index = 0; index < 7; index++) statuses.push((await call(TOKEN)).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429]);
    assert.equal((await call(OTHER_TOKEN)).status, 200);
    assert.ok(Number((await call(TOKEN)).headers["retry-after"]) >= 1);
  });
});

Deno.test("a full server rejects at once, and serves again when it has room", async () => {
  // On a busy machine the calls may end before the server was asked; then they take longer.
  for (const milliseconds of [2_000, 30_000]) {
    let wasFull = false;
    await attack({ limits: { max_inflight: 2, rate_limit: null } }, {}, async (target) => {
      const slow = [1, 2].map((id) =>
        send(target.url, callText(id, "wait", { milliseconds: milliseconds + id }), { headers: fieldsOf() })
      );
      for (const id of [1, 2]) await target.process.logged(`wait ${milliseconds + id} begun`);
      const full = await send(target.url, callText(3, "echo"), { headers: fieldsOf() });
      assert.equal((await send(target.url, null, { path: "/healthz" })).status, 200);
      wasFull = !target.process.errors().includes("wait done");
      if (wasFull) assert.deepEqual([full.status, full.headers["retry-after"]], [503, "1"]);
      assert.deepEqual((await Promise.all(slow)).map(({ status }) => status), [200, 200]);
      await assertHealthy(target);
    });
    if (wasFull) return;
  }
  assert.fail("No call found the server full");
});

const LOCAL = { mode: "local_only", bearer_tokens: [], ...NO_MORE };
const UPSTREAM = { mode: "mtls", bearer_tokens: [], mtls_subjects: ["CN=alice"], allowed_tools: [], principals: [] };

/** Whose word counts on who calls: settings, proxies, fields, then the status and what the log says. */
const SPOOFS: readonly (readonly [
  what: string,
  server: Wire,
  proxies: readonly string[],
  headers: Record<string, string>,
  status: number,
  word: string,
])[] = [
  ["local, passed on", { auth: LOCAL }, [], { "x-forwarded-for": "127.0.0.1" }, 401, "request_was_forwarded"],
  ["local, passed on by name", { auth: LOCAL }, [], { "x-forwarded-anything": "a" }, 401, "request_was_forwarded"],
  ["local, passed on by standard", { auth: LOCAL }, [], { forwarded: "for=127.0.0.1" }, 401, "request_was_forwarded"],
  ["local, by way of", { auth: LOCAL }, [], { via: "1.1 proxy" }, 401, "request_was_forwarded"],
  [
    "subject of a stranger",
    { auth: UPSTREAM, tls_termination: "upstream" },
    ["10.0.0.0/8"],
    { "x-gate-client-subject": "CN=alice" },
    401,
    "peer_not_trusted_proxy",
  ],
  [
    "subject where TLS does not end upstream",
    { auth: UPSTREAM },
    ["127.0.0.1"],
    { "x-gate-client-subject": "CN=alice" },
    401,
    "certificate_missing",
  ],
  ["no subject", { auth: UPSTREAM, tls_termination: "upstream" }, ["127.0.0.1"], {}, 401, "subject_missing"],
  [
    "another subject",
    { auth: UPSTREAM, tls_termination: "upstream" },
    ["127.0.0.1"],
    { "x-gate-client-subject": "CN=mallory" },
    403,
    "subject_not_listed",
  ],
  [
    "a subject like it",
    { auth: UPSTREAM, tls_termination: "upstream" },
    ["127.0.0.1"],
    { "x-gate-client-subject": "cn=alice" },
    403,
    "subject_not_listed",
  ],
  [
    "a subject that is too long for a line",
    { auth: UPSTREAM, tls_termination: "upstream" },
    ["127.0.0.1"],
    { "x-gate-client-subject": "x".repeat(1025) },
    403,
    "subject_not_listed",
  ],
  [
    "the subject of a trusted proxy",
    { auth: UPSTREAM, tls_termination: "upstream" },
    ["127.0.0.0/8"],
    { "x-gate-client-subject": "CN=alice" },
    200,
    "",
  ],
];

for (const [what, server, trustedProxies, headers, status, word] of SPOOFS) {
  Deno.test(`a caller cannot name itself: ${what}, ${status}`, async () => {
    await attack(server, { trustedProxies }, async (target) => {
      assert.equal((await send(target.url, callText(1, "echo"), { headers })).status, status);
      if (word === "") return;
      await logged(target, word);
      const line = (await linesAfterEnd(target)).find(({ reason }) => reason === word);
      // The word of a trusted proxy alone says who was refused.
      const subject = word === "subject_not_listed" ? headers["x-gate-client-subject"]?.slice(0, 1024) : undefined;
      assert.equal(line?.subject, subject);
    });
  });
}
