/** Evaluates evidence: the truth value of a stage, with its whole trace. */

import { FALSE, type Kleene, type Tri, triName, TRUE, UNKNOWN } from "../law/value/truth.ts";
import type { CompiledCondition, CompiledStage } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import { type Program, runProgram } from "./program.ts";
import {
  applyIndependence,
  type EvaluationTime,
  evaluationTime,
  observeClock,
  type QualificationEnvironment,
  type QualifiedEvidence,
  qualifyItem,
  sameObservation,
} from "./qualify.ts";
import type { TraceItem } from "./types.ts";

/** The truth of one condition, with the reason of an Unknown. */
export interface Judgement {
  readonly value: Tri;
  readonly reason?: NonNullable<TraceItem["reason"]>;
}

const HOLDS: Judgement = { value: TRUE };
const FAILS: Judgement = { value: FALSE };
const NO_EVIDENCE: Judgement = { value: UNKNOWN, reason: "no_evidence" };
const DISAGREEMENT: Judgement = { value: UNKNOWN, reason: "disagreement" };
const UNQUALIFIED: Judgement = { value: UNKNOWN, reason: "unqualified" };
const TYPE_MISMATCH: Judgement = { value: UNKNOWN, reason: "type_mismatch" };
const PARAMETER_MISSING: Judgement = { value: UNKNOWN, reason: "parameter_missing" };
const ERROR: Judgement = { value: UNKNOWN, reason: "error" };

function judgementOf(value: Tri, unknown: Judgement): Judgement {
  if (value === UNKNOWN) return unknown;
  return value === TRUE ? HOLDS : FAILS;
}

/**
 * The judgement of one counting item. An observed error is Unknown for every predicate. An item that found nothing is
 * Unknown for every predicate except `Exists` and `NotExists`.
 */
function judgeItem(condition: CompiledCondition, { item }: QualifiedEvidence, evaluatedAt: EvaluationTime): Judgement {
  if (item.error !== undefined) return ERROR;
  if (item.value === null) return judgementOf(condition.onFoundNothing, NO_EVIDENCE);
  return judgementOf(condition.judge(item.value, evaluatedAt), TYPE_MISMATCH);
}

function judgeAgreement(
  condition: CompiledCondition,
  counting: readonly QualifiedEvidence[],
  evaluatedAt: EvaluationTime,
): Judgement {
  const [first, ...rest] = counting;
  if (first === undefined) return UNQUALIFIED;
  // An observed error is a qualifying source without an answer. If it were dropped, the condition could pass by
  // absence.
  if (counting.some(({ item }) => item.error !== undefined)) return ERROR;
  if (rest.some((other) => !sameObservation(first.item, other.item))) return DISAGREEMENT;
  return judgeItem(condition, first, evaluatedAt);
}

/** Kleene Or. */
function judgeAny(judgements: readonly Judgement[]): Judgement {
  const certain = judgements.find(({ value }) => value === TRUE);
  return certain ?? judgements.find(({ value }) => value === UNKNOWN) ?? FAILS;
}

function judgeQuorum(judgements: readonly Judgement[], minimum: number, allQualified: boolean): Judgement {
  const trues = judgements.filter(({ value }) => value === TRUE).length;
  const falses = judgements.filter(({ value }) => value === FALSE).length;
  if (trues >= minimum && falses < minimum) return HOLDS;
  if (falses >= minimum && trues < minimum) return FAILS;
  const unknown = judgements.find(({ value }) => value === UNKNOWN);
  if (unknown !== undefined && trues < minimum) return unknown;
  if (trues > 0 && falses > 0) return DISAGREEMENT;
  return allQualified ? NO_EVIDENCE : UNQUALIFIED;
}

/**
 * Judges a condition from its qualified items: applies independence, then the combination.
 *
 * @returns The judgement, and the items after independence, in the order given
 */
function judgeCondition(
  condition: CompiledCondition,
  presented: readonly QualifiedEvidence[],
  evaluatedAt: EvaluationTime,
): { readonly judgement: Judgement; readonly items: readonly QualifiedEvidence[] } {
  const { items, contradiction } = applyIndependence(condition.condition.evidence_use_policy, presented);
  return { judgement: judgeQualified(condition, items, contradiction, evaluatedAt), items };
}

/**
 * Judges a condition from its items, after independence was applied.
 *
 * @param contradiction Whether one acquisition contradicts itself
 * @param evaluatedAt The time that relative expected values are relative to
 */
export function judgeQualified(
  condition: CompiledCondition,
  items: readonly QualifiedEvidence[],
  contradiction: boolean,
  evaluatedAt: EvaluationTime,
): Judgement {
  if (items.length === 0) return NO_EVIDENCE;
  const counting = items.filter(({ reason }) => reason === null);
  if (counting.length === 0) return UNQUALIFIED;
  if (contradiction) return DISAGREEMENT;
  const { combination } = condition.condition.evidence_use_policy;
  if (combination.combination === "AllQualifyingAgree") return judgeAgreement(condition, counting, evaluatedAt);
  const judgements = counting.map((item) => judgeItem(condition, item, evaluatedAt));
  return combination.combination === "AnyQualifying"
    ? judgeAny(judgements)
    : judgeQuorum(judgements, combination.minimum, counting.length === items.length);
}

