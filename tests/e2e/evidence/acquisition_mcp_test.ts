import assert from "node:assert/strict";
import { createMcpProvider, type McpProvider } from "@/evidence/external/mcp_provider.ts";
import { until } from "../../until.ts";
import { ask, codeOf, contractOf, hostileChild, hostileEndpoint, mcpEntry } from "./acquisition_entries.ts";

/** For queries that are never answered. */
const SHORT = { timeouts: { connect_timeout_ms: 500, request_timeout_ms: 1500 } };

/** Behaviour of a process, outcome. */
const CHILD_ROWS: readonly (readonly [behave: string, outcome: string])[] = [
  ["fine", "ok"],
  ["slow", "ok"],
  ["noisy", "ok"],
  ["asks", "ok"],
  ["error", "provider_protocol_error"],
  ["bare_error", "provider_protocol_error"],
  ["bare", "provider_protocol_error"],
  ["duplicate", "provider_protocol_error"],
  ["both", "provider_protocol_error"],
  ["no_version", "provider_protocol_error"],
  ["text_id", "provider_protocol_error"],
  ["unfinished", "provider_protocol_error"],
  ["garbage", "provider_protocol_error"],
  ["array", "provider_protocol_error"],
  ["not_utf8", "provider_protocol_error"],
  ["endless", "response_too_large"],
  ["large", "response_too_large"],
  ["exit", "worker_died"],
  ["half", "worker_died"],
  ["silent", "timeout"],
  ["other_id", "timeout"],
];

for (const [behave, outcome] of CHILD_ROWS) {
  Deno.test(`createMcpProvider() over stdio, provider ${behave}: ${outcome}, and the next question is answered`, async () => {
    const provider = hostileChild(outcome === "timeout" ? SHORT : {});
    await assertOutcome(provider, behave, outcome);
    await provider.close();
  });
}

/** A provider misbehaves, and answers the next question. Where its time is short, the next one may take several tries. */
async function assertOutcome(provider: McpProvider, behave: string, outcome: string): Promise<void> {
  const isAnswered = async (): Promise<boolean> => codeOf(await ask(provider, {})) === "ok";
  if (outcome === "timeout") await until("it is reached in a short time", isAnswered);
  assert.equal(codeOf(await ask(provider, { behave })), outcome);
  if (outcome === "timeout") await until("the next question is answered", isAnswered);
  else assert.ok(await isAnswered());
}

/** Name, raw text of a tool result, outcome. */
const RESULT_ROWS: readonly (readonly [name: string, raw: string, outcome: string])[] = [
  ["structured content", '{"content":[],"structuredContent":{"value":null}}', "ok"],
  ["structured content alone", '{"structuredContent":{"value":null}}', "ok"],
  ["an item of type json", '{"content":[{"type":"json","json":{"value":null}}]}', "ok"],
  ["an observed error", '{"structuredContent":{"error":{"code":"x","message":"m","details":{"a":1}}}}', "ok"],
  ["text only", '{"content":[{"type":"text","text":"{}"}]}', "provider_protocol_error"],
  ["no content", '{"content":[]}', "provider_protocol_error"],
  ["null", "null", "provider_protocol_error"],
  ["a failed tool", '{"isError":true,"content":[{"type":"text","text":"boom"}]}', "provider_protocol_error"],
  ["a failed tool with a result", '{"isError":true,"structuredContent":{"value":null}}', "provider_protocol_error"],
  ["an unknown member", '{"structuredContent":{"value":null,"x":1}}', "provider_protocol_error"],
  ["__proto__ as member", '{"structuredContent":{"value":null,"__proto__":1}}', "provider_protocol_error"],
  ["a duplicate member", '{"structuredContent":{"value":null,"value":null}}', "provider_protocol_error"],
  [
    "a number that is no double",
    '{"structuredContent":{"value":{"kind":"json","value":9007199254740993}}}',
    "provider_protocol_error",
  ],
  ["a lone surrogate", '{"structuredContent":{"value":{"kind":"json","value":"\\ud800"}}}', "provider_protocol_error"],
  [
    "a value nested too deep",
    `{"structuredContent":{"value":{"kind":"json","value":${"[".repeat(64)}${"]".repeat(64)}}}}`,
    "provider_protocol_error",
  ],
  [
    "an error with a value",
    '{"structuredContent":{"error":{"code":"x","message":"m"},"value":{"kind":"json","value":1}}}',
    "provider_protocol_error",
  ],
  [
    "an error with a content type",
    '{"structuredContent":{"error":{"code":"x","message":"m"},"content_type":"text/plain"}}',
    "provider_protocol_error",
  ],
  [
    "bytes with an unknown spelling",
    '{"structuredContent":{"value":{"kind":"bytes","value":[1]}}}',
    "provider_protocol_error",
  ],
  ["an unknown lane", '{"structuredContent":{"value":null,"lane":"certain"}}', "provider_protocol_error"],
];

