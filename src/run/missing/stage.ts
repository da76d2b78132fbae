/**
 * The member `missing` of answers: the missing sets of a stage, the evidence that would count for each condition, and
 * the stages that a blocked stage waits for. Every part is bounded.
 */

import { lawWords, type NamedParts } from "../../law/words.ts";
import { neededText } from "./sentence.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { sortedBy } from "../../canonical/order.ts";
import type { AcquisitionBinding, EvidenceUsePolicy } from "../../law/types.ts";
import type { Expected, ObservationDomain, SetMember } from "../../law/value/types.ts";
import type { PredicateName } from "../../law/value/predicates.ts";
import type { CompiledCondition, CompiledLaw, CompiledStage } from "../compile.ts";
import { type Judged, judgedBy, MISSING_STEPS, missingSets, type NeededCondition } from "./missing.ts";
import type { Meter } from "./formula.ts";
import { asJson } from "../primitives.ts";
import { minimumLane, type OperatorProfile } from "../profile.ts";
import { isOfCaller } from "../qualify.ts";
import type { RunState, StageClassification, TraceItem } from "../types.ts";

/** Maximum number of conditions of a stage whose evidence is described. */
export const DESCRIBED_CONDITIONS = 32;
/** Maximum JSON characters of the sets of one stage together. The first set is always shown. */
export const SETS_CHARACTERS = 65_536;
/** Maximum JSON characters of the description of a stage's evidence. */
export const EVIDENCE_CHARACTERS = 32_768;
/** Maximum number of key ids of a condition that are named. */
const NAMED_KEYS = 16;
/** Maximum characters of an expected value that is shown. */
const EXPECTED_CHARACTERS = 1024;
/** Maximum number of bindings of a condition that are named. */
const NAMED_BINDINGS = 16;

/** The members of a policy that differ from the usual: in the domain, intact, from a caller that gate admitted. */
export type PolicyInShort =
  & Partial<
    Pick<
      EvidenceUsePolicy,
      | "authorization"
      | "authorized_key_ids"
      | "combination"
      | "freshness"
      | "independence"
      | "integrity"
      | "required_assurance"
      | "requires_all_bindings"
    >
  >
  & {
    /** How many more keys are authorized than are named; absent if all are named. */
    readonly authorized_key_ids_left_out?: number;
  };

/**
 * Whether evidence for a condition must be of the lane `verified`, from any of its sources: the providers of its
 * bindings, and null for callers.
 */
export type VerifiedOnly = (conditionId: string, sources: readonly (string | null)[]) => boolean;

/** The lanes that an operator profile requires. */
export function verifiedOnlyUnder(profile: OperatorProfile): VerifiedOnly {
  return (_, sources) => sources.some((source) => minimumLane(profile, source) === "verified");
}

/** The evidence that would count for a condition. */
export interface CountingEvidence {
  readonly condition_id: string;
  /** The channels that it can use; channels of acquisition only if a binding uses them. */
  readonly channels: readonly string[];
  /** `value.value_type` must be its name. */
  readonly domain: ObservationDomain;
  /** An expected value over 1024 characters is left out. */
  readonly predicate: { readonly predicate: PredicateName; readonly expected?: Expected | readonly SetMember[] };
  readonly retention: CompiledCondition["retention"];
  readonly policy: PolicyInShort;
  /** Present if asserted evidence does not count. */
  readonly minimum_lane?: "verified";
  /** The first bindings that acquire it; absent without bindings. */
  readonly bindings?: readonly Pick<AcquisitionBinding, "binding_id" | "provider_id" | "check_id">[];
}

/** The missing sets of a stage, with the evidence that would count. */
export interface StageMissing {
  readonly stage_id: string;
  readonly sets: readonly (readonly NeededCondition[])[];
  /** Whether these are all sets. */
  readonly complete: boolean;
  /** For the first {@link DESCRIBED_CONDITIONS} conditions of the sets. */
  readonly evidence: readonly CountingEvidence[];
  /** How many more conditions the sets name than are described; absent if all are described. */
  readonly evidence_left_out?: number;
  /** The smallest sets of stages that must be complete first; absent if the stage is not blocked. */
  readonly waits_for?: { readonly sets: readonly (readonly string[])[]; readonly complete: boolean };
}

