import type { JsonObject } from "../../canonical/json.ts";
import { condition, evidence, id } from "./tools_fixture.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import {
  at,
  BUILD,
  type Case,
  complete,
  ONE_STAGE,
  type Scene,
  testCases,
  testCoverage,
} from "./outcome_case_fixture.ts";

async function opened(s: Scene, change: JsonObject): Promise<JsonObject> {
  await s.accept("scenario_open_stage", 9, BUILD);
  return at(s, 1, { ...BUILD, ...change });
}

const JSON_CONDITION = {
  conditions: [
    condition("built", { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "report", version: "1" } }, {
      predicate: "Exists",
    }),
    condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
  ],
};

const EVALUATE: readonly Case[] = [
  {
    tool: "scenario_evaluate_stage",
    outcome: "accepted",
    input: (s) => opened(s, { caller_evidence: [evidence("built", true)] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "accepted",
    name: "no bindings to run",
    input: (s) => opened(s, { local_acquisition: [] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stale",
    next: "scenario_status scenario_history scenario_evaluate_stage",
    why: /If it still applies/,
    input: async (s) => {
      const old = s.head;
      return { ...await opened(s, {}), expected_head: old };
    },
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation scenario_status scenario_evaluate_stage",
    hint: { operation_id: FRESH_ID, expected_head: null },
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      await s.accept("scenario_evaluate_stage", 1, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...BUILD, run_id: id(99) }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_found",
    next: "scenario_evaluate_stage",
    input: (s) => at(s, 1, { stage_id: "none" }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_open",
    next: "scenario_open_stage",
    result: { classification: "ready_unopened" },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_open",
    name: "run complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    result: { reason: "run_complete" },
    input: async (s) => {
      await complete(s);
      return at(s, 1, BUILD);
    },
  },
  ...([
    ["unknown condition", evidence("none", true)],
    ["condition of another stage", evidence("deployed", true)],
    ["another value type", evidence("built", "true", "String")],
    ["value of no such type", evidence("built", "true")],
    ["retention that differs", { ...evidence("built", true), retention: { retention: "RetainDigestOnly" } }],
  ] as const).map(([name, item]): Case => ({
    tool: "scenario_evaluate_stage",
    outcome: "evidence_rejected",
    name,
    next: "scenario_evaluate_stage",
    input: (s) => opened(s, { caller_evidence: [item] }),
  })),
  {
    tool: "scenario_evaluate_stage",
    outcome: "evidence_rejected",
    name: "unknown binding",
    input: (s) => opened(s, { local_acquisition: [{ binding_id: "none" }] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "acquisition_failed",
    name: "schema without a verdict",
    spec: JSON_CONDITION,
    schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    next: "scenario_define",
    input: (s) => opened(s, { caller_evidence: [evidence("built", 1, "Json")] }),
  },
];

testCases(EVALUATE);
testCoverage(EVALUATE, {
  scenario_evaluate_stage: "accepted stale operation_conflict run_not_found stage_not_found stage_not_open " +
    "evidence_rejected acquisition_failed",
});
