import assert from "node:assert/strict";
import {
  accepted,
  createCommand,
  environmentWith,
  lawOf,
  oneConditionLaw,
  stampsAt,
} from "../../../tests/simulation/kernel/fixture.ts";
import { type Editable, flag, stage } from "../../../tests/simulation/kernel/law_specs.ts";
import type { CompiledCondition, CompiledLaw, CompiledStage } from "../compile.ts";
import { decide } from "../decide/decide.ts";
import {
  countingEvidence,
  DESCRIBED_CONDITIONS,
  EVIDENCE_CHARACTERS,
  missingOfRun,
  missingOfStage,
  missingOfTrace,
  SETS_CHARACTERS,
  type StageMissing,
  type VerifiedOnly,
  verifiedOnlyUnder,
} from "./stage.ts";
import type { RunState, TraceItem } from "../types.ts";

const stageOf = (law: CompiledLaw): CompiledStage => law.stages[0] as CompiledStage;

/** Asserted evidence counts. */
const ANY_LANE: VerifiedOnly = () => false;

/** What the first stage of a law is missing. */
const missingOfFirst = (law: CompiledLaw): StageMissing => missingOfStage(law.law, stageOf(law), new Map(), ANY_LANE);

function described(law: CompiledLaw, verifiedOnly = ANY_LANE): ReturnType<typeof countingEvidence> {
  const compiled = stageOf(law);
  return countingEvidence(compiled, compiled.conditions[0] as CompiledCondition, verifiedOnly);
}

Deno.test("countingEvidence() describes channels, domain and predicate, and the unusual members of the policy", () => {
  assert.deepEqual(described(oneConditionLaw({ allowed_channels: ["caller_submission"] })), {
    condition_id: "c",
    channels: ["caller_submission"],
    domain: { domain: "Integer" },
    predicate: { predicate: "LessThan", expected: { value: 5, value_type: "Integer" } },
    retention: "RetainCanonicalValue",
    policy: {},
  });
  const strict = described(oneConditionLaw({
    allowed_channels: ["local_acquisition"],
    authorization: "signature",
    authorized_key_ids: ["ci-1"],
    combination: { combination: "Quorum", minimum: 2 },
    freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 },
    independence: "distinct_provider",
    integrity: "anchored_content",
    required_assurance: ["content_integrity", "source_anchor"],
  }));
  assert.deepEqual(strict.policy, {
    authorization: "signature",
    authorized_key_ids: ["ci-1"],
    combination: { combination: "Quorum", minimum: 2 },
    independence: "distinct_provider",
    freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 },
    integrity: "anchored_content",
    required_assurance: ["source_anchor"],
  });
  assert.deepEqual(strict.bindings, [
    { binding_id: "env-1", provider_id: "env", check_id: "read" },
    { binding_id: "env-2", provider_id: "env", check_id: "read" },
    { binding_id: "time-1", provider_id: "time", check_id: "read" },
  ]);
});

Deno.test("countingEvidence() names the channels of acquisition that a binding uses", () => {
  const law = oneConditionLaw();
  assert.deepEqual(described(law).channels, ["caller_submission", "local_acquisition", "provider_acquisition"]);
  const unbound = { ...law.stages[0] as CompiledStage, bindings: [] };
  const [compiled] = unbound.conditions;
  const { channels } = countingEvidence(unbound, compiled as CompiledCondition, ANY_LANE);
  assert.deepEqual(channels, ["caller_submission"]);
});

Deno.test("countingEvidence() names 16 authorized keys, and the number of further ones", () => {
  const keys = Array.from({ length: 17 }, (_, index) => `key-${String(index).padStart(2, "0")}`);
  const policy = (count: number): unknown =>
    described(oneConditionLaw({ authorization: "signature", authorized_key_ids: keys.slice(0, count) })).policy;
  const authorization = "signature";
  assert.deepEqual(policy(15), { authorization, authorized_key_ids: keys.slice(0, 15) });
  assert.deepEqual(policy(16), { authorization, authorized_key_ids: keys.slice(0, 16) });
  assert.deepEqual(policy(17), {
    authorization,
    authorized_key_ids: keys.slice(0, 16),
    authorized_key_ids_left_out: 1,
  });
});