function describePredicate({ condition: { predicate } }: CompiledCondition): CountingEvidence["predicate"] {
  if (!("expected" in predicate)) return { predicate: predicate.predicate };
  const { expected } = predicate;
  const fits = canonicalize(asJson(expected)).length <= EXPECTED_CHARACTERS;
  return { predicate: predicate.predicate, ...fits ? { expected } : {} };
}

/** Assurances that only some items have. */
const UNCOMMON = new Set<string>(["source_anchor", "source_signature"]);

function namedKeys(keys: readonly string[]): PolicyInShort {
  const left = keys.length - NAMED_KEYS;
  return {
    authorized_key_ids: keys.slice(0, NAMED_KEYS),
    ...left > 0 ? { authorized_key_ids_left_out: left } : {},
  };
}

function inShort(policy: EvidenceUsePolicy): PolicyInShort {
  const { authorization, authorized_key_ids, combination, freshness, independence, integrity } = policy;
  const required_assurance = policy.required_assurance.filter((assurance) => UNCOMMON.has(assurance));
  return {
    ...authorization === "embedding_authority" ? {} : { authorization },
    ...authorized_key_ids === undefined ? {} : namedKeys(authorized_key_ids),
    ...combination.combination === "AllQualifyingAgree" ? {} : { combination, independence },
    ...freshness.freshness === "NotRequired" ? {} : { freshness },
    ...integrity === "canonical_content_only" ? {} : { integrity },
    ...required_assurance.length === 0 ? {} : { required_assurance },
    ...policy.requires_all_bindings === true ? { requires_all_bindings: true } : {},
  };
}

/** Describes the evidence that would count for a condition. */
export function countingEvidence(
  stage: CompiledStage,
  compiled: CompiledCondition,
  verifiedOnly: VerifiedOnly,
): CountingEvidence {
  const { condition: { condition_id, observation_domain, evidence_use_policy }, retention } = compiled;
  const bound = stage.bindings.filter((binding) => binding.condition_id === condition_id);
  const bindings = bound.slice(0, NAMED_BINDINGS).map(({ binding_id, provider_id, check_id }) => ({
    binding_id,
    provider_id,
    check_id,
  }));
  const callers = evidence_use_policy.allowed_channels.some((channel) => isOfCaller({ channel })) ? [null] : [];
  const sources = [...callers, ...bindings.map(({ provider_id }) => provider_id)];
  return {
    condition_id,
    channels: evidence_use_policy.allowed_channels.filter((allowed) =>
      isOfCaller({ channel: allowed }) || bound.some(({ channel }) => channel === allowed)
    ),
    domain: observation_domain,
    predicate: describePredicate(compiled),
    retention,
    policy: inShort(evidence_use_policy),
    ...verifiedOnly(condition_id, sources) ? { minimum_lane: "verified" as const } : {},
    ...bindings.length === 0 ? {} : { bindings },
  };
}

/** The first items whose JSON stays within `maximum` characters, but at least one. */
function fitting<Item>(items: readonly Item[], maximum: number): readonly Item[] {
  let characters = 0;
  const count = items.findIndex((item, index) => {
    characters += JSON.stringify(item).length;
    return index > 0 && characters > maximum;
  });
  return count < 0 ? items : items.slice(0, count);
}

/** The missing sets of a stage, given the judgements of its conditions. */
export function missingOfStage(
  law: NamedParts,
  stage: CompiledStage,
  judged: Judged,
  verifiedOnly: VerifiedOnly,
  meter: Meter = { left: MISSING_STEPS },
): StageMissing {
  const { stage_id, completion_requirement } = stage.stage;
  const found = missingSets(completion_requirement, judged, meter);
  const words = lawWords(law);
  const named = found.sets.map((set) => set.map((one) => ({ ...one, sentence: neededText(one, words) })));
  const sets = fitting(named, SETS_CHARACTERS);
  const all = new Set(sets.flat().map(({ condition_id }) => condition_id));
  const first = new Set([...all].slice(0, DESCRIBED_CONDITIONS));
  const described = stage.conditions.filter(({ condition }) => first.has(condition.condition_id))
    .map((condition) => countingEvidence(stage, condition, verifiedOnly));
  const evidence = fitting(sortedBy(described, ({ condition_id }) => condition_id), EVIDENCE_CHARACTERS);
  return {
    stage_id,
    sets,
    complete: found.complete && sets.length === found.sets.length,
    evidence,
    ...all.size > evidence.length ? { evidence_left_out: all.size - evidence.length } : {},
  };
}