Deno.test("createMcpProvider() accepts valid results and rejects all others", async (test) => {
  const provider = hostileChild();
  for (const [name, raw, outcome] of RESULT_ROWS) {
    await test.step(`${name}: ${outcome}`, async () => {
      assert.equal(codeOf(await ask(provider, { raw })), outcome);
    });
  }
  await provider.close();
});

Deno.test("createMcpProvider() returns values exactly as they were on the wire", async () => {
  const provider = hostileChild();
  const text = '{"__proto__":{"a":1},"a\\u0062c":0.1,"list":[1,"\\ud83d\\ude00",null]}';
  const answer = await ask(provider, { raw: `{"structuredContent":{"value":{"kind":"json","value":${text}}}}` });
  assert.ok(answer.ok && answer.result.value?.kind === "json");
  assert.equal(JSON.stringify(answer.result.value.value), '{"__proto__":{"a":1},"abc":0.1,"list":[1,"😀",null]}');
  await provider.close();
});

Deno.test("createMcpProvider() gives the process a minimal environment", async () => {
  Deno.env.set("GATE_TEST_SECRET", "x");
  const provider = hostileChild();
  const answer = await ask(provider, { behave: "echo_environment" });
  await provider.close();
  Deno.env.delete("GATE_TEST_SECRET");
  assert.ok(answer.ok && answer.result.value?.kind === "json");
  const names = JSON.parse(String(answer.result.value.value)) as string[];
  const allowed = ["HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ"];
  assert.deepEqual(names.filter((name) => !allowed.includes(name)), []);
});

Deno.test("createMcpProvider() keeps one process for all queries and ends it at close", async () => {
  const provider = hostileChild();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(provider, { behave: "process" })));
  const pids = new Set(
    answers.map((answer) => answer.ok && answer.result.value?.kind === "json" && answer.result.value.value),
  );
  assert.equal(pids.size, 1);
  await provider.close();
  const [pid] = pids;
  assert.throws(() => Deno.kill(Number(pid), "SIGKILL"), Deno.errors.NotFound);
  assert.equal(codeOf(await ask(provider, {})), "provider_unreachable");
});

Deno.test("createMcpProvider() cancels the query of a disconnected caller only", async () => {
  const provider = hostileChild();
  await ask(provider, {});
  const controller = new AbortController();
  const gone = ask(provider, { behave: "silent" }, controller.signal);
  const other = ask(provider, { behave: "slow" });
  controller.abort();
  assert.equal(codeOf(await gone), "cancelled");
  assert.equal(codeOf(await other), "ok");
  await provider.close();
});

Deno.test("createMcpProvider() restarts a stuck process although each caller leaves before the timeout", async () => {
  const provider = hostileChild(SHORT);
  await ask(provider, {});
  const impatient = (behave: string): Promise<string> =>
    ask(provider, { behave }, AbortSignal.timeout(SHORT.timeouts.request_timeout_ms / 5)).then(codeOf);
  assert.equal(await impatient("stuck"), "cancelled");
  await until("a query is answered again", async () => await impatient("fine") === "ok");
  await provider.close();
});

