/**
 * Qualifies recorded evidence again. Where a value is absent, every check that does not need it still runs; the rest is
 * assumed as recorded.
 */

import { admitAcquired, hasSourceSignature } from "../../run/acquired.ts";
import { attemptAt, type EvaluatedAttempt } from "../../run/attempt.ts";
import type { CompiledCondition, CompiledStage } from "../../run/compile.ts";
import type { Judgement } from "../../run/evaluate.ts";
import { judgeQualified } from "../../run/evaluate.ts";
import type { PresentedEvidence } from "../../run/evidence.ts";
import {
  applyIndependence,
  type EvaluationTime,
  evaluationTime,
  isOfCaller,
  observeClock,
  type QualificationEnvironment,
  type QualifiedEvidence,
  qualifyItem,
  sameObservation,
} from "../../run/qualify.ts";
import { submissionOf } from "../../run/submitted_evidence.ts";
import { presentRecorded } from "./decide_again.ts";
import { findSourceSignature } from "./source_signature.ts";
import { isValue, itemsOf, type Step, type StepItem } from "./step.ts";

/** The environment in which an attempt was qualified. */
export type AttemptEnvironment = QualificationEnvironment & { readonly attempt: EvaluatedAttempt };

/** A stage with the environment in which its evidence was qualified. */
export interface Qualification {
  readonly stage: CompiledStage;
  readonly environment: AttemptEnvironment;
}

/** The environment of a step's evidence; null where the record has none, or the law has no such stage. */
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

/** Qualified evidence, in the order of the record, and the judgements that need no absent value. */
export interface Requalified {
  readonly evidence: readonly QualifiedEvidence[];
  /** By condition; conditions that need an absent value have no entry. */
  readonly judgements: ReadonlyMap<string, Judgement>;
}

type Known = ReadonlyMap<PresentedEvidence, StepItem>;

function isAbsent(known: Known, item: PresentedEvidence): boolean {
  return typeof known.get(item)?.value === "string";
}

/** Cached by step: two claims need it, and verifying signatures is expensive. */
const REQUALIFIED = new WeakMap<Step, Requalified | null>();

/** Qualifies the evidence of an attempt again; null where its acquired items cannot come from an acquisition. */
export function requalify(step: Step, qualification: Qualification): Requalified | null {
  const before = REQUALIFIED.get(step);
  const found = before === undefined ? qualifyItems(qualification, step) : before;
  REQUALIFIED.set(step, found);
  return found;
}

function qualifyItems(qualification: Qualification, step: Step): Requalified | null {
  const known = new Map(
    itemsOf(step).map((one) => {
      const value = isValue(one.value) ? one.value : null;
      return [presentRecorded(one.item, value, submissionOf(step.before, one.item)), one];
    }),
  );
  const presented = admit(qualification.environment, known);
  if (presented === null) return null;
  const { stage } = qualification;
  const evidence = presented.map((item) => qualifyAlone(qualification, item));
  const places = Map.groupBy(evidence.entries(), ([, { item }]) => stage.slotOf.get(item.condition_id));
  const judgements = new Map<string, Judgement>();
  for (const [slot, condition] of stage.conditions.entries()) {
    const own = places.get(slot) ?? [];
    const { items: judged, contradiction } = applyIndependence(
      condition.condition.evidence_use_policy,
      own.map(([, one]) => one),
      (earlier, later) => saysSame(known, earlier, later),
    );
    judged.forEach((one, index) => evidence[own[index]?.[0] ?? -1] = one);
    const judgement = judgeNamed(known, condition, judged, contradiction, evaluationTime(qualification.environment));
    if (judgement !== null) judgements.set(condition.condition.condition_id, judgement);
  }
  return { evidence, judgements };
}

/**
 * Items as the kernel admits them: those of the caller unchanged, acquired ones checked against the duties of their
 * providers.
 */
function admit(environment: AttemptEnvironment, known: Known): readonly PresentedEvidence[] | null {
  const items = [...known.keys()];
  const acquired = items.filter((item) => !isOfCaller(item));
  try {
    const admitted = admitAcquired(environment, environment.attempt, acquired, (at, attempt, trusted, item) => {
      const one = known.get(item);
      if (one === undefined || typeof one.value !== "string") return hasSourceSignature(at, attempt, trusted, item);
      return findSourceSignature(environment, trusted, one) !== "unsigned";
    });
    return observeClock(environment, [...items.filter(isOfCaller), ...admitted]);
  } catch (error) {
    // The kernel throws for acquired items that no acquisition can yield.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function qualifyAlone(
  { stage, environment }: Qualification,
  item: PresentedEvidence,
): QualifiedEvidence {
  const condition = stage.conditions[stage.slotOf.get(item.condition_id) ?? -1];
  if (condition === undefined) return { item, lane: item.lane, signer: null, reason: "scope" };
  // An absent value is in its domain: a caller's would have been rejected, and another is recorded as an error.
  return qualifyItem(environment, condition, item);
}

/** Compares values where both are present, otherwise their identities. */
function saysSame(known: Known, earlier: PresentedEvidence, later: PresentedEvidence): boolean {
  if (!isAbsent(known, earlier) && !isAbsent(known, later)) return sameObservation(earlier, later);
  const a = known.get(earlier)?.item;
  const b = known.get(later)?.item;
  if (a?.value_identity === undefined || b?.value_identity === undefined) return false;
  if (a.value_identity === b.value_identity) return true;
  const isOpen = a.value_type === b.value_type && hasSeveralSpellings(a.value_type);
  return isOpen && b.reason === "not_independent";
}

/** The judgement of a condition; null where it needs an absent value. */
function judgeNamed(
  known: Known,
  condition: CompiledCondition,
  items: readonly QualifiedEvidence[],
  contradiction: boolean,
  evaluatedAt: EvaluationTime,
): Judgement | null {
  const { observation_domain: { domain }, predicate: { predicate }, evidence_use_policy } = condition.condition;
  const counting = items.filter(({ reason }) => reason === null);
  const agree = evidence_use_policy.combination.combination === "AllQualifyingAgree";
  const isSettled = contradiction || counting.every(({ item }) => item.error !== undefined || !isAbsent(known, item)) ||
    agree && counting.some(({ item }) => item.error !== undefined);
  if (isSettled) return judgeQualified(condition, items, contradiction, evaluatedAt);
  const names = new Set(counting.map(({ item }) => item.value_identity));
  const isOpen = hasSeveralSpellings(domain) && names.size > (names.has(undefined) ? 2 : 1);
  const asksPresence = predicate === "Exists" || predicate === "NotExists";
  if (agree && isOpen || !asksPresence && !(agree && names.size > 1)) return null;
  return judgeQualified(condition, items.map(withIdentityAsValue), contradiction, evaluatedAt);
}

/** An item with its identity as value: sufficient where only presence and equality matter. */
function withIdentityAsValue(one: QualifiedEvidence): QualifiedEvidence {
  const { value_identity } = one.item;
  if (value_identity === undefined) return one;
  return { ...one, item: { ...one.item, value: { value: value_identity, value_type: "String" } } };
}

/** Only values of these types have several equal spellings. */
function hasSeveralSpellings(type: string | undefined): boolean {
  return type === "Decimal" || type === "Timestamp";
}
