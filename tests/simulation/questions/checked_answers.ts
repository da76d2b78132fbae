/**
 * Replays the answers to questions in the kernel, and compares them with all evidence of all parties.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { CompiledLaw, CompiledStage } from "../../../src/run/compile.ts";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { ParameterValues } from "../../../src/law/expand.ts";
import { QUESTION_TIME } from "../../../src/law/questions/candidates.ts";
import { type Change, compareLaws } from "../../../src/law/questions/compare.ts";
import type { Difference } from "../../../src/law/questions/differences.ts";
import { mutantsOf } from "../../../src/law/questions/mutants.ts";
import { pairConditions } from "../../../src/law/questions/paired_conditions.ts";
import type { Party } from "../../../src/law/questions/parties.ts";
import { type Claim, proveClaim } from "../../../src/law/questions/prove.ts";
import { valueOptions } from "../../../src/law/questions/value_options.ts";
import type { Way } from "../../../src/law/questions/ways.ts";
import { whoCompletes } from "../../../src/law/questions/who.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { Condition, ParameterValue } from "../../../src/law/types.ts";
import { checkInDomain } from "../../../src/law/value/typed_value.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { PresentedEvidence } from "../../../src/run/evidence.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "../../../src/run/frontier.ts";
import { bindLaw } from "../../../src/run/parameters.ts";
import {
  callerItem,
  claimHolds,
  countedParties,
  judge,
  keyItem,
  KEYS,
  provedByForce,
  type Seen,
  sourceItem,
  whoByForce,
} from "./brute_force.ts";
import { Dice, randomClaim, randomLaw, tryLaw } from "./generated_laws.ts";

/** The law bound to values; those of other laws are left out. */
function boundLaw(law: CompiledLaw, values: ParameterValues): CompiledLaw {
  const own = law.law.parameters?.map(({ parameter_id }): ParameterValue => {
    const value = values.get(parameter_id);
    assert.ok(value !== undefined, `parameter ${parameter_id} has no value`);
    return { parameter_id, value };
  });
  return own === undefined ? law : bindLaw(law, own);
}

interface Given {
  readonly condition_id: string;
  readonly value: TypedValue | null;
  readonly by: readonly Party[];
  readonly stale?: boolean;
}

const OLD = QUESTION_TIME - 90_000;

/** The items of evidence of a stage. A source that has to answer and is not among the parties has an error. */
function itemsOf(law: CompiledLaw, stage_id: string, given: readonly Given[]): PresentedEvidence[] {
  const stage = law.stages[law.stageIndex.get(stage_id) ?? -1];
  return [...stage?.slotOf.keys() ?? []].flatMap((condition_id): PresentedEvidence[] => {
    const policy = law.conditionIndex.get(condition_id)?.condition.evidence_use_policy;
    const own = given.find((one) => one.condition_id === condition_id);
    const domain = law.conditionIndex.get(condition_id)?.condition.observation_domain;
    // A call with a value outside the domain is rejected.
    const isRejected = own !== undefined && own.value !== null && domain !== undefined &&
      checkInDomain(own.value, domain) !== null;
    const { by = [], value = null, stale = false } = isRejected ? {} : own ?? {};
    const minimum = policy?.combination.combination === "Quorum" ? policy.combination.minimum : 1;
    const repeats = policy?.independence === "not_required" ? minimum : 1;
    const items: PresentedEvidence[] = [];
    const repeat = (item: PresentedEvidence): void => {
      const count = item.channel === "caller_submission" ? repeats : 1;
      for (let at = 0; at < count; at++) items.push({ ...item, item_id: `${item.item_id}:${at}` });
    };
    for (const party of by) {
      if (value === null) break;
      if (party.kind === "caller") repeat(callerItem(condition_id, value));
      if (party.kind === "key") {
        if (policy?.allowed_channels.some((channel) => channel.endsWith("submission")) !== true) continue;
        repeat(keyItem(law, stage_id, condition_id, value, party.key_id, stale ? OLD : undefined));
      }
    }
    for (const binding of law.law.acquisition_bindings) {
      if (binding.condition_id !== condition_id) continue;
      const isGiven = by.some((party) =>
        party.kind === "source" && party.provider_id === binding.provider_id && party.check_id === binding.check_id &&
        canonicalize(party.params) === canonicalize(binding.params ?? null)
      );
      if (isGiven) items.push(sourceItem(law, binding.binding_id, value, stale ? OLD : undefined));
      else if (policy?.requires_all_bindings === true) {
        items.push(sourceItem(law, binding.binding_id, { error: "http_status" }));
      }
    }
    return items;
  });
}