Deno.test("createMcpProvider() restarts a process that keeps dying with backoff", async () => {
  const provider = hostileChild();
  const started = performance.now();
  for (let round = 0; round < 4; round++) assert.equal(codeOf(await ask(provider, { behave: "exit" })), "worker_died");
  // Four starts have backoffs of 100, 200 and 400 ms between them.
  assert.ok(performance.now() - started >= 700);
  await provider.close();
});

Deno.test("createMcpProvider() reports a program that cannot be started", async () => {
  const provider = hostileChild({ command: ["./no-such-program"] });
  const answer = await ask(provider, {});
  assert.deepEqual(answer, {
    ok: false,
    code: "provider_unreachable",
    message: "Cannot start provider: it cannot be run",
    retryable: false,
  });
  await provider.close();
});

/** Behaviour of an endpoint, outcome. */
const ENDPOINT_ROWS: readonly (readonly [behave: string, outcome: string])[] = [
  ["fine", "ok"],
  ["events", "ok"],
  ["events_other", "ok"],
  ["lost_once", "ok"],
  ["lost", "provider_unreachable"],
  ["error", "provider_protocol_error"],
  ["bare_error", "provider_protocol_error"],
  ["bare", "provider_protocol_error"],
  ["duplicate", "provider_protocol_error"],
  ["both", "provider_protocol_error"],
  ["no_version", "provider_protocol_error"],
  ["text_id", "provider_protocol_error"],
  ["unfinished", "provider_protocol_error"],
  ["next_id", "provider_protocol_error"],
  ["redirect", "provider_protocol_error"],
  ["html", "provider_protocol_error"],
  ["not_utf8", "provider_protocol_error"],
  ["gzip", "provider_protocol_error"],
  ["large", "response_too_large"],
  ["endless", "response_too_large"],
  ["events_endless", "response_too_large"],
  ["events_none", "response_truncated"],
  ["silent", "timeout"],
  ["drip", "timeout"],
  ["status_403", "provider_unreachable"],
  ["status_500", "provider_unreachable"],
];

Deno.test("createMcpProvider() over HTTP", async (test) => {
  for (const isLate of [false, true]) {
    const { provider, close } = await hostileEndpoint(isLate ? SHORT : {});
    for (const [behave, outcome] of ENDPOINT_ROWS.filter(([, outcome]) => (outcome === "timeout") === isLate)) {
      await test.step(`${behave}: ${outcome}, and the next question is answered`, () =>
        assertOutcome(provider, behave, outcome));
    }
    await close();
  }
});

/** As many queries as an endpoint has connections. */
const CONNECTIONS = 64;

/** Cancellations have the time of connecting, and the endpoint answers none of them. */
const CANCELLING = { timeouts: { connect_timeout_ms: 5_000, request_timeout_ms: 60_000 } };

/** An endpoint that answers neither queries to hold nor cancellations until it is closed. */
function holdingEndpoint(): { readonly url: string; readonly held: () => number; readonly close: () => Promise<void> } {
  let held = 0;
  const { promise: closed, resolve: release } = Promise.withResolvers<void>();
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  const server = Deno.serve(options, async (request) => {
    const { id, method, params } = await request.json() as {
      readonly id: number;
      readonly method: string;
      readonly params: { readonly arguments: { readonly query: { readonly params: { readonly hold?: string } } } };
    };
    if (method === "tools/call" && params.arguments.query.params.hold !== undefined) held++;
    else if (method !== "notifications/cancelled") return answerOf(id, method);
    await closed;
    return new Response(null, { status: 503 });
  });
  const close = async (): Promise<void> => {
    release();
    await server.shutdown();
  };
  return { url: `http://127.0.0.1:${server.addr.port}/mcp`, held: () => held, close };
}

