/** Telemetry over OTLP: what a collector receives, what never leaves the process, and a collector that is down or redirects. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { SCENARIO } from "../../simulation/crash/load.ts";
import { initializeParams, startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";

const SECRET = "canary-of-the-collector-41c7";
const PAYLOAD = "canary-of-the-payload-9ab2";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

interface Request {
  readonly path: string;
  readonly token: string | null;
  readonly body: string;
}

interface CollectorServer {
  readonly url: string;
  readonly requests: Request[];
  readonly close: () => Promise<void>;
}

/** A collector that keeps what it receives. */
function collector(
  answer: (request: globalThis.Request) => Response = () => Response.json({}),
  hostname = "127.0.0.1",
): CollectorServer {
  const requests: Request[] = [];
  const server = Deno.serve(
    { hostname, port: 0, onListen: () => {} },
    async (request) => {
      requests.push({
        path: new URL(request.url).pathname,
        token: request.headers.get("x-token"),
        body: await request.text(),
      });
      return answer(request);
    },
  );
  return { url: `http://${hostname}:${server.addr.port}`, requests, close: () => server.shutdown() };
}

/** Starts a run, submits a payload, and asks for a tool that no server has. */
async function work(
  folder: string,
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
  const args = gateArgs("serve", "--config", join(folder, "gate.toml"), ...flags);
  await using server = startServer({ args, cwd: folder, env: { COLLECTOR_TOKEN: SECRET, ...environment } });
  await server.request("initialize", initializeParams());
  await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = async (name: string, input: unknown): Promise<Record<string, unknown>> => {
    const _meta = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const { result } = await server.request("tools/call", { name, arguments: input, _meta }) as { result?: Wire };
    return (result?.["structuredContent"] ?? {}) as Record<string, unknown>;
  };
  const { scenario_law_identity } = await call("scenario_define", { spec: SCENARIO });
  const started = await call("scenario_start", {
    namespace_id: 2,
    scenario_id: SCENARIO.scenario_id,
    scenario_law_identity,
    creation_request_id: "1".repeat(32),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  }) as { outcome: { result: { run_key: { run_id: string }; head: unknown } } };
  const { run_key: { run_id }, head } = started.outcome.result;
  await call("scenario_submit", {
    namespace_id: 2,
    scenario_id: SCENARIO.scenario_id,
    run_id,
    expected_head: head,
    operation_id: "2".repeat(32),
    content_type: "application/json",
    payload: { kind: "json", value: { note: PAYLOAD } },
    scope: { kind: "run_wide" },
  });
  await call("scenario_status", { namespace_id: 2, scenario_id: SCENARIO.scenario_id, run_id: "f".repeat(32) });
  await call("no_such_tool", {});
  await server.closeInput();
  assert.equal(await server.ended(), 0, server.errors());
  return server.errors();
}

const FLAGS = ["--otlp-header", "x-token=env:COLLECTOR_TOKEN"];

interface Attribute {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

function attribute(attributes: readonly Attribute[], name: string): unknown {
  const found = attributes.find(({ key }) => key === name)?.value;
  return found === undefined ? undefined : Object.values(found)[0];
}

Deno.test("a collector receives spans and metrics by the conventions for MCP", () =>
  inFolder(async (folder) => {
    const peer = collector();
    await work(folder, ["--otlp-endpoint", peer.url, ...FLAGS]);
    await peer.close();
    assert.deepEqual(
      new Set(peer.requests.map(({ path }) => path)),
      new Set(["/v1/traces", "/v1/metrics"]),
    );
    assert.ok(peer.requests.every(({ token }) => token === SECRET));
    const bodies = (path: string): Wire[] =>
      peer.requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Wire);
    // deno-lint-ignore no-explicit-any
    const spans = bodies("/v1/traces").flatMap((one: any) => one.resourceSpans[0].scopeSpans[0].spans);
    assert.deepEqual(spans.map(({ name, status }) => [name, status.code ?? 0]), [
      ["tools/call scenario_define", 0],
      ["tools/call scenario_start", 0],
      ["tools/call scenario_submit", 0],
      ["tools/call scenario_status", 2],
      ["tools/call unknown", 2],
    ]);
    for (const { traceId, parentSpanId, kind, startTimeUnixNano, endTimeUnixNano } of spans) {
      assert.deepEqual([traceId, parentSpanId, kind], [TRACE, PARENT, 2]);
      assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano));
    }
    const [, , submitted, refused, unknown] = spans.map(({ attributes }) => attributes as Attribute[]);
    assert.equal(attribute(submitted ?? [], "gen_ai.tool.name"), "scenario_submit");
    assert.equal(attribute(submitted ?? [], "mcp.method.name"), "tools/call");
    assert.equal(attribute(submitted ?? [], "gate.scenario_id"), SCENARIO.scenario_id);
    assert.equal(attribute(submitted ?? [], "network.transport"), "pipe");
    assert.equal(attribute(refused ?? [], "error.type"), "tool_error");
    assert.equal(attribute(refused ?? [], "gate.run_id"), undefined);
    assert.equal(attribute(unknown ?? [], "error.type"), "invalid_params");
    // deno-lint-ignore no-explicit-any
    const [metrics] = bodies("/v1/metrics").slice(-1).map((one: any) => one.resourceMetrics[0].scopeMetrics[0].metrics);
    // deno-lint-ignore no-explicit-any
    const named = (name: string): any => metrics.find((one: any) => one.name === name);
    const durations = named("mcp.server.operation.duration").histogram.dataPoints;
    // deno-lint-ignore no-explicit-any
    assert.equal(durations.reduce((sum: number, { count }: any) => sum + Number(count), 0), 5);
    const [startedRuns] = named("gate_runs_started").sum.dataPoints;
    assert.deepEqual([startedRuns.asDouble, attribute(startedRuns.attributes, "scenario")], [1, SCENARIO.scenario_id]);
    assert.equal(named("gate.telemetry.dropped").sum.dataPoints[0].asDouble, 0);
  }));