interface Replayed {
  readonly completed: readonly { readonly stage_id: string; readonly seen: Seen }[];
  readonly isComplete: boolean;
}

/** Runs steps: each stage is evaluated once it is ready. With `retry`, waiting stages are tried again after each one. */
function replay(
  law: CompiledLaw,
  steps: readonly { readonly stage_id: string; readonly given: readonly Given[] }[],
  retry: boolean,
): Replayed {
  let stages = initialStages(law);
  const completed: Replayed["completed"][number][] = [];
  let waiting = [...steps];
  for (let changed = true; changed && !stagesSatisfy(law.completion, law.completionStages, stages);) {
    changed = false;
    for (const step of waiting) {
      const index = law.stageIndex.get(step.stage_id) ?? -1;
      const stage = law.stages[index] as CompiledStage | undefined;
      const state = stages[index];
      if (stage === undefined || state?.classification !== "ready_unopened") continue;
      const { outcome, trace, evidence } = judge(law, stage, itemsOf(law, step.stage_id, step.given));
      if (outcome !== "true") continue;
      const named = (value: string): Set<string> =>
        new Set(trace.filter((line) => line.value === value).map((line) => line.condition_id));
      const seen = { trues: named("true"), falses: named("false"), parties: new Set(countedParties(evidence)) };
      completed.push({ stage_id: step.stage_id, seen });
      stages = stagesAfterCompletion(law, stages.with(index, { ...state, classification: "complete" }), index);
      waiting = waiting.filter((one) => one !== step);
      changed = true;
      if (retry) break;
    }
    if (!retry) break;
  }
  return { completed, isComplete: stagesSatisfy(law.completion, law.completionStages, stages) };
}

/** Checks that a way completes what a claim speaks of, and does not satisfy the claim. */
function checkWay(law: CompiledLaw, claim: Claim, way: Way, name: string): void {
  const bound = boundLaw(law, way.parameters);
  const steps = way.steps.map(({ stage_id, evidence }) => ({ stage_id, given: evidence }));
  const { completed, isComplete } = replay(bound, steps, false);
  const last = completed.at(-1);
  assert.equal(completed.length, steps.length, `${name}: a step did not complete its stage`);
  assert.ok(claim.stage === undefined ? isComplete : last?.stage_id === claim.stage, `${name}: it ends elsewhere`);
  const ids = completed.map(({ stage_id }) => stage_id);
  const all = completed.map(({ seen }) => seen);
  const seen = claim.stage === undefined
    ? {
      trues: new Set(all.flatMap((one) => [...one.trues])),
      falses: new Set(all.flatMap((one) => [...one.falses])),
      parties: new Set(all.flatMap((one) => [...one.parties])),
    }
    : last?.seen ?? { trues: new Set(), falses: new Set(), parties: new Set() };
  assert.ok(
    !claimHolds(claim, seen, new Set(claim.stage === undefined ? ids : ids.slice(0, -1))),
    `${name}: it satisfies the claim`,
  );
}

function parameterValues(law: CompiledLaw): readonly ParameterValues[] {
  const [parameter] = law.law.parameters ?? [];
  if (parameter?.domain.domain !== "Integer") return [new Map()];
  const { maximum = 0 } = parameter.domain;
  return Array.from(
    { length: maximum + 1 },
    (_, value) => new Map([[parameter.parameter_id, { value, value_type: "Integer" as const }]]),
  );
}

