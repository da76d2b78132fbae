/**
 * A run whose clock jumped 400 days ahead once. Conditions that depend on the time authority are Unknown until it has
 * caught up.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { PresentedEvidence } from "../../../src/run/evidence.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import {
  acquiredItem,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  lawOf,
  NOW,
  openCommand,
  SHA256,
  submitCommand,
} from "../kernel/fixture.ts";
import { type Editable, policy, stage } from "../kernel/law_specs.ts";
import type { ForgeryRow } from "./forgeries.ts";
import type { Parts } from "./forge.ts";
import { type PlayedRun, playRun, type RunMove } from "../runpack/run.ts";

const HOUR = { freshness: "MaximumAge", maximum_age_millis: 3_600_000 };
const DAY = 86_400_000;

/** An instant at most a day before the evaluation. */
const YOUNG: JsonObject = {
  observation_domain: { domain: "Timestamp" },
  predicate: {
    predicate: "GreaterThanOrEqual",
    expected: { relative_to: "evaluation_time", offset_milliseconds: -DAY },
  },
};

function contractOf(provider_id: string): JsonValue {
  return {
    provider_id,
    transport: "builtin",
    checks: [{
      check_id: "get",
      params_required: false,
      params_schema: true,
      result_schema: {},
      allowed_comparators: ["equals", "greater_than_or_equal"],
      anchor_types: [],
    }],
  };
}

const CONTRACTS = ["env", "time"].map((provider_id) => {
  const contract = contractOf(provider_id);
  return { provider_id, identity: identify(SHA256, "contract", contract), body: canonicalize(contract) };
});

function clockLaw(): CompiledLaw {
  const condition = (condition_id: string, changes: Readonly<Record<string, JsonValue>>): JsonValue => ({
    condition_id,
    observation_domain: { domain: "Boolean" },
    predicate: { predicate: "Equals", expected: asJson(bool(true)) },
    evidence_use_policy: policy(changes),
  });
  const acquired = { allowed_channels: ["local_acquisition"] };
  const binding = (condition_id: string, provider_id: string): JsonValue => ({
    binding_id: condition_id,
    condition_id,
    channel: "local_acquisition",
    provider_id,
    check_id: "get",
  });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "clock",
    namespace_id: 2,
    conditions: [
      condition("fresh", { ...acquired, freshness: HOUR }),
      condition("open", acquired),
      condition("plain", {}),
      condition("said", { freshness: HOUR }),
      { ...condition("young", acquired) as JsonObject, ...YOUNG },
    ],
    acquisition_bindings: [binding("fresh", "env"), binding("open", "time"), binding("young", "env")],
    stages: [{
      ...stage("gate", "plain"),
      completion_requirement: { And: ["fresh", "open", "plain", "said", "young"].map((Condition) => ({ Condition })) },
    }],
    completion_requirement: { Condition: "gate" },
  });
}

function acquiredAt(law: CompiledLaw, binding: string, value: TypedValue, acquired_at: number): PresentedEvidence {
  const { provider_id = "" } = law.bindingIndex.get(binding) ?? {};
  const contract_identity = CONTRACTS.find((one) => one.provider_id === provider_id)?.identity ?? "";
  const item = acquiredItem(law, binding, value, {}, { contract_identity, acquired_at });
  const { value_identity = null, content_hash = null, acquisition } = item;
  const provider_result = asJson({
    value: { kind: "json", content_hash, value_identity },
    ...{ lane: "verified", error: null, evidence_hash: content_hash, evidence_ref: null },
    ...{ evidence_anchor: null, signature: null, content_type: null },
  });
  return { ...item, acquisition: { ...acquisition, provider_result } as NonNullable<typeof acquisition> };
}

function backupAt(instant: number): TypedValue {
  return { value: new Date(instant).toISOString(), value_type: "Timestamp" };
}