/** The missing sets of an attempt or a precheck; null if its requirement holds. */
export function missingOfTrace(
  law: NamedParts,
  stage: CompiledStage,
  trace: readonly TraceItem[],
  verifiedOnly: VerifiedOnly,
): StageMissing | null {
  const missing = missingOfStage(law, stage, judgedBy(trace), verifiedOnly);
  return missing.sets[0]?.length === 0 ? null : missing;
}

function waitsFor(stage: CompiledStage, state: RunState, meter: Meter): StageMissing["waits_for"] {
  const { prerequisite } = stage.stage;
  if (prerequisite.kind === "root") return undefined;
  const done = state.stages.filter(({ classification }) => classification === "complete");
  const judged: Judged = new Map(done.map(({ stage_id }) => [stage_id, "true"]));
  const found = missingSets(prerequisite.requirement, judged, meter);
  const sets = fitting(found.sets.map((set) => set.map(({ condition_id }) => condition_id)), SETS_CHARACTERS);
  return { sets, complete: found.complete && sets.length === found.sets.length };
}

const NOTHING_JUDGED: Judged = new Map();

/** A stage that is not complete, with its classification. */
export interface StageStanding extends StageMissing {
  readonly classification: StageClassification;
}

/** Maximum steps for all stages of a run together. */
const RUN_STEPS = 4 * MISSING_STEPS;

/** The maximum size of the missing sets of a run. */
export interface RunBound {
  readonly maximum: number;
  /** The size of a JSON text; its characters by default. */
  readonly sizeOf?: (text: string) => number;
}

/**
 * The missing sets of every stage that is not complete, in the order of the law; empty once the run is complete. No
 * condition counts as judged, since an attempt takes no evidence from the previous one.
 *
 * @param bound Stages that do not fit, or that come after the last step, have no sets and `complete: false`
 */
export function missingOfRun(
  law: CompiledLaw,
  state: RunState,
  verifiedOnly: VerifiedOnly,
  bound: RunBound,
): StageStanding[] {
  return [...eachMissingOfRun(law, state, verifiedOnly, bound)];
}

/** {@link missingOfRun} stage by stage, for callers that yield to other work in between. */
export function* eachMissingOfRun(
  law: CompiledLaw,
  state: RunState,
  verifiedOnly: VerifiedOnly,
  { maximum, sizeOf = (text) => text.length }: RunBound,
): Generator<StageStanding> {
  if (state.status === "complete") return;
  const bare = law.stages.flatMap((stage, index): { stage: CompiledStage; standing: StageStanding }[] => {
    const { stage_id, classification } = state.stages[index] ?? { stage_id: "", classification: "complete" };
    if (classification === "complete") return [];
    return [{ stage, standing: { stage_id, classification, sets: [], complete: false, evidence: [] } }];
  });
  const sizeOfStage = (standing: StageStanding): number => sizeOf(JSON.stringify(standing)) + sizeOf(",");
  let left = maximum - bare.reduce((sum, { standing }) => sum + sizeOfStage(standing), 0);
  let steps = RUN_STEPS;
  const whole = ({ stage, standing }: typeof bare[number]): StageStanding => {
    if (left <= 0 || steps <= 0) return standing;
    const meter = { left: Math.min(MISSING_STEPS, steps) };
    steps -= meter.left;
    const { stage_id, classification } = standing;
    const { stage_id: _, ...missing } = missingOfStage(law.law, stage, NOTHING_JUDGED, verifiedOnly, meter);
    const waits_for = classification === "blocked" ? waitsFor(stage, state, meter) : undefined;
    steps += Math.max(meter.left, 0);
    const found = { stage_id, classification, ...waits_for === undefined ? {} : { waits_for }, ...missing };
    const more = sizeOfStage(found) - sizeOfStage(standing);
    if (more > left) return standing;
    left -= more;
    return found;
  };
  for (const one of bare) yield whole(one);
}
