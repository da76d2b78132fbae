/**
 * Qualifying recorded evidence again. Where a value is absent, everything that does not need it is decided all the same;
 * what is left open by it is taken as it is recorded.
 *
 * @module
 */

import { admitAcquired, hasSourceSignature } from "../../run/acquired.ts";
import { attemptAt, type EvaluatedAttempt } from "../../run/attempt.ts";
import type { CompiledCondition, CompiledStage } from "../../run/compile.ts";
import type { Judgement } from "../../run/evaluate.ts";
import { judgeQualified } from "../../run/evaluate.ts";
import type { PresentedEvidence } from "../../run/evidence.ts";
import {
  applyIndependence,
  observeClock,
  type QualificationEnvironment,
  type QualifiedEvidence,
  qualifyItem,
  sameObservation,
} from "../../run/qualify.ts";
import { presentRecorded } from "./decide_again.ts";
import { findSourceSignature } from "./source_signature.ts";
import { isValue, itemsOf, type Step, type StepItem } from "./step.ts";

/** What an attempt was qualified under. */
export type AttemptEnvironment = QualificationEnvironment & { readonly attempt: EvaluatedAttempt };

/** A stage with what its evidence was qualified under. */
export interface Qualification {
  readonly stage: CompiledStage;
  readonly environment: AttemptEnvironment;
}

/** What a step's evidence was qualified under; null where the record has none, or its stage is not in the law. */
export function qualificationOf({ record, before, law, environment }: Step): Qualification | null {
  if (record.record_kind !== "stage_evaluated" || before === null) return null;
  const stage = law.stages[law.stageIndex.get(record.body.stage_id) ?? -1];
  if (stage === undefined) return null;
  const scope = { run_id: before.run_key.run_id, stage_id: record.body.stage_id, expected_head: before.head };
  const attempt = attemptAt(record.procedure, scope, {
    ...record.acceptance_time,
    ...record.body.time_source,
    last_audit_instant: before.accepted_audit_instant,
  });
  return { stage, environment: { ...environment, law, attempt } };
}

/** Evidence with its verdicts, in the order of a record, and the judgements that need no absent value. */
export interface Requalified {
  readonly evidence: readonly QualifiedEvidence[];
  /** By condition; a condition whose judgement is left open has none. */
  readonly judgements: ReadonlyMap<string, Judgement>;
}

type Known = ReadonlyMap<PresentedEvidence, StepItem>;

function isAbsent(known: Known, item: PresentedEvidence): boolean {
  return typeof known.get(item)?.value === "string";
}

/** By step: two claims ask, and signatures are dear to verify. */
const REQUALIFIED = new WeakMap<Step, Requalified | null>();

/** Qualifies the evidence of an attempt anew; null where its acquired items cannot have come from an acquisition. */
export function requalify(step: Step, qualification: Qualification): Requalified | null {
  const before = REQUALIFIED.get(step);
  const found = before === undefined ? qualifyItems(qualification, itemsOf(step)) : before;
  REQUALIFIED.set(step, found);
  return found;
}

function qualifyItems(qualification: Qualification, items: readonly StepItem[]): Requalified | null {
  const known = new Map(
    items.map((one) => [presentRecorded(one.item, isValue(one.value) ? one.value : null), one]),
  );
  const presented = admit(qualification.environment, known);
  if (presented === null) return null;
  const { stage } = qualification;
  const evidence = presented.map((item) => qualifyAlone(qualification, known, item));
  const places = new Map<number, number[]>();
  for (const [at, { item }] of evidence.entries()) {
    const slot = stage.slotOf.get(item.condition_id);
    if (slot === undefined) continue;
    const own = places.get(slot);
    if (own === undefined) places.set(slot, [at]);
    else own.push(at);
  }
  const judgements = new Map<string, Judgement>();
  for (const [slot, condition] of stage.conditions.entries()) {
    const own = places.get(slot) ?? [];
    const { items: judged, contradiction } = applyIndependence(
      condition.condition.evidence_use_policy,
      own.flatMap((at) => evidence[at] ?? []),
      (earlier, later) => saysSame(known, earlier, later),
    );
    judged.forEach((one, index) => evidence[own[index] ?? -1] = one);
    const judgement = judgeNamed(known, condition, judged, contradiction);
    if (judgement !== null) judgements.set(condition.condition.condition_id, judgement);
  }
  return { evidence, judgements };
}

