import assert from "node:assert/strict";
import type { LedgerConfig } from "../config/types.ts";
import { untilAborted } from "../config/until_aborted.ts";
import { connectLedger, createGrantCache, GRANT_MILLISECONDS, LEDGER_BODY_BYTES } from "./ledger.ts";
import { namespaceAuthorityOf } from "./namespace_authority.ts";
import type { NamespaceAuthority } from "./types.ts";

/** The requests that a fake ledger received. */
interface Asked {
  readonly path: string;
  readonly authorization: string | null;
  readonly correlation: string | null;
}

interface Ledger {
  readonly config: LedgerConfig;
  readonly asked: Asked[];
}

const CLOCK = { now: 0 };
/** Long enough for a busy machine. */
const AMPLE = { connect_timeout_ms: 10_000, request_timeout_ms: 10_000 };

/** Runs a test against a ledger on a real HTTP port. */
async function withLedger(
  answer: (request: Request) => Response | Promise<Response>,
  test: (authority: NamespaceAuthority, ledger: Ledger) => Promise<void>,
  change: Partial<LedgerConfig> = {},
): Promise<void> {
  const asked: Asked[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { headers, url } = request;
    const path = new URL(url).pathname;
    asked.push({ path, authorization: headers.get("authorization"), correlation: headers.get("x-correlation-id") });
    return answer(request);
  });
  const config: LedgerConfig = {
    base_url: `http://127.0.0.1:${server.addr.port}/registry//`,
    auth_token: "ledger-token",
    ...AMPLE,
    ...change,
  };
  const authority = connectLedger(config, () => CLOCK.now);
  try {
    await test(authority, { config, asked });
  } finally {
    authority.close();
    await server.shutdown();
  }
}

function body(bytes: number): Response {
  return new Response(new Uint8Array(bytes));
}

/** A body that never ends. */
function endless(): Response {
  const stop = new AbortController();
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => stop.abort(),
  });
  return new Response(stream);
}

const ANSWERS:
  readonly (readonly [what: string, answer: (request: Request) => Response | Promise<Response>, verdict: string])[] = [
    ["200", () => new Response("{}"), "granted authority_grants"],
    ["200 without a body", () => new Response(null), "granted authority_grants"],
    ["404", () => new Response("no", { status: 404 }), "refused authority_not_found"],
    ["401", () => new Response("no", { status: 401 }), "refused authority_not_authorized"],
    ["403", () => new Response("no", { status: 403 }), "refused authority_not_authorized"],
    ["500", () => new Response("no", { status: 500 }), "unavailable authority_status"],
    ["204", () => new Response(null, { status: 204 }), "unavailable authority_status"],
    ["429", () => new Response("later", { status: 429 }), "unavailable authority_status"],
    [
      "a redirect to an address that grants everything",
      () => new Response(null, { status: 302, headers: { location: "/registry/granted" } }),
      "unavailable authority_status",
    ],
    ["a body at the limit", () => body(LEDGER_BODY_BYTES), "granted authority_grants"],
    ["a body beyond the limit", () => body(LEDGER_BODY_BYTES + 1), "unavailable authority_body_too_large"],
    ["a huge body", () => body(50 << 20), "unavailable authority_body_too_large"],
    ["a body without end", endless, "unavailable authority_request_timeout"],
    [
      "no answer",
      // Answered when the caller is gone.
      (request) =>
        new Promise<Response>((resolve) => request.signal.addEventListener("abort", () => resolve(new Response()))),
      "unavailable authority_request_timeout",
    ],
  ];

for (const [what, answer, verdict] of ANSWERS) {
  const change = verdict.endsWith("timeout") ? { request_timeout_ms: 500 } : {};
  Deno.test(`connectLedger() ${what}: ${verdict}`, () =>
    withLedger(
      answer,
      async (authority, { asked }) => {
        const given = await authority.ask(7, "client-1");
        assert.equal(`${given.verdict} ${given.reason}`, verdict);
        assert.deepEqual(asked, [{
          path: "/registry/v1/write/namespaces/7",
          authorization: "Bearer ledger-token",
          correlation: "client-1",
        }]);
      },
      change,
    ));
}

Deno.test("connectLedger() sends no header for an absent token or correlation id", () =>
  withLedger(
    () => new Response(),
    async (authority, { asked }) => {
      await authority.ask(7, null);
      assert.deepEqual(asked, [{ path: "/registry/v1/write/namespaces/7", authorization: null, correlation: null }]);
    },
    { auth_token: null },
  ));

Deno.test("connectLedger() a closed port: unavailable", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const authority = connectLedger({
    base_url: `http://127.0.0.1:${port}`,
    auth_token: null,
    ...AMPLE,
  });
  const { verdict, reason } = await authority.ask(7, null);
  authority.close();
  assert.deepEqual([verdict, reason], ["unavailable", "authority_connection_failed"]);
});

