import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { evidence, id, stage } from "./tools_fixture.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import {
  BUILD,
  type Case,
  complete,
  JSON_PAYLOAD,
  ONE_STAGE,
  type Scene,
  SUBMIT,
  testCases,
  testCoverage,
} from "./outcome_case_fixture.ts";
import { next, SCANNED, scanner, trigger } from "./step_fixture.ts";

const NEXT = { tool: "scenario_next" } as const;
const TRIGGER = { tool: "scenario_trigger" } as const;

const packet = { packet_id: "brief", schema_id: "brief", content_type: "application/json", payload: JSON_PAYLOAD };

function withPacket(change: JsonObject = {}): Readonly<Record<string, JsonValue>> {
  const build = { ...stage("build", "built"), entry_packets: [{ ...packet, ...change }] };
  return { stages: [build, stage("deploy", "deployed", "build")] };
}

async function opened(s: Scene): Promise<void> {
  await s.accept("scenario_open_stage", 9, BUILD);
}

const STALE = async (s: Scene): Promise<JsonObject> => {
  const expected_head = s.head;
  await s.accept("scenario_submit", 9, SUBMIT);
  return { expected_head };
};

const STEPS: readonly Case[] = [
  { ...NEXT, outcome: "accepted", input: (s) => next(s, { caller_evidence: [evidence("built", true)] }) },
  { ...NEXT, outcome: "accepted", name: "a stage that is named", input: (s) => next(s, BUILD) },
  {
    ...NEXT,
    outcome: "accepted",
    name: "what bindings acquire",
    spec: SCANNED,
    options: scanner(true),
    result: { decision: { kind: "advance", stage_id: "build", unmet: [] } },
    input: (s) => next(s),
  },
  {
    ...NEXT,
    outcome: "stale",
    next: "scenario_status scenario_history scenario_next",
    input: async (s) => next(s, await STALE(s)),
  },
  {
    ...NEXT,
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation scenario_status scenario_next",
    hint: { expected_head: null },
    input: async (s) => {
      await s.bench.call("scenario_next", next(s));
      return next(s, { caller_evidence: [] });
    },
  },
  { ...NEXT, outcome: "run_not_found", next: "scenarios_list", input: (s) => next(s, { run_id: id(99) }) },
  { ...NEXT, outcome: "stage_not_found", next: "scenario_next", input: (s) => next(s, { stage_id: "none" }) },
  {
    ...NEXT,
    outcome: "stage_not_ready",
    next: "scenario_next",
    result: { classification: "blocked", ready_frontier: ["build"] },
    input: (s) => next(s, { stage_id: "deploy" }),
  },
  {
    ...NEXT,
    outcome: "stage_not_open",
    next: "scenario_next",
    result: { classification: "complete", ready_frontier: ["deploy"] },
    input: async (s) => {
      await complete(s);
      return next(s, BUILD);
    },
  },
  {
    ...NEXT,
    outcome: "policy_denied",
    next: "scenario_status scenario_next",
    why: /ask for a rule/,
    spec: withPacket(),
    options: { config: { policy: { engine: "deny_all", static: null } } },
    result: { reason: "denied", packet_id: "brief" },
    input: (s) => next(s, { caller_evidence: [evidence("built", true)] }),
  },
  {
    ...NEXT,
    outcome: "policy_denied",
    name: "beside a stage that is ready",
    next: "scenario_next",
    hint: { stage_id: "deploy", request_id: FRESH_ID },
    spec: { stages: [{ ...stage("build", "built"), entry_packets: [packet] }, stage("deploy", "deployed")] },
    options: { config: { policy: { engine: "deny_all", static: null } } },
    input: (s) => next(s),
  },
  {
    ...NEXT,
    outcome: "policy_denied",
    name: "packet expired",
    spec: withPacket({ expiry: { kind: "unix_millis", value: 1 } }),
    result: { reason: "packet_expired" },
    input: (s) => next(s),
  },
  {
    ...NEXT,
    outcome: "evidence_rejected",
    next: "scenario_next",
    name: "before policy",
    spec: withPacket(),
    options: { config: { policy: { engine: "deny_all", static: null } } },
    input: (s) => next(s, { caller_evidence: [evidence("none", true)] }),
  },
  {
    ...NEXT,
    outcome: "evidence_rejected",
    name: "unknown binding",
    input: (s) => next(s, { local_acquisition: [{ binding_id: "none" }] }),
  },
  {
    ...NEXT,
    outcome: "acquisition_failed",
    next: "scenario_next",
    spec: SCANNED,
    options: scanner("unreachable"),
    input: (s) => next(s),
  },
  {
    ...NEXT,
    outcome: "run_complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    input: async (s) => {
      await complete(s);
      return next(s);
    },
  },
  { ...TRIGGER, outcome: "accepted", name: "payload", input: (s) => trigger(s, { payload: JSON_PAYLOAD }) },
  {
    ...TRIGGER,
    outcome: "accepted",
    name: "evaluation",
    spec: SCANNED,
    options: scanner(false),
    result: {
      decisions: [{
        kind: "hold",
        stage_id: "build",
        unmet: ["built"],
        sentences: ["built: found a value that is hidden from callers of the server (evidence.allow_raw_values) ✗"],
      }],
    },
    input: async (s) => {
      await opened(s);
      return trigger(s);
    },
  },
  {
    ...TRIGGER,
    outcome: "stale",
    next: "scenario_status scenario_history scenario_trigger",
    input: async (s) => trigger(s, {}, await STALE(s)),
  },
  {
    ...TRIGGER,
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation scenario_status scenario_trigger",
    hint: { expected_head: null },
    input: async (s) => {
      await s.bench.call("scenario_trigger", trigger(s, { payload: JSON_PAYLOAD }));
      return trigger(s, { payload: { kind: "json", value: 2 } });
    },
  },
  { ...TRIGGER, outcome: "run_not_found", next: "scenarios_list", input: (s) => trigger(s, {}, { run_id: id(99) }) },
  {
    ...TRIGGER,
    outcome: "stage_not_open",
    next: "scenario_status",
    result: { reason: "no_open_stage_with_binding" },
    input: async (s) => {
      await opened(s);
      return trigger(s);
    },
  },
  ...([
    ["content type of another payload", { payload: JSON_PAYLOAD, content_type: "text/plain" }, "content_type_rejected"],
    ["no media type", { payload: JSON_PAYLOAD, content_type: "json" }, "content_type_rejected"],
    ["bytes that are no base64", { payload: { kind: "bytes", base64: "?" } }, "payload_rejected"],
  ] as const).map(([name, change]): Case => ({
    ...TRIGGER,
    outcome: "evidence_rejected",
    name,
    next: "scenario_trigger",
    input: (s) => trigger(s, change),
  })),
  {
    ...TRIGGER,
    outcome: "acquisition_failed",
    next: "scenario_trigger",
    spec: SCANNED,
    options: scanner("unreachable"),
    input: async (s) => {
      await opened(s);
      return trigger(s, { payload: JSON_PAYLOAD });
    },
  },
  {
    ...TRIGGER,
    outcome: "run_complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    input: async (s) => {
      await complete(s);
      return trigger(s, { payload: JSON_PAYLOAD });
    },
  },
];

testCases(STEPS);
testCoverage(STEPS, {
  scenario_next: "accepted stale operation_conflict run_not_found stage_not_found stage_not_ready stage_not_open " +
    "policy_denied evidence_rejected acquisition_failed run_complete",
  scenario_trigger: "accepted stale operation_conflict run_not_found stage_not_open evidence_rejected " +
    "acquisition_failed run_complete",
});