Deno.test("countingEvidence() has the minimum lane if no assertion counts under an operator", () => {
  const law = oneConditionLaw({ allowed_channels: ["caller_submission", "local_acquisition"] });
  const { profile } = environmentWith();
  const under = (trust: "verified" | "asserted", permissive = false, exempt_providers: string[] = []): unknown => {
    const changed = {
      ...profile,
      trust: { ...profile.trust, min_lane: trust },
      permissive: { enabled: permissive, exempt_providers },
    };
    return described(law, verifiedOnlyUnder(changed)).minimum_lane;
  };
  assert.equal(under("verified"), "verified");
  assert.equal(under("asserted"), undefined);
  assert.equal(under("verified", true), undefined);
  assert.equal(under("verified", true, ["env"]), "verified", "one source is exempt from what was relaxed");
});

Deno.test("countingEvidence() leaves out an expected value that is too long to show", () => {
  const expecting = (length: number): Editable => ({
    observation_domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 4096 },
    predicate: { predicate: "Equals", expected: { value: "x".repeat(length), value_type: "String" } },
  });
  // {"value":"","value_type":"String"} has 34 characters.
  assert.equal(described(oneConditionLaw({}, expecting(1024 - 34))).predicate.expected !== undefined, true);
  assert.deepEqual(described(oneConditionLaw({}, expecting(1024 - 33))).predicate, { predicate: "Equals" });
});

const ids = (count: number, length = 8): string[] =>
  Array.from({ length: count }, (_, index) => `c${String(index).padStart(length - 1, "0")}`);

/** A law of one stage over flags. */
function flags(names: readonly string[], completion_requirement: Editable): CompiledLaw {
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "flags",
    namespace_id: 2,
    conditions: names.map(flag),
    stages: [{ ...stage("s", "-"), completion_requirement }],
    completion_requirement: { Condition: "s" },
  });
}

const leaves = (names: readonly string[]): Editable[] => names.map((name) => ({ Condition: name }));

Deno.test("missingOfStage() describes the first conditions only, with the number of further ones", () => {
  const rows = [[31, 31, undefined], [32, 32, undefined], [33, DESCRIBED_CONDITIONS, 1], [
    40,
    DESCRIBED_CONDITIONS,
    8,
  ]] as const;
  for (const [count, expected, leftOut] of rows) {
    const names = ids(count);
    const missing = missingOfFirst(flags(names, { And: leaves(names) }));
    assert.deepEqual(missing.evidence.map(({ condition_id }) => condition_id), names.slice(0, expected));
    assert.deepEqual([missing.complete, missing.evidence_left_out], [true, leftOut]);
  }
});

Deno.test("missingOfStage() shows sets up to a size, but at least one", () => {
  const names = ids(200, 200);
  const group = missingOfFirst(flags(names, { RequireGroup: { min: 150, reqs: leaves(names) } }));
  const characters = JSON.stringify(group.sets).length;
  assert.deepEqual([group.sets.length, group.complete], [1, false]);
  assert.ok(characters > 150 * 200);
  const pairs = missingOfFirst(flags(names, { RequireGroup: { min: 5, reqs: leaves(names) } }));
  assert.ok(pairs.sets.length > 1 && JSON.stringify(pairs.sets).length <= SETS_CHARACTERS + 100);
  const all = ids(1000, 200);
  const whole = missingOfFirst(flags(all, { And: leaves(all) }));
  assert.deepEqual([whole.sets.length, whole.sets[0]?.length, whole.complete], [1, 1000, true]);
});

Deno.test("missingOfStage() describes evidence up to a size, but at least one condition", () => {
  const names = ids(32, 100);
  const long = { domain: "String", minimum_bytes: 0, maximum_bytes: 4096 };
  const predicate = { predicate: "Equals", expected: { value: "x".repeat(980), value_type: "String" } };
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "long",
    namespace_id: 2,
    conditions: names.map((name) => ({ ...flag(name), observation_domain: long, predicate })),
    stages: [{ ...stage("s", "-"), completion_requirement: { And: leaves(names) } }],
    completion_requirement: { Condition: "s" },
  });
  const { evidence, evidence_left_out = 0 } = missingOfFirst(law);
  assert.ok(JSON.stringify(evidence).length <= EVIDENCE_CHARACTERS + 100);
  assert.ok(evidence.length > 10 && evidence_left_out > 0);
  assert.equal(evidence.length + evidence_left_out, 32);
});