/** {@link judgeCondition} for a single item, which is what most conditions have: it needs no test of independence. */
function judgeSingle(
  condition: CompiledCondition,
  only: QualifiedEvidence,
  evaluatedAt: EvaluationTime,
): Judgement {
  const { combination } = condition.condition.evidence_use_policy;
  if (combination.combination === "Quorum") return judgeCondition(condition, [only], evaluatedAt).judgement;
  return only.reason === null ? judgeItem(condition, only, evaluatedAt) : UNQUALIFIED;
}

/** The whole trace of a requirement over conditions: one line for each visit of a leaf. */
function traceConditions(program: Program, judgements: readonly Judgement[]): TraceItem[] {
  const { paths, visits, slots } = program;
  const trace: TraceItem[] = [];
  for (let visit = 0; visit < paths.length; visit++) {
    const slot = visits[visit] ?? 0;
    const judgement = judgements[slot] ?? NO_EVIDENCE;
    const path = paths[visit] ?? "";
    const condition_id = slots[slot] ?? "";
    const value = triName(judgement.value);
    trace.push(
      judgement.reason === undefined
        ? { path, condition_id, value }
        : { path, condition_id, value, reason: judgement.reason },
    );
  }
  return trace;
}

/** The truth and trace of a stage's completion requirement, from judgements by slot. */
export function evaluateCompletion(
  { completion, scratch: { values } }: CompiledStage,
  judgements: readonly Judgement[],
): { readonly outcome: Tri; readonly trace: TraceItem[] } {
  for (let slot = 0; slot < values.length; slot++) values[slot] = judgements[slot]?.value ?? UNKNOWN;
  return { outcome: runProgram(completion, values), trace: traceConditions(completion, judgements) };
}

/** The evaluation of the evidence of one stage. */
export interface Evaluation {
  readonly outcome: Kleene;
  readonly trace: readonly TraceItem[];
  /** Every item, in the order presented. */
  readonly evidence: readonly QualifiedEvidence[];
}

/** In place of the index of an item: the condition has no item yet. */
const NONE = -1;

/** Qualifies and judges all evidence of a stage. Evaluation, precheck and replay share it. */
export function evaluateEvidence(
  compiled: CompiledStage,
  presented: readonly PresentedEvidence[],
  environment: QualificationEnvironment,
): Evaluation {
  const items = observeClock(environment, presented);
  const evaluatedAt = evaluationTime(environment);
  const { conditions, slotOf, scratch: { places } } = compiled;
  const evidence: QualifiedEvidence[] = [];
  // Most conditions have one item; its index is enough. Only the others need a list.
  let several: Map<number, number[]> | null = null;
  places.fill(NONE);
  for (const item of items) {
    const slot = slotOf.get(item.condition_id);
    const condition = slot === undefined ? undefined : conditions[slot];
    if (slot === undefined || condition === undefined) {
      evidence.push({ item, lane: item.lane, signer: null, reason: "scope" });
      continue;
    }
    const first = places[slot] ?? NONE;
    if (first === NONE) places[slot] = evidence.length;
    else several = addPlace(several ?? new Map(), slot, first, evidence.length);
    evidence.push(qualifyItem(environment, condition, item));
  }
  const judgements: Judgement[] = [];
  for (let slot = 0; slot < conditions.length; slot++) {
    const condition = conditions[slot];
    const only = evidence[places[slot] ?? NONE];
    const more = several?.get(slot);
    if (condition?.awaitsParameter === true) judgements.push(PARAMETER_MISSING);
    else if (condition === undefined || only === undefined) judgements.push(NO_EVIDENCE);
    else if (more === undefined) judgements.push(judgeSingle(condition, only, evaluatedAt));
    else judgements.push(judgeSeveral(condition, more, evidence, evaluatedAt));
  }
  const { outcome, trace } = evaluateCompletion(compiled, judgements);
  return { outcome: triName(outcome), trace, evidence };
}

function addPlace(several: Map<number, number[]>, slot: number, first: number, place: number): Map<number, number[]> {
  const places = several.get(slot);
  if (places === undefined) several.set(slot, [first, place]);
  else places.push(place);
  return several;
}

/** Judges a condition by the items at the given indexes, and replaces them by the items after independence. */
function judgeSeveral(
  condition: CompiledCondition,
  places: readonly number[],
  evidence: QualifiedEvidence[],
  evaluatedAt: EvaluationTime,
): Judgement {
  const own = places.flatMap((place) => evidence[place] ?? []);
  const { judgement, items } = judgeCondition(condition, own, evaluatedAt);
  items.forEach((one, index) => evidence[places[index] ?? NONE] = one);
  return judgement;
}
