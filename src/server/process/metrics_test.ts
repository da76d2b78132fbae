import assert from "node:assert/strict";
import type { CallOutcome } from "../protocol/dispatcher.ts";
import { LOCAL } from "../../tools/tests/tools_fixture.ts";
import { createMetrics } from "./metrics.ts";
import { meterDispatcher, outcomeLabel } from "../protocol/metered_dispatcher.ts";
import { TOOLS_ALONE } from "../protocol/offer.ts";

Deno.test("render() writes counts, cumulative buckets of times, and gauges", () => {
  const metrics = createMetrics();
  metrics.toolCalled("scenario_status", "ok", 3);
  metrics.toolCalled("scenario_status", "ok", 30);
  metrics.toolCalled("scenario_status", "not_found", 20_000);
  metrics.answered("/mcp", 200, 1);
  metrics.refused('a"b\n');
  metrics.gauge("gate_inflight", "Requests in work.", () => 3);
  metrics.gauge("gate_hidden", "Nothing at the moment.", () => null);
  const batches = { name: "gate_batches_total", type: "counter", help: "Batches." } as const;
  metrics.source(
    () => [{ ...batches, labels: { store: "a" }, value: 9 }, { ...batches, labels: { store: "b" }, value: 2 }],
  );
  const lines = metrics.render(LOCAL).split("\n");
  const expected = [
    'gate_tool_calls_total{tool="scenario_status",outcome="ok"} 2',
    'gate_tool_calls_total{tool="scenario_status",outcome="not_found"} 1',
    'gate_tool_call_seconds_bucket{tool="scenario_status",le="0.0025"} 0',
    'gate_tool_call_seconds_bucket{tool="scenario_status",le="0.005"} 1',
    'gate_tool_call_seconds_bucket{tool="scenario_status",le="0.05"} 2',
    'gate_tool_call_seconds_bucket{tool="scenario_status",le="10"} 2',
    'gate_tool_call_seconds_bucket{tool="scenario_status",le="+Inf"} 3',
    'gate_tool_call_seconds_count{tool="scenario_status"} 3',
    'gate_http_requests_total{route="/mcp",status="200"} 1',
    'gate_refusals_total{reason="a\\"b\\n"} 1',
    "# TYPE gate_inflight gauge",
    "gate_inflight 3",
    "# TYPE gate_batches_total counter",
    'gate_batches_total{store="a"} 9',
    'gate_batches_total{store="b"} 2',
  ];
  for (const line of expected) assert.ok(lines.includes(line), line);
  assert.equal(lines.some((line) => line.includes("gate_hidden")), false);
  assert.equal(lines.filter((line) => line === "# TYPE gate_batches_total counter").length, 1);
});

Deno.test("refused() keeps a bounded table", () => {
  const metrics = createMetrics();
  for (let index = 0; index < 500; index++) metrics.refused(`reason_${index}`);
  const reasons = metrics.render(LOCAL).split("\n").filter((line) => line.startsWith("gate_refusals_total{"));
  assert.equal(reasons.length, 65);
  assert.ok(reasons.includes('gate_refusals_total{reason="other"} 436'));
});

const OUTCOMES: readonly (readonly [outcome: CallOutcome, word: string])[] = [
  [{ ok: true, answer: { ok: true, result: { items: [] } } }, "ok"],
  [{ ok: true, answer: { ok: true, result: { outcome: { outcome: "accepted", result: {} } } } }, "accepted"],
  [{ ok: true, answer: { ok: true, result: {}, text: '{"outcome":{"outcome":"stale","result":{}}}' } }, "stale"],
  [{ ok: true, answer: { ok: true, result: {}, text: '{"status":"active"}' } }, "ok"],
  [{ ok: true, answer: { ok: true, result: { outcome: "unknown" } } }, "unknown"],
  [{ ok: true, answer: { ok: true, result: {}, text: '{"outcome":"unknown","trace":[]}' } }, "unknown"],
  [{ ok: true, answer: { ok: true, result: { publication: { outcome: "integrity_failure" } } } }, "integrity_failure"],
  [
    { ok: true, answer: { ok: true, result: {}, text: '{"publication":{"outcome":"published","result":{}}}' } },
    "published",
  ],
  [{ ok: true, answer: { ok: true, result: { outcome: 'x"y' } } }, "ok"],
  [
    { ok: true, answer: { ok: false, error: { code: "c", kind: "conflict", message: "", retryable: false } } },
    "conflict",
  ],
  [{ ok: false, error: { kind: "internal", message: "" } }, "internal"],
];

Deno.test("outcomeLabel() returns one word for the outcome of a call", () => {
  for (const [outcome, word] of OUTCOMES) assert.equal(outcomeLabel(outcome), word);
});

Deno.test("meterDispatcher() counts a rejected tool by its name, and an unknown one as unknown", async () => {
  const metrics = createMetrics();
  const dispatcher = meterDispatcher({
    offer: TOOLS_ALONE,
    listing: () => Promise.resolve([]),
    taskRule: () => Promise.resolve(null),
    call: () => Promise.resolve({ ok: false, error: { kind: "unauthorized", message: "" } }),
    read: () => Promise.reject(new Error("Nothing to read")),
  }, metrics);
  for (const name of ["runpack_export", "no_such_tool"]) {
    await dispatcher.call(name, {}, { principal: LOCAL, signal: new AbortController().signal, correlationId: null });
  }
  const lines = metrics.render(LOCAL).split("\n");
  for (const tool of ["runpack_export", "unknown"]) {
    assert.ok(lines.includes(`gate_tool_calls_total{tool="${tool}",outcome="unauthorized"} 1`), tool);
  }
});