Deno.test("connectLedger() a server that does not speak HTTP: unavailable", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.write(new TextEncoder().encode("SSH-2.0-OpenSSH\r\n")).catch(() => 0);
      connection.close();
    }
  })();
  const authority = connectLedger({
    base_url: `http://127.0.0.1:${listener.addr.port}`,
    auth_token: null,
    ...AMPLE,
  });
  const { verdict } = await authority.ask(7, null);
  authority.close();
  listener.close();
  await serving;
  assert.equal(verdict, "unavailable");
});

Deno.test("connectLedger() a host that never completes its TLS handshake: authority_connect_timeout", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const authority = connectLedger({
    base_url: `https://127.0.0.1:${listener.addr.port}`,
    auth_token: null,
    connect_timeout_ms: 100,
    request_timeout_ms: 5000,
  });
  const { verdict, reason } = await authority.ask(7, null);
  authority.close();
  listener.close();
  // On a slow machine the whole time may pass before the connection is made.
  await accepted.then((connection) => connection.close(), () => undefined);
  assert.deepEqual([verdict, reason], ["unavailable", "authority_connect_timeout"]);
});

Deno.test("connectLedger() a grant is cached for its lifetime, from the start of the request", () =>
  withLedger(() => new Response(), async (authority, { asked }) => {
    CLOCK.now = 1000;
    assert.equal((await authority.ask(7, null)).reason, "authority_grants");
    CLOCK.now += GRANT_MILLISECONDS - 1;
    assert.equal((await authority.ask(7, null)).reason, "authority_grants_cached");
    assert.equal((await authority.ask(8, null)).reason, "authority_grants", "another namespace is another question");
    CLOCK.now += 1;
    assert.equal((await authority.ask(7, null)).reason, "authority_grants");
    assert.equal(asked.length, 3);
  }));

for (const status of [404, 403, 500]) {
  Deno.test(`connectLedger() a ${status} is not cached`, () => {
    let answers = 0;
    return withLedger(
      () => new Response(null, { status: answers++ === 0 ? status : 200 }),
      async (authority) => {
        CLOCK.now = 0;
        assert.notEqual((await authority.ask(9, null)).verdict, "granted");
        assert.equal((await authority.ask(9, null)).verdict, "granted");
      },
    );
  });
}

Deno.test("connectLedger() concurrent questions for one namespace share one request", () =>
  withLedger(() => new Response(), async (authority, { asked }) => {
    CLOCK.now = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => authority.ask(11, null)));
    assert.ok(answers.every(({ verdict }) => verdict === "granted"));
    assert.equal(asked.length, 1);
  }));

Deno.test("createGrantCache() evicts the oldest grant", () => {
  const cache = createGrantCache(10, 2, () => 0);
  for (const id of [1, 2, 3]) cache.add(id, 0);
  assert.deepEqual([1, 2, 3].map((id) => cache.has(id)), [false, true, true]);
  cache.add(2, 0);
  cache.add(4, 0);
  assert.deepEqual([2, 3, 4].map((id) => cache.has(id)), [true, false, true]);
});

Deno.test("namespaceAuthorityOf() is null without a ledger, and unavailable once closed", async () => {
  assert.equal(namespaceAuthorityOf({ authority: { mode: "none", ledger: null } }), null);
  const ledger = { base_url: "http://127.0.0.1:1", auth_token: null, connect_timeout_ms: 100, request_timeout_ms: 500 };
  const authority = namespaceAuthorityOf({ authority: { mode: "ledger_http", ledger } });
  authority?.close();
  assert.deepEqual(await authority?.ask(2, null), { verdict: "unavailable", reason: "authority_closed" });
});

Deno.test("a ledger whose name server does not answer gets no request, and each question ends in its time", async () => {
  let requests = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    requests++;
    return body(0);
  });
  const base_url = `http://localhost:${server.addr.port}`;
  const silent = connectLedger(
    { base_url, auth_token: null, connect_timeout_ms: 100, request_timeout_ms: 500 },
    () => CLOCK.now,
    (_host, signal) => untilAborted(new Promise(() => {}), signal),
  );
  // The connection reports why a name cannot be looked up.
  const failing = connectLedger(
    { base_url, auth_token: null, ...AMPLE },
    () => CLOCK.now,
    () => Promise.reject(new Error("no such name")),
  );
  try {
    const late = { verdict: "unavailable", reason: "authority_connect_timeout" };
    assert.deepEqual(await Promise.all([2, 3, 4].map((id) => silent.ask(id, null))), [late, late, late]);
    assert.equal(requests, 0);
    assert.equal((await failing.ask(2, null)).verdict, "granted");
  } finally {
    silent.close();
    failing.close();
    await server.shutdown();
  }
});
