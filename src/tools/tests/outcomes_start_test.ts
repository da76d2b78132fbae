import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { type Bench, type BenchOptions, envelope, id, spec, withTools } from "./tools_fixture.ts";
import { type Case, testCases, testCoverage, UNKNOWN_ID } from "./outcome_case_fixture.ts";

const START: readonly Case[] = [
  { tool: "scenario_start", outcome: "accepted", input: ({ start }) => ({ ...start, creation_request_id: id(2) }) },
  {
    tool: "scenario_start",
    outcome: "accepted",
    name: "declared genesis and correlation",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      genesis: { kind: "declared", payload: { kind: "bytes", base64: "AAAA" } },
      correlation: { kind: "set", correlation_id: "ticket-7" },
    }),
  },
  {
    tool: "scenario_start",
    outcome: "creation_conflict",
    next: "scenario_resolve_creation",
    input: ({ start }) => ({ ...start, correlation: { kind: "set", correlation_id: "other" } }),
  },
  {
    tool: "scenario_start",
    outcome: "scenario_not_found",
    next: "scenarios_list",
    input: ({ start }) => ({ ...start, creation_request_id: id(2), scenario_id: "none" }),
  },
  {
    tool: "scenario_start",
    outcome: "law_not_found",
    next: "scenarios_list",
    input: ({ start }) => ({ ...start, creation_request_id: id(2), scenario_law_identity: UNKNOWN_ID }),
  },
  {
    tool: "scenario_start",
    outcome: "genesis_rejected",
    next: "scenario_start",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      genesis: { kind: "declared", payload: { kind: "bytes", base64: "A" } },
    }),
  },
  {
    tool: "scenario_start",
    outcome: "correlation_rejected",
    next: "scenario_start",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      correlation: { kind: "set", correlation_id: "no token" },
    }),
  },
];

testCases(START);
testCoverage(START, {
  scenario_start: "accepted creation_conflict scenario_not_found law_not_found genesis_rejected correlation_rejected",
});

const NO_TIME: BenchOptions = { time: { read: () => null } };
const NO_RUN_ID: BenchOptions = { runIds: { allocate: () => null } };

for (const [name, options, authority] of [["time", NO_TIME, "time"], ["run identity", NO_RUN_ID, "run_id"]] as const) {
  Deno.test(`scenario_start authority_unavailable (${name})`, () =>
    withTools(async (bench) => {
      const { start } = await withLaw(bench);
      const { outcome, result, next } = envelope(await bench.call("scenario_start", start));
      assert.equal(outcome, "authority_unavailable");
      assert.deepEqual([result["authority"], result["retryable"]], [authority, true]);
      assert.equal(((next as readonly JsonObject[])[0] as JsonObject)["tool"], "scenario_start");
    }, options));
}

async function withLaw(bench: Bench): Promise<{ readonly start: JsonObject }> {
  const defined = await bench.call("scenario_define", { spec: spec() });
  return {
    start: {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity: defined["scenario_law_identity"] ?? "",
      creation_request_id: id(1),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    },
  };
}