Deno.test("missingOfTrace() is null if the requirement holds", () => {
  const law = flags(["a", "b"], { Or: leaves(["a", "b"]) });
  const line = (condition_id: string, value: TraceItem["value"]): TraceItem => ({ path: "$", condition_id, value });
  assert.equal(missingOfTrace(law.law, stageOf(law), [line("a", "true"), line("b", "unknown")], ANY_LANE), null);
  assert.equal(
    missingOfTrace(law.law, stageOf(law), [line("a", "false"), line("b", "unknown")], ANY_LANE)?.sets.length,
    2,
  );
});

function started(law: CompiledLaw): RunState {
  return accepted(decide(law, null, createCommand(), stampsAt(), environmentWith())).state;
}

Deno.test("missingOfRun() shows which stages a blocked one waits for, in smallest sets", () => {
  const requires = (requirement: Editable): Editable => ({ kind: "requires", requirement });
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "blocked",
    namespace_id: 2,
    conditions: [flag("x")],
    stages: [
      stage("a", "x"),
      stage("b", "x"),
      stage("c", "x"),
      stage("d", "x", requires({ And: [{ Condition: "a" }, { Or: leaves(["b", "c"]) }] })),
    ],
    completion_requirement: { Condition: "d" },
  });
  const state = started(law);
  const waiting = (at: RunState): unknown =>
    missingOfRun(law, at, ANY_LANE, { maximum: 10_000 }).find(({ stage_id }) => stage_id === "d")?.waits_for;
  assert.deepEqual(waiting(state), { sets: [["a", "b"], ["a", "c"]], complete: true });
  const stages = state.stages.map((one) =>
    one.stage_id === "a" ? { ...one, classification: "complete" as const } : one
  );
  assert.deepEqual(waiting({ ...state, stages }), { sets: [["b"], ["c"]], complete: true });
  assert.deepEqual(
    missingOfRun(law, { ...state, stages }, ANY_LANE, { maximum: 10_000 }).map(({ stage_id }) => stage_id),
    ["b", "c", "d"],
  );
  assert.deepEqual(missingOfRun(law, { ...state, status: "complete" }, ANY_LANE, { maximum: 10_000 }), []);
});

Deno.test("missingOfRun() stays within its bound, and names stages that do not fit without sets", () => {
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "many",
    namespace_id: 2,
    conditions: [flag("x")],
    stages: ids(50).map((id) => stage(id, "x")),
    completion_requirement: { And: leaves(ids(50)) },
  });
  const at = (maximum: number): ReturnType<typeof missingOfRun> =>
    missingOfRun(law, started(law), ANY_LANE, { maximum });
  const whole = at(1_000_000);
  const bytes = JSON.stringify(whole).length;
  assert.equal(whole.filter(({ complete }) => complete).length, 50);
  // The brackets are the caller's, a comma is counted for each stage.
  assert.deepEqual(at(bytes - 1), whole);
  const missing = at(bytes - 2);
  assert.equal(missing.length, 50);
  assert.ok(missing.slice(0, 49).every(({ complete }) => complete));
  const bare = { stage_id: "c0000049", classification: "ready_unopened", sets: [], complete: false, evidence: [] };
  assert.deepEqual(missing.at(-1), bare);
  const few = at(10_000);
  assert.ok(JSON.stringify(few).length <= 10_001);
  assert.ok(few.filter(({ complete }) => complete).length > 5);
  assert.ok(at(0).every(({ complete }) => !complete));
});

Deno.test("missingOfRun() spends a bounded number of steps on all stages", () => {
  // Each stage is hard: its alternatives overlap.
  const names = ids(60);
  const at = (index: number): string => names[index % 60] ?? "";
  const hard = (shift: number): Editable => ({
    And: Array.from({ length: 60 }, (_, i) => ({ Or: leaves([at(i), at(i * 7 + 3 + shift), at(i * 11 + 5)].sort()) })),
  });
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "hard",
    namespace_id: 2,
    conditions: names.map(flag),
    stages: Array.from({ length: 200 }, (_, i) => ({
      ...stage(`s${i}`, "-"),
      completion_requirement: {
        And: hard(1 + i % 2).And.filter((one: Editable) =>
          new Set(one.Or.map((l: Editable) => l.Condition)).size === 3
        ),
      },
    })),
    completion_requirement: { Condition: "s0" },
  });
  const missing = missingOfRun(law, started(law), ANY_LANE, { maximum: 10_000_000 });
  assert.equal(missing.length, 200);
  assert.ok((missing[0]?.sets.length ?? 0) > 0);
  assert.deepEqual(missing.slice(100).flatMap(({ sets }) => sets), [], "the steps ended before");
});
