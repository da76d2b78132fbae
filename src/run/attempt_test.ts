import assert from "node:assert/strict";
import {
  accepted,
  acquiredItem,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  int,
  KEY_1,
  NOW,
  oneConditionLaw,
  openCommand,
  presented,
  signed,
  stampsAt,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import type { Editable } from "../../tests/simulation/kernel/law_specs.ts";
import type { Accepted, Environment, EvaluateCommand } from "./command.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { CompiledLaw } from "./compile.ts";
import { decide } from "./decide/decide.ts";
import type { AcquisitionWitness, ProcedureName, RecordedEvidence, RunState } from "./types.ts";

const HOUR: Editable = { freshness: { freshness: "MaximumAge", maximum_age_millis: 3_600_000 } };
const DAY = 86_400_000;

type Evidence = (law: CompiledLaw, state: RunState, now: number) => Partial<EvaluateCommand>;

const typed = (value: number | string): TypedValue =>
  typeof value === "number" ? int(value) : { value, value_type: "Timestamp" };
const acquired =
  (binding: string, value: number | string | null, witness: Partial<AcquisitionWitness> = {}): Evidence =>
  (
    law,
    _state,
    now,
  ) => ({
    acquired: [acquiredItem(law, binding, value === null ? null : typed(value), {}, { acquired_at: now, ...witness })],
  });
const env = acquired("env-1", 3);
const time = acquired("time-1", 3);
const givenTime = acquired("time-1", 3, { trigger_time_given: true });
const caller: Evidence = () => ({ caller_evidence: [callerItem("c", int(3))] });
const signedCaller: Evidence = (law, { run_key, head }, now) => {
  const scope = { run_id: run_key.run_id, stage_id: "s", expected_head: head };
  const item = signed(law, presented("c", int(3), { observed_at: now }), KEY_1, {
    ...scope,
    evaluated_at: now,
    clock_behind_run: false,
  });
  const { signature, observed_at } = item;
  assert.ok(signature !== undefined && observed_at !== undefined);
  return { caller_evidence: [callerItem("c", int(3), { signature, observed_at })] };
};
const both = (a: Evidence, b: Evidence): Evidence => (law, state, now) => ({
  ...a(law, state, now),
  ...b(law, state, now),
});

/** The run of {@link oneConditionLaw} at its open stage, its last record accepted at `last`. */
function openedAt(law: CompiledLaw, last: number, environment: Environment): RunState {
  const { state } = accepted(decide(law, null, createCommand(), stampsAt(last), environment));
  return accepted(decide(law, state, openCommand(2, state.head, "s"), stampsAt(last), environment)).state;
}

interface Judged {
  readonly outcome: string;
  readonly evidence: readonly RecordedEvidence[];
  readonly acceptedAt: number;
  readonly decision: Accepted;
}

/** Evaluates at a reading that is some milliseconds behind the run. */
function evaluateBehind(
  behind: number,
  policy: Editable,
  evidence: Evidence,
  procedure: ProcedureName = "gate-kernel-2",
  changes: Editable = {},
): Judged {
  const law = oneConditionLaw(policy, changes);
  const trust = {
    min_lane: "asserted",
    default_policy: trusting(KEY_1),
    providers: [{ provider_id: "scanner", policy: "audit" }],
  } as const;
  const environment = { ...environmentWith({ trust }), procedure };
  const state = openedAt(law, NOW, environment);
  const now = NOW - behind;
  const command = evaluateCommand(3, state.head, "s", evidence(law, state, now));
  const decision = accepted(decide(law, state, command, stampsAt(now), environment));
  const [{ record }] = decision.records;
  assert.ok(record.record_kind === "stage_evaluated");
  const { outcome, evidence: items } = record.body;
  return { outcome, evidence: items, acceptedAt: record.acceptance_time.accepted_audit_instant, decision };
}

const outcomeOf = ({ outcome, evidence }: Judged): string =>
  [outcome, ...evidence.map(({ error, reason }) => error?.code ?? reason ?? "counts")].join(" ");

const NOT_EXISTS = { predicate: { predicate: "NotExists" } };
const ANY: Editable = { combination: { combination: "AnyQualifying" } };

const CLOCK_ROWS: readonly [
  name: string,
  behind: number,
  policy: Editable,
  evidence: Evidence,
  outcome: string,
  law?: Editable,
][] = [
  ["the clock stands still", 0, HOUR, env, "true counts"],
  ["the clock goes on", -1, HOUR, env, "true counts"],
  ["59,999 ms behind", 59_999, HOUR, env, "true counts"],
  ["60,000 ms behind", 60_000, HOUR, env, "true counts"],
  ["60,001 ms behind", 60_001, HOUR, env, "unknown clock_behind_run"],
  ["400 days behind", 400 * DAY, HOUR, env, "unknown clock_behind_run"],
  ["a signed item of a caller, 60,000 ms behind", 60_000, HOUR, signedCaller, "true counts"],
  ["a signed item of a caller, 60,001 ms behind", 60_001, HOUR, signedCaller, "unknown clock_behind_run"],
  [
    "an item older than its maximum age",
    0,
    HOUR,
    acquired("env-1", 3, { acquired_at: NOW - 3_600_001 }),
    "unknown not_fresh",
  ],
  [
    "an item as old as its maximum age at the reading",
    60_000,
    HOUR,
    acquired("env-1", 3, { acquired_at: NOW - 3_660_000 }),
    "true counts",
  ],
  [
    "an item that was acquired after the reading",
    60_000,
    HOUR,
    acquired("env-1", 3, { acquired_at: NOW }),
    "unknown not_fresh",
  ],
  ["the provider time, 60,000 ms behind", 60_000, {}, time, "true counts"],
  ["the provider time, 60,001 ms behind", 60_001, {}, time, "unknown clock_behind_run"],
  ["the provider time at a caller's instant", 60_001, {}, givenTime, "true counts"],
  ["no age and no time asked for", 60_001, {}, env, "true counts"],
  [
    "an item of a caller beside the provider time",
    60_001,
    ANY,
    both(caller, time),
    "unknown clock_behind_run clock_behind_run",
  ],
  ["an item of a caller beside a caller's instant", 60_001, ANY, both(caller, givenTime), "true counts counts"],
  ["nothing found, 60,000 ms behind", 60_000, HOUR, acquired("env-1", null), "true counts", NOT_EXISTS],
  ["nothing found, 60,001 ms behind", 60_001, HOUR, acquired("env-1", null), "unknown clock_behind_run", NOT_EXISTS],
];

const DAY_AGO: Editable = {
  observation_domain: { domain: "Timestamp" },
  predicate: {
    predicate: "GreaterThanOrEqual",
    expected: { relative_to: "evaluation_time", offset_milliseconds: -DAY },
  },
};
const stamped = (millisecondsBeforeNow: number): Evidence =>
  acquired("env-1", new Date(NOW - millisecondsBeforeNow).toISOString());
const dated = acquired("env-1", new Date(NOW).toISOString().slice(0, 10));
const callerStamp: Evidence = (_law, _state, now) => ({
  caller_evidence: [callerItem("c", { value: new Date(now).toISOString(), value_type: "Timestamp" })],
});

/** Conditions on an instant at most a day before the evaluation, which the reading of each row decides. */
const RELATIVE_ROWS: typeof CLOCK_ROWS = [
  ["an instant a day before the evaluation", 0, {}, stamped(DAY), "true counts", DAY_AGO],
  ["an instant a day and a millisecond before it", 0, {}, stamped(DAY + 1), "false counts", DAY_AGO],
  ["an instant a day before a reading 60,000 ms behind", 60_000, {}, stamped(DAY + 60_000), "true counts", DAY_AGO],
  ["an instant a day and 1 ms before that", 60_000, {}, stamped(DAY + 60_001), "false counts", DAY_AGO],
  ["an instant, 60,001 ms behind", 60_001, {}, stamped(0), "unknown clock_behind_run", DAY_AGO],
  ["an old instant, 60,001 ms behind", 60_001, {}, stamped(9 * DAY), "unknown clock_behind_run", DAY_AGO],
  ["an instant of a caller, 60,000 ms behind", 60_000, {}, callerStamp, "true counts", DAY_AGO],
  ["an instant of a caller, 60,001 ms behind", 60_001, {}, callerStamp, "unknown clock_behind_run", DAY_AGO],
  ["a day against a relative instant", 0, {}, dated, "unknown counts", DAY_AGO],
];

for (const [name, behind, policy, evidence, outcome, law] of [...CLOCK_ROWS, ...RELATIVE_ROWS]) {
  Deno.test(`evaluation by gate-kernel-2, ${name}: ${outcome}`, () => {
    assert.equal(outcomeOf(evaluateBehind(behind, policy, evidence, "gate-kernel-2", law)), outcome);
  });
}

Deno.test("a run's stamps never go backwards, unlike the clock", () => {
  for (const procedure of ["gate-kernel-1", "gate-kernel-2"] as const) {
    assert.equal(evaluateBehind(400 * DAY, {}, env, procedure).acceptedAt, NOW);
  }
});

Deno.test("gate-kernel-1 measures ages at the accepted instant and has no error of the clock", () => {
  const rows: [number, Evidence, string][] = [
    [60_001, env, "true counts"],
    [400 * DAY, env, "unknown not_fresh"],
    [60_001, time, "true counts"],
  ];
  for (const [behind, evidence, outcome] of rows) {
    assert.equal(outcomeOf(evaluateBehind(behind, HOUR, evidence, "gate-kernel-1")), outcome);
  }
});

Deno.test("gate-kernel-1 had no relative time, so a comparison with one is Unknown", () => {
  const judged = evaluateBehind(0, {}, stamped(0), "gate-kernel-1", DAY_AGO);
  assert.equal(outcomeOf(judged), "unknown counts");
});

Deno.test("an item that cannot be judged by the clock keeps its value, and the record retains it", () => {
  const { evidence: [item], decision: { records: [{ material }] } } = evaluateBehind(60_001, HOUR, env);
  assert.deepEqual([item?.value_type, item?.qualified, item?.found_nothing], ["Integer", false, undefined]);
  assert.deepEqual(material.map(({ identity }) => identity), [item?.value_identity]);
  const { evidence: [nothing] } = evaluateBehind(60_001, HOUR, acquired("env-1", null), "gate-kernel-2", NOT_EXISTS);
  assert.deepEqual([nothing?.found_nothing, nothing?.error?.code], [true, "clock_behind_run"]);
});

Deno.test("an item with another error keeps it", () => {
  const failed: Evidence = (law) => ({ acquired: [acquiredItem(law, "env-1", { error: "env_not_allowed" })] });
  assert.equal(outcomeOf(evaluateBehind(60_001, HOUR, failed)), "unknown env_not_allowed");
});