/** Items as the kernel admits them: those of the caller as they are, acquired ones held to what their providers owe. */
function admit(environment: AttemptEnvironment, known: Known): readonly PresentedEvidence[] | null {
  const items = [...known.keys()];
  const isCaller = ({ channel }: PresentedEvidence): boolean => channel === "caller_submission";
  const acquired = items.filter((item) => !isCaller(item));
  try {
    const admitted = admitAcquired(environment, environment.attempt, acquired, (at, attempt, trusted, item) => {
      const one = known.get(item);
      if (one === undefined || typeof one.value !== "string") return hasSourceSignature(at, attempt, trusted, item);
      return findSourceSignature(environment, trusted, one) !== "unsigned";
    });
    return observeClock(environment, [...items.filter(isCaller), ...admitted]);
  } catch (error) {
    // The kernel throws where acquired items could not have come from an acquisition.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function qualifyAlone(
  { stage, environment }: Qualification,
  known: Known,
  item: PresentedEvidence,
): QualifiedEvidence {
  const condition = stage.conditions[stage.slotOf.get(item.condition_id) ?? -1];
  if (condition === undefined) return { item, lane: item.lane, signer: null, reason: "scope" };
  const found = qualifyItem(environment, condition, item);
  const { required_assurance } = condition.condition.evidence_use_policy;
  // Whether an absent value is in the domain cannot be seen; that of a caller is, or it would have been rejected.
  const isOpen = found.reason === null && isAbsent(known, item) && item.error === undefined &&
    item.channel !== "caller_submission" && required_assurance.includes("schema_compatibility");
  return isOpen && known.get(item)?.item.reason === "assurance" ? { ...found, reason: "assurance" } : found;
}

/** By their values where both are there, else by their names. */
function saysSame(known: Known, earlier: PresentedEvidence, later: PresentedEvidence): boolean {
  if (!isAbsent(known, earlier) && !isAbsent(known, later)) return sameObservation(earlier, later);
  const a = known.get(earlier)?.item;
  const b = known.get(later)?.item;
  if (a?.value_identity === undefined || b?.value_identity === undefined) return false;
  if (a.value_identity === b.value_identity) return true;
  const isOpen = a.value_type === b.value_type && isSpeltInSeveralWays(a.value_type);
  return isOpen && b.reason === "not_independent";
}

/** The judgement of a condition; null where it needs an absent value. */
function judgeNamed(
  known: Known,
  condition: CompiledCondition,
  items: readonly QualifiedEvidence[],
  contradiction: boolean,
): Judgement | null {
  const { observation_domain: { domain }, predicate: { predicate }, evidence_use_policy } = condition.condition;
  const counting = items.filter(({ reason }) => reason === null);
  const agree = evidence_use_policy.combination.combination === "AllQualifyingAgree";
  const isSettled = contradiction || counting.every(({ item }) => item.error !== undefined || !isAbsent(known, item)) ||
    agree && counting.some(({ item }) => item.error !== undefined);
  if (isSettled) return judgeQualified(condition, items, contradiction);
  const names = new Set(counting.map(({ item }) => item.value_identity));
  const isOpen = isSpeltInSeveralWays(domain) && names.size > (names.has(undefined) ? 2 : 1);
  const asksPresence = predicate === "Exists" || predicate === "NotExists";
  if (agree && isOpen || !asksPresence && !(agree && names.size > 1)) return null;
  return judgeQualified(condition, items.map(standIn), contradiction);
}

/** An item whose value is its name: as good as the value itself where nothing but presence and equality is asked. */
function standIn(one: QualifiedEvidence): QualifiedEvidence {
  const { value_identity } = one.item;
  if (value_identity === undefined) return one;
  return { ...one, item: { ...one.item, value: { value: value_identity, value_type: "String" } } };
}

/** Only values of these types are equal under several names. */
function isSpeltInSeveralWays(type: string | undefined): boolean {
  return type === "Decimal" || type === "Timestamp";
}