Deno.test("no payload and no credential is in what a collector receives, nor the credential on standard error", () =>
  inFolder(async (folder) => {
    const peer = collector();
    const errors = await work(folder, ["--otlp-endpoint", peer.url, ...FLAGS]);
    await peer.close();
    assert.ok(peer.requests.length >= 2);
    for (const { body } of peer.requests) {
      for (const canary of [SECRET, PAYLOAD, "local"]) assert.ok(!body.includes(canary), `${canary} in ${body}`);
    }
    assert.ok(!errors.includes(SECRET) && !errors.includes(PAYLOAD));
  }));

for (const hostname of ["127.0.0.1", "localhost"]) {
  Deno.test(`a proxy of the environment receives nothing of what is sent to a collector at ${hostname}`, () =>
    inFolder(async (folder) => {
      const [peer, proxy] = [collector(undefined, hostname), collector()];
      const environment = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: "", no_proxy: "" };
      await work(folder, ["--otlp-endpoint", peer.url, ...FLAGS], environment);
      await Promise.all([peer.close(), proxy.close()]);
      assert.deepEqual(proxy.requests, []);
      assert.ok(peer.requests.length >= 2);
    }));
}

Deno.test("the target of a request to a collector over http is its path, as a collector without a proxy expects", () =>
  inFolder(async (folder) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const heads: string[] = [];
    const serving = (async () => {
      for await (const connection of listener) {
        const buffer = new Uint8Array(65_536);
        const count = await connection.read(buffer) ?? 0;
        heads.push(new TextDecoder().decode(buffer.subarray(0, count)));
        await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"));
        connection.close();
      }
    })();
    await work(folder, ["--otlp-endpoint", `http://127.0.0.1:${port}/base`, ...FLAGS]);
    listener.close();
    await serving;
    assert.ok(heads.length >= 2);
    for (const head of heads) {
      assert.match(head, /^POST \/base\/v1\/(traces|metrics) HTTP\/1\.1\r\n/);
      assert.match(head, new RegExp(`\r\nhost: 127\\.0\\.0\\.1:${port}\r\n`, "i"));
      assert.match(head, new RegExp(`\r\nx-token: ${SECRET}\r\n`, "i"));
    }
  }));

/** Collectors that receive nothing, and what the log then says. */
const BROKEN: readonly { readonly what: string; readonly answer: Response | null; readonly said: RegExp }[] = [
  { what: "is down", answer: null, said: /Cannot send telemetry.*"dropped":/ },
  { what: "answers 503", answer: new Response(null, { status: 503 }), said: /the collector answered 503/ },
  {
    what: "redirects to another host",
    answer: new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } }),
    said: /the collector answered 307/,
  },
];

for (const { what, answer, said } of BROKEN) {
  Deno.test(`a collector that ${what}: every call is answered, the end is in order, and the log says so once`, () =>
    inFolder(async (folder) => {
      const peer = collector(() => answer?.clone() ?? Response.json({}));
      if (answer === null) await peer.close();
      const errors = await work(folder, ["--otlp-endpoint", peer.url, ...FLAGS]);
      if (answer !== null) await peer.close();
      assert.match(errors, said);
      assert.equal(errors.match(/Cannot send telemetry/g)?.length, 1);
    }));
}

