import { id } from "./tools_fixture.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import {
  at,
  BUILD,
  type Case,
  complete,
  ONE_STAGE,
  SUBMIT,
  testCases,
  testCoverage,
  UNKNOWN_ID,
} from "./outcome_case_fixture.ts";

const SUBMISSIONS: readonly Case[] = [
  { tool: "scenario_submit", outcome: "accepted", input: (s) => at(s, 1, SUBMIT) },
  {
    tool: "scenario_submit",
    outcome: "accepted",
    name: "on a complete run",
    spec: ONE_STAGE,
    input: async (s) => {
      await complete(s);
      return at(s, 1, SUBMIT);
    },
  },
  {
    tool: "scenario_submit",
    outcome: "accepted",
    name: "external content",
    input: (s) =>
      at(s, 1, {
        ...SUBMIT,
        payload: {
          kind: "external",
          content_ref: { uri: "s3://b/k", content_hash: { algorithm: "sha256", value: UNKNOWN_ID } },
        },
      }),
  },
  {
    tool: "scenario_submit",
    outcome: "stale",
    next: "scenario_status scenario_history scenario_submit",
    why: /If it still applies/,
    input: async (s) => {
      const old = s.head;
      await s.accept("scenario_submit", 9, SUBMIT);
      return at(s, 1, { ...SUBMIT, expected_head: old });
    },
  },
  {
    tool: "scenario_submit",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation scenario_status scenario_submit",
    hint: { operation_id: FRESH_ID, expected_head: null },
    input: async (s) => {
      await s.accept("scenario_submit", 1, SUBMIT);
      return at(s, 1, { ...SUBMIT, payload: { kind: "json", value: 2 } });
    },
  },
  {
    tool: "scenario_submit",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...SUBMIT, run_id: id(99) }),
  },
  {
    tool: "scenario_submit",
    outcome: "stage_not_open",
    next: "scenario_open_stage",
    input: (s) => at(s, 1, { ...SUBMIT, scope: { kind: "stage_open", ...BUILD, stage_open_record_id: UNKNOWN_ID } }),
  },
  {
    tool: "scenario_submit",
    outcome: "stage_open_mismatch",
    next: "scenario_submit",
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      return at(s, 1, { ...SUBMIT, scope: { kind: "stage_open", ...BUILD, stage_open_record_id: UNKNOWN_ID } });
    },
  },
  ...([
    ["no media type", { content_type: "json" }],
    ["text for a json payload", { content_type: "text/plain" }],
    ["JSON for a bytes payload", { payload: { kind: "bytes", base64: "AAAA" } }],
  ] as const).map(([name, change]): Case => ({
    tool: "scenario_submit",
    outcome: "content_type_rejected",
    name,
    next: "scenario_submit",
    input: (s) => at(s, 1, { ...SUBMIT, ...change }),
  })),
  {
    tool: "scenario_submit",
    outcome: "payload_rejected",
    next: "scenario_submit",
    spec: { value_limits: { selection: "Explicit", maximum_value_bytes: 10, maximum_payload_bytes: 10 } },
    input: (s) => at(s, 1, { ...SUBMIT, payload: { kind: "json", value: "123456789" } }),
  },
  {
    tool: "scenario_submit",
    outcome: "payload_rejected",
    name: "bytes that are no base64",
    next: "scenario_submit",
    input: (s) =>
      at(s, 1, { ...SUBMIT, content_type: "application/octet-stream", payload: { kind: "bytes", base64: "a" } }),
  },
];

testCases(SUBMISSIONS);
testCoverage(SUBMISSIONS, {
  scenario_submit: "accepted stale operation_conflict run_not_found stage_not_open stage_open_mismatch " +
    "content_type_rejected payload_rejected",
});