function partyText(law: CompiledLaw, party: Party): readonly string[] {
  if (party.kind === "caller") return ["caller"];
  if (party.kind === "key") return [`key:${party.key_id}`];
  return [`source:${party.provider_id}:${canonicalize(party.params)}`].filter(() => law !== null);
}

/** Sources of the brute force have the names of their bindings; those of answers have their params. */
function byParams(law: CompiledLaw, set: string): string {
  const parties = set.split(" + ").map((party) => {
    const [, provider, binding] = /^source:([^:]*):(.*)$/.exec(party) ?? [];
    if (provider === undefined) return party;
    const params = law.law.acquisition_bindings.find(({ binding_id }) => binding_id === binding)?.params ?? null;
    return `source:${provider}:${canonicalize(params)}`;
  });
  return [...new Set(parties)].sort().join(" + ");
}

function smallestTexts(sets: readonly string[]): readonly string[] {
  const split = [...new Set(sets)].map((text) => new Set(text === "" ? [] : text.split(" + ")));
  const least = split.filter((set) => !split.some((other) => other.size < set.size && other.isSubsetOf(set)));
  return [...new Set(least.map((set) => [...set].sort().join(" + ")))].sort();
}

/** The verdicts that were met. */
export type Tally = Record<string, number>;

function count(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1;
}

/** Checks the claims and parties of the generated law of a seed. */
export function checkSeed(seed: number, tally: Tally): void {
  const dice = new Dice(seed);
  const law = randomLaw(dice);
  const claim = randomClaim(dice, law);
  const name = `seed ${seed}`;
  const answer = proveClaim(law.law, claim);
  count(tally, answer.verdict);
  if (answer.verdict !== "undecided") {
    const byForce = parameterValues(law).every((values) => provedByForce(boundLaw(law, values), claim));
    assert.equal(answer.verdict, byForce ? "proved" : "not_proved", name);
  }
  if (answer.verdict === "not_proved") checkWay(law, claim, answer.way, name);
  checkWho(law, name, tally);
}

function checkWho(law: CompiledLaw, name: string, tally: Tally): void {
  const answer = whoCompletes(law.law);
  count(tally, answer === null ? "who undecided" : "who");
  if (answer === null) return;
  const texts = (sets: readonly (readonly Party[])[]): readonly string[] =>
    sets.map((set) => set.flatMap((party) => partyText(law, party)).sort().join(" + ")).sort();
  const forced = parameterValues(law).map((values) => whoByForce(boundLaw(law, values)));
  const merged = (lists: readonly (readonly string[])[]): readonly string[] =>
    smallestTexts(lists.flat().map((set) => byParams(law, set)));
  assert.deepEqual(texts(answer.run), merged(forced.map(({ run }) => run)), `${name}: who completes the run`);
  for (const [stage, sets] of answer.stages) {
    const byForce = merged(forced.map(({ stages }) => stages.get(stage) ?? []));
    assert.deepEqual(texts(sets), byForce, `${name}: who completes ${stage}`);
  }
}

/** Checks the comparison of a generated law with one of its mutants, or with another generated law. */
export function checkComparison(seed: number, evidences: number, tally: Tally): void {
  const dice = new Dice(seed);
  const old = randomLaw(dice);
  const mutants = mutantsOf(old.law).flatMap((mutant) => tryLaw(lawAsJson(mutant.law)) ?? []);
  const next = dice.roll(4) === 0 ? randomLaw(dice) : mutants[dice.roll(mutants.length)] ?? old;
  const result = compareLaws({ law: old.law, names: new Map() }, { law: next.law, names: new Map() });
  count(tally, result.run.verdict);
  for (const [target, change] of [[null, result.run] as const, ...result.stages]) {
    const name = `seed ${seed}, ${target ?? "run"}`;
    if (change.looser !== undefined) checkDifference(next, old, "new", target, change.looser, name);
    if (change.stricter !== undefined) checkDifference(old, next, "old", target, change.stricter, name);
  }
  checkOnEvidence(dice, old, next, result.run, evidences, `seed ${seed}`);
}

