import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { LOCAL } from "../../tools/tests/tools_fixture.ts";
import type { CallOutcome, Dispatcher } from "../protocol/dispatcher.ts";
import { TOOLS_ALONE } from "../protocol/offer.ts";
import { QUEUE_ENTRIES } from "./exporter.ts";
import { SCENARIOS, startTelemetry, type Telemetry } from "./telemetry.ts";

const DONE: CallOutcome = { ok: true, answer: { ok: true, result: {} } };
const DISPATCHER: Dispatcher = {
  offer: TOOLS_ALONE,
  listing: () => Promise.resolve([]),
  taskRule: () => Promise.resolve(null),
  call: () => Promise.resolve(DONE),
  read: () => Promise.reject(new Error("not called")),
};

/** The bodies that a collector received, by path. */
type Received = ReadonlyMap<string, readonly string[]>;

/** Runs telemetry with a collector on this machine, closes it, and gives what was received. */
async function received(use: (telemetry: Telemetry, dispatcher: Dispatcher) => Promise<void>): Promise<Received> {
  const found = new Map<string, string[]>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    found.set(path, [...found.get(path) ?? [], await request.text()]);
    return Response.json({});
  });
  const collector = { endpoint: `http://127.0.0.1:${server.addr.port}`, headers: {} };
  const telemetry = startTelemetry(collector, () => undefined, 1_000_000);
  await use(telemetry, telemetry.trace(DISPATCHER));
  await telemetry.close();
  await server.shutdown();
  return found;
}

function call(dispatcher: Dispatcher, scenario_id: string): Promise<CallOutcome> {
  const input: JsonObject = { namespace_id: 2, scenario_id };
  return dispatcher.call("scenario_status", input, {
    principal: LOCAL,
    signal: new AbortController().signal,
    correlationId: null,
  });
}

for (const [count, expected] of [[SCENARIOS - 1, 0], [SCENARIOS, 0], [SCENARIOS + 1, 1]] as const) {
  Deno.test(`${count} scenarios: ${expected} named other`, async () => {
    const found = await received(async (_, dispatcher) => {
      for (let at = 0; at < count; at++) await call(dispatcher, `scenario-${at}`);
    });
    const [text = ""] = found.get("/v1/traces") ?? [];
    assert.equal(text.match(/"stringValue":"other"/g)?.length ?? 0, expected);
  });
}

for (const [count, dropped] of [[QUEUE_ENTRIES - 1, 0], [QUEUE_ENTRIES, 0], [QUEUE_ENTRIES + 1, 1]] as const) {
  Deno.test(`${count} spans between two exports: ${dropped} dropped and counted`, async () => {
    const found = await received(async (_, dispatcher) => {
      for (let at = 0; at < count; at++) await call(dispatcher, "one");
    });
    const [spans = ""] = found.get("/v1/traces") ?? [];
    assert.equal(spans.match(/"spanId"/g)?.length, count - dropped);
    const metrics = (found.get("/v1/metrics") ?? []).at(-1) ?? "";
    assert.match(metrics, new RegExp(`"gate.telemetry.dropped".*?"asDouble":${dropped}[,}]`));
  });
}

Deno.test("a scenario name that is no identifier is in no attribute", async () => {
  const found = await received(async (_, dispatcher) => void await call(dispatcher, "a name\nof someone"));
  assert.ok(!(found.get("/v1/traces") ?? []).join("").includes("someone"));
});

Deno.test("log entries are exported with their severity, and without fields that can hold texts from outside", async () => {
  const written: string[] = [];
  const found = await received((telemetry) => {
    const log = telemetry.follow((_, message) => written.push(message));
    log("warn", "Certificate runs out", { subject: "CN=somebody", count: 3 });
    log("debug", "not exported", {});
    return Promise.resolve();
  });
  assert.deepEqual(written, ["Certificate runs out", "not exported"]);
  const [text = ""] = found.get("/v1/logs") ?? [];
  // deno-lint-ignore no-explicit-any
  const [record, ...others] = (JSON.parse(text) as any).resourceLogs[0].scopeLogs[0].logRecords;
  assert.equal(others.length, 0);
  assert.deepEqual([record.severityText, record.severityNumber, record.body.stringValue], [
    "WARN",
    13,
    "Certificate runs out",
  ]);
  assert.deepEqual(record.attributes, [{ key: "count", value: { intValue: "3" } }]);
});
