import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { PolicyRuleConfig } from "../../config/types.ts";
import { type BenchOptions, id, stage } from "./tools_fixture.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import {
  at,
  BUILD,
  type Case,
  complete,
  JSON_PAYLOAD,
  ONE_STAGE,
  SUBMIT,
  testCases,
  testCoverage,
  UNKNOWN_ID,
} from "./outcome_case_fixture.ts";

const packet = { packet_id: "brief", schema_id: "brief", content_type: "application/json", payload: JSON_PAYLOAD };

function withPackets(entry: JsonObject): Readonly<Record<string, JsonValue>> {
  return { stages: [{ ...stage("build", "built"), entry_packets: [entry] }, stage("deploy", "deployed", "build")] };
}

function policy(engine: "deny_all" | "static", rule?: Partial<PolicyRuleConfig>): BenchOptions {
  const none = null;
  const empty: readonly never[] = [];
  const rules: PolicyRuleConfig[] = [{
    effect: "error",
    error_message: none,
    content_types: empty,
    packet_ids: empty,
    scenario_ids: empty,
    schema_ids: empty,
    stage_ids: empty,
    require_labels: empty,
    forbid_labels: empty,
    require_policy_tags: empty,
    forbid_policy_tags: empty,
    target_kinds: empty,
    targets: empty,
    ...rule,
  }];
  return { config: { policy: { engine, static: engine === "static" ? { default: "permit", rules } : null } } };
}

const OPEN: readonly Case[] = [
  { tool: "scenario_open_stage", outcome: "accepted", input: (s) => at(s, 1, BUILD) },
  {
    tool: "scenario_open_stage",
    outcome: "accepted",
    name: "with an entry packet",
    spec: withPackets(packet),
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stale",
    next: "scenario_status scenario_history scenario_open_stage",
    hint: { operation_id: id(1) },
    why: /If it still applies/,
    input: async (s) => {
      const old = s.head;
      await s.accept("scenario_submit", 9, SUBMIT);
      return at(s, 1, { ...BUILD, expected_head: old });
    },
  },
  ...([
    ["a revision to come", { revision: 7 }],
    ["a record of nothing", { record_id: UNKNOWN_ID }],
  ] as const).map(([name, change]): Case => ({
    tool: "scenario_open_stage",
    outcome: "stale",
    name,
    next: "scenario_status",
    why: /not of this run/,
    input: (s) => at(s, 1, { ...BUILD, expected_head: { ...s.head, ...change } }),
  })),
  {
    tool: "scenario_open_stage",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation scenario_status scenario_open_stage",
    hint: { operation_id: FRESH_ID, expected_head: null },
    input: async (s) => {
      await s.accept("scenario_open_stage", 1, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...BUILD, run_id: id(99) }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "run_not_found",
    name: "run of another scenario",
    input: (s) => at(s, 1, { ...BUILD, scenario_id: "other" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_found",
    next: "scenario_open_stage",
    input: (s) => at(s, 1, { stage_id: "__proto__" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_ready",
    next: "scenario_open_stage",
    result: { reason: "prerequisite", classification: "blocked" },
    input: (s) => at(s, 1, { stage_id: "deploy" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_ready",
    name: "run complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    result: { reason: "run_complete" },
    input: async (s) => {
      await complete(s);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_already_opened",
    next: "scenario_evaluate_stage",
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    spec: withPackets(packet),
    options: policy("deny_all"),
    next: "scenario_status scenario_open_stage",
    why: /ask for a rule/,
    result: { reason: "denied", packet_id: "brief", stage_id: "build", ready_frontier: ["build"] },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    name: "beside a stage that is ready",
    spec: { stages: [{ ...stage("build", "built"), entry_packets: [packet] }, stage("deploy", "deployed")] },
    options: policy("deny_all"),
    next: "scenario_open_stage",
    hint: { stage_id: "deploy", operation_id: FRESH_ID },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    name: "rule error",
    spec: withPackets(packet),
    options: policy("static", { error_message: "Ask the release desk", packet_ids: ["brief"] }),
    result: { reason: "rule_error", error_message: "Ask the release desk" },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    name: "packet expired",
    spec: withPackets({ ...packet, expiry: { kind: "unix_millis", value: 1 } }),
    next: "scenario_status scenario_define",
    result: { reason: "packet_expired" },
    input: (s) => at(s, 1, BUILD),
  },
];

testCases(OPEN);
testCoverage(OPEN, {
  scenario_open_stage: "accepted stale operation_conflict run_not_found stage_not_found stage_not_ready " +
    "stage_already_opened policy_denied",
});