function checkDifference(
  from: CompiledLaw,
  other: CompiledLaw,
  side: "old" | "new",
  target: string | null,
  { parameters, steps }: Difference,
  name: string,
): void {
  const sent = (to: "old" | "new") =>
    steps.map(({ stage_id, evidence }) => ({
      stage_id,
      given: evidence.flatMap((one) => one[to].map((condition_id): Given => ({ condition_id, ...one }))),
    }));
  const reaches = ({ completed, isComplete }: Replayed): boolean =>
    target === null ? isComplete : completed.some(({ stage_id }) => stage_id === target);
  assert.ok(
    reaches(replay(boundLaw(from, parameters), sent(side), false)),
    `${name}: evidence does not complete ${side}`,
  );
  if (!acceptsValues(other, parameters)) return;
  const there = replay(boundLaw(other, parameters), sent(side === "old" ? "new" : "old"), true);
  assert.ok(!reaches(there), `${name}: evidence of ${side} completes the other law`);
}

/** Whether a run of a law can have these values of its parameters. */
function acceptsValues({ law }: CompiledLaw, values: ParameterValues): boolean {
  return (law.parameters ?? []).every(({ parameter_id, domain }) => {
    const value = values.get(parameter_id);
    return value !== undefined && checkInDomain(value, domain) === null;
  });
}

/** Checks that a verdict without a difference holds on random evidence. */
function checkOnEvidence(
  dice: Dice,
  old: CompiledLaw,
  next: CompiledLaw,
  { verdict }: Change,
  evidences: number,
  name: string,
): void {
  if (verdict !== "equivalent" && verdict !== "stricter") return;
  const groups = pairConditions({ law: old.law, names: new Map() }, { law: next.law, names: new Map() }, false);
  const units = [...Map.groupBy(groups.keys(), (condition) => groups.get(condition)).values()];
  const ids = new Set([...old.law.stages, ...next.law.stages].map(({ stage_id }) => stage_id));
  const choices = [...parameterValues(old), ...parameterValues(next)].filter((values) =>
    values.size > 0 || (old.law.parameters ?? next.law.parameters) === undefined
  );
  for (let at = 0; at < evidences; at++) {
    const values = choices[dice.roll(choices.length)] ?? new Map();
    const steps = [...ids].map((stage_id) => ({
      stage_id,
      given: units.map((unit) => randomEvidence(dice, [old, next], unit)),
    }));
    const isComplete = (law: CompiledLaw): boolean => {
      if (!acceptsValues(law, values)) return false;
      const own = steps.map(({ stage_id, given }) => ({
        stage_id,
        given: given.flatMap(({ unit, ...one }) =>
          unit.filter((condition) => law.law.conditions.includes(condition))
            .map(({ condition_id }): Given => ({ condition_id, ...one }))
        ),
      }));
      return replay(boundLaw(law, values), own, true).isComplete;
    };
    const [before, after] = [isComplete(old), isComplete(next)];
    assert.ok(verdict === "equivalent" ? before === after : before || !after, `${name}: ${verdict} is wrong`);
  }
}

function randomEvidence(
  dice: Dice,
  laws: readonly CompiledLaw[],
  unit: readonly Condition[],
): Omit<Given, "condition_id"> & { readonly unit: readonly Condition[] } {
  const [first] = unit;
  const options = first === undefined || dice.roll(8) === 0
    ? []
    : valueOptions([{ predicate: first.predicate, domain: first.observation_domain }]).options;
  const value = options[dice.roll(Math.max(1, options.length))]?.value ?? null;
  const ids = new Set(unit.map(({ condition_id }) => condition_id));
  const sources = laws.flatMap(({ law }) => law.acquisition_bindings).filter((one) => ids.has(one.condition_id));
  const all: Party[] = [
    { kind: "caller" },
    ...Object.keys(KEYS).map((key_id): Party => ({ kind: "key", key_id })),
    ...sources.map(({ provider_id, check_id, params = null }): Party => ({
      kind: "source",
      provider_id,
      check_id,
      params,
    })),
  ];
  return { unit, value, by: all.filter(() => dice.roll(3) > 0), stale: dice.roll(3) === 0 };
}