function answerOf(id: number, method: string): Response {
  if (method === "notifications/initialized") return new Response(null, { status: 202 });
  const known = method === "initialize" || method === "tools/call";
  if (!known) return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  const result = method === "initialize"
    ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "holding", version: "1" } }
    : { content: [], structuredContent: { value: { kind: "json", value: 7 }, content_type: "application/json" } };
  return Response.json({ jsonrpc: "2.0", id, result });
}

for (const [name, isLeft, outcome] of [["left", true, "cancelled"], ["late", false, "timeout"]] as const) {
  Deno.test(`createMcpProvider() over HTTP frees the connections of queries that are ${name}`, async () => {
    const endpoint = holdingEndpoint();
    const provider = createMcpProvider(
      mcpEntry("holding", { ...isLeft ? CANCELLING : SHORT, url: endpoint.url }),
      contractOf("holding"),
      "/",
    );
    await until("the endpoint is reached", async () => codeOf(await ask(provider, {})) === "ok");
    const caller = new AbortController();
    // Where the time is short, not each query of the first round need come so far.
    do {
      const queries = Array.from({ length: CONNECTIONS }, () => ask(provider, { hold: "yes" }, caller.signal));
      if (isLeft) {
        await until("all are held", () => endpoint.held() === CONNECTIONS);
        caller.abort();
      }
      assert.deepEqual(new Set((await Promise.all(queries)).map(codeOf)), new Set([outcome]));
    } while (endpoint.held() < CONNECTIONS);
    await until("a query is answered again", async () => codeOf(await ask(provider, {})) === "ok", 300);
    await provider.close();
    await endpoint.close();
  });
}

Deno.test("createMcpProvider() over HTTP carries its bearer token", async () => {
  const right = await hostileEndpoint({ auth: { bearer_token: "secret" } }, ["secured"]);
  assert.equal(codeOf(await ask(right.provider, {})), "ok");
  await right.close();
  const wrong = await hostileEndpoint({ auth: { bearer_token: "wrong" } }, ["secured"]);
  const answer = await ask(wrong.provider, {});
  assert.equal(codeOf(answer), "provider_unreachable");
  assert.ok(!answer.ok && !answer.retryable);
  assert.ok(!JSON.stringify(answer).includes("wrong"));
  await wrong.close();
});

Deno.test("createMcpProvider() over HTTP reports a refused connection", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const { provider, close } = await hostileEndpoint({ url: `http://127.0.0.1:${port}/mcp` });
  assert.equal(codeOf(await ask(provider, {})), "connection_failed");
  await close();
});

Deno.test("createMcpProvider() over HTTP reports in one sentence that the endpoint is not an MCP server", async () => {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  for (
    const reply of ['{"hello":1}', '{"jsonrpc":"2.0","hello":1}', '{"jsonrpc":"2.0","id":0,"error":"no"}', "hello"]
  ) {
    const headers = { "content-type": "application/json" };
    const server = Deno.serve(options, () => new Response(reply, { headers }));
    const { provider, close } = await hostileEndpoint({ url: `http://127.0.0.1:${server.addr.port}/mcp` });
    const answer = await ask(provider, {});
    assert.equal(codeOf(answer), "provider_protocol_error");
    assert.match(answer.ok ? "" : answer.message, /^Cannot [a-z ]+: [^[{]{10,80}$/);
    await close();
    await server.shutdown();
  }
});

Deno.test("createMcpProvider() over HTTPS gives up on a host that does not speak TLS, or not in time", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const connections: Deno.Conn[] = [];
  let greeting = false;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections.push(connection);
      if (greeting) await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    }
  })();
  for (const [speaks, outcome] of [[false, "timeout"], [true, "tls_failed"]] as const) {
    greeting = speaks;
    const { provider, close } = await hostileEndpoint({ ...speaks ? {} : SHORT, url: `https://127.0.0.1:${port}/mcp` });
    assert.equal(codeOf(await ask(provider, {})), outcome);
    await close();
  }
  listener.close();
  await accepting;
  for (const connection of connections) connection.close();
});