/** Flags that end the start, and what is said. */
const REFUSED: readonly { readonly flags: readonly string[]; readonly said: RegExp }[] = [
  { flags: ["--otlp-endpoint", "http://collector.example.com:4318"], said: /expected https, or http to this machine/ },
  { flags: ["--otlp-endpoint", "ftp://127.0.0.1"], said: /expected https/ },
  {
    flags: ["--otlp-endpoint", "https://user:secret@collector.example.com"],
    said: /would be logged: use --otlp-header/,
  },
  { flags: ["--otlp-endpoint", "collector"], said: /it is not a URL/ },
  { flags: ["--otlp-endpoint", "https://collector.example.com?key=1"], said: /expected no query/ },
  { flags: ["--otlp-header", "x-token=env:HOME"], said: /--otlp-endpoint is missing/ },
  {
    flags: ["--otlp-endpoint", "http://127.0.0.1:1", "--otlp-header", "x-token=abc"],
    said: /expected NAME=env:VARIABLE/,
  },
  {
    flags: ["--otlp-endpoint", "http://127.0.0.1:1", "--otlp-header", "x-token=env:NOT_SET_HERE"],
    said: /NOT_SET_HERE is not set/,
  },
  {
    flags: ["--otlp-endpoint", "http://127.0.0.1:1", "--otlp-header", "Host=env:HOME"],
    said: /gate sets it itself/,
  },
];

for (const { flags, said } of REFUSED) {
  Deno.test(`gate serve ${flags.join(" ")}: exit code 2`, () =>
    inFolder(async (folder) => {
      const { code, stderr } = await gate(folder, "serve", ...flags);
      assert.match(stderr, said);
      assert.ok(!stderr.includes("secret@"));
      assert.equal(code, 2);
    }));
}

for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "[::1]"]) {
  Deno.test(`${host} is this machine: http is enough, and gate permissions allows it`, () =>
    inFolder(async (folder) => {
      const { code, stdout, stderr } = await gate(folder, "permissions", "--otlp-endpoint", `http://${host}:4318`);
      assert.equal(code, 0, stderr);
      assert.ok(stdout.includes(`${host}:4318`), stdout);
    }));
}

Deno.test("where the runtime itself exports telemetry, verification is refused, and the start says so", () =>
  inFolder(async (folder) => {
    const env = { OTEL_DENO: "true", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
    const run = async (...words: readonly string[]): Promise<{ readonly code: number; readonly said: string }> => {
      const command = new Deno.Command(Deno.execPath(), { args: gateArgs(...words), cwd: folder, env, stdin: "null" });
      const { code, stderr, stdout } = await command.output();
      return { code, said: new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout) };
    };
    for (
      const words of [["runpack", "verify", "pack"], ["runpack", "show", "pack"], ["store", "check"], [
        "runpack",
        "admit",
        "pack",
        "--law",
        "law",
      ], [
        "audit",
        "verify",
        "log",
      ], ["release", "verify", "folder", "--origin-unchecked"]]
    ) {
      const { code, said } = await run(...words);
      assert.equal(code, 2, said);
      assert.match(said, /OTEL_DENO or OTEL_DENO_\* is set/);
    }
    assert.match(
      (await run("doctor")).said,
      /OTEL_DENO or OTEL_DENO_\* is set: the runtime sends the log to a collector/,
    );
    assert.match(
      (await run("serve")).said,
      /OTEL_DENO or OTEL_DENO_\* is set: the runtime sends the log to a collector/,
    );
  }));

/** Each alone switches the exporter of the runtime on. */
const SWITCHES = [
  ["OTEL_DENO_TRACING", "true"],
  ["OTEL_DENO_METRICS", "true"],
  ["OTEL_DENO_CONSOLE", "capture"],
] as const;

for (const [name, value] of SWITCHES) {
  Deno.test(`where ${name} alone is ${value}, verification is refused`, () =>
    inFolder(async (folder) => {
      const args = gateArgs("release", "verify", folder, "--origin-unchecked");
      const env = { [name]: value, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
      const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, env, cwd: folder }).output();
      assert.equal(code, 2);
      assert.match(new TextDecoder().decode(stderr), /OTEL_DENO or OTEL_DENO_\* is set/);
    }));
}