const evaluate = (clock: number): RunMove => (law, state, operation) =>
  evaluateCommand(operation, state.head, "gate", {
    caller_evidence: [callerItem("plain", bool(true)), callerItem("said", bool(true))],
    acquired: [
      ...["fresh", "open"].map((binding) => acquiredAt(law, binding, bool(true), NOW + clock)),
      acquiredAt(law, "young", backupAt(NOW + clock - DAY), NOW + clock),
    ],
  });

/** Plays the run. */
export function playClockRun(): PlayedRun {
  const clock = [0, 0, 400 * DAY, 400 * DAY - 60_000, 400 * DAY - 60_001];
  return playRun({
    law: clockLaw(),
    environment: environmentWith(),
    start: createCommand({
      contracts: CONTRACTS.map(({ provider_id, identity }) => ({ provider_id, contract_identity: identity })),
    }),
    moves: [
      (_law, state, operation) => openCommand(operation, state.head, "gate"),
      evaluate(0),
      (_law, state, operation) => submitCommand(operation, state.head),
      evaluate(clock[3] ?? 0),
      evaluate(clock[4] ?? 0),
    ],
    clock: (move) => clock[move] ?? 0,
    artifacts: CONTRACTS.map(({ identity, body }) => ({ kind: "contract", identity, body })),
  });
}

/** Indexes of records: the evaluations 60,000 and 60,001 ms behind the run. */
const AT = { tolerated: 4, behind: 5 };
const CLOCK_ERROR = {
  code: "clock_behind_run",
  message: "The time authority reads more than 60000 ms before the run's last accepted instant",
};

/** Changes an item of evidence and the line of its condition, in the record and in its receipt. */
function changeItem(parts: Parts, at: number, item: number, line: Editable, change: (item: Editable) => void): void {
  for (const attempt of [parts.records[at].body, parts.receipts[at].result.attempt]) {
    const { condition_id } = attempt.evidence[item];
    change(attempt.evidence[item]);
    const index = attempt.trace.findIndex((one: Editable) => one.condition_id === condition_id);
    const { path } = attempt.trace[index];
    attempt.trace[index] = { path, condition_id, ...line };
  }
}

const counts = (item: Editable): void => {
  delete item.error;
  item.qualified = true;
};
const errs = (item: Editable): void => void Object.assign(item, { error: CLOCK_ERROR, qualified: false });
const JUDGED = { value: "true" };
const ERROR = { value: "unknown", reason: "error" };
const MISMATCH = { evidence_use_policy_satisfaction: "qualification_mismatch" };
const DECISION = { pure_semantic_replay: "decision_mismatch" };

/** Forgeries of the run, with the codes of the claims that each violates. */
export const CLOCK_FORGERIES: readonly ForgeryRow[] = [
  {
    name: "an age that a clock behind the run measured",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.behind, 2, JUDGED, counts),
  },
  {
    name: "an age that a clock behind the run measured, another condition withheld",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => {
      parts.withheld.push("plain");
      changeItem(parts, AT.behind, 2, JUDGED, counts);
    },
  },
  {
    name: "a time that a clock behind the run gave",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.behind, 3, JUDGED, counts),
  },
  {
    name: "an item of a caller that a clock behind the run measured",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.behind, 1, JUDGED, counts),
  },
  {
    name: "a relative instant that a clock behind the run judged",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.behind, 4, JUDGED, counts),
  },
  {
    name: "a relative instant judged by another time than the record's",
    violates: DECISION,
    forge: (parts) => changeItem(parts, AT.tolerated, 4, { value: "unknown", reason: "type_mismatch" }, () => {}),
  },
  {
    name: "an item that no clock rules out, ruled out by the clock",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.behind, 0, ERROR, errs),
  },
  {
    name: "an item that a clock 60,000 ms behind rules out",
    violates: { ...MISMATCH, ...DECISION },
    forge: (parts) => changeItem(parts, AT.tolerated, 2, ERROR, errs),
  },
  {
    name: "an item with another error beside its value",
    violates: { evidence_structural_admission: "item_invalid", ...DECISION },
    forge: (parts) =>
      changeItem(parts, AT.behind, 0, ERROR, (item) => {
        errs(item);
        item.error = { code: "env_not_allowed", message: "" };
      }),
  },
];
