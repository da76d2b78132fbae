/**
 * From evidence to a truth value with its whole trace.
 *
 * @module
 */

import { FALSE, type Kleene, type Tri, triName, TRUE, UNKNOWN } from "../law/value/truth.ts";
import type { CompiledCondition, CompiledStage } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import { type Program, runProgram } from "./program.ts";
import {
  applyIndependence,
  observeClock,
  type QualificationEnvironment,
  type QualifiedEvidence,
  qualifyItem,
  sameObservation,
} from "./qualify.ts";
import type { TraceItem } from "./types.ts";

/** The truth of one condition, and why it is Unknown where it is. */
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
const ERROR: Judgement = { value: UNKNOWN, reason: "error" };

function judgementOf(value: Tri, unknown: Judgement): Judgement {
  if (value === UNKNOWN) return unknown;
  return value === TRUE ? HOLDS : FAILS;
}

/**
 * The judgement of one counting item: an observed error is Unknown for every predicate, as is a found nothing for all but the two
 * that ask for it.
 */
function judgeItem(condition: CompiledCondition, { item }: QualifiedEvidence): Judgement {
  if (item.error !== undefined) return ERROR;
  if (item.value === null) return judgementOf(condition.onFoundNothing, NO_EVIDENCE);
  return judgementOf(condition.judge(item.value), TYPE_MISMATCH);
}

function judgeAgreement(condition: CompiledCondition, counting: readonly QualifiedEvidence[]): Judgement {
  const [first, ...rest] = counting;
  if (first === undefined) return UNQUALIFIED;
  // An observed error is a qualifying source that did not say; dropping it would let absence pass.
  if (counting.some(({ item }) => item.error !== undefined)) return ERROR;
  if (rest.some((other) => !sameObservation(first.item, other.item))) return DISAGREEMENT;
  return judgeItem(condition, first);
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
 * Judges a condition from its items, each already tested alone.
 *
 * @returns The judgement, and the items with the verdict of independence, in the order given.
 */
function judgeCondition(
  condition: CompiledCondition,
  presented: readonly QualifiedEvidence[],
): { readonly judgement: Judgement; readonly items: readonly QualifiedEvidence[] } {
  const { items, contradiction } = applyIndependence(condition.condition.evidence_use_policy, presented);
  return { judgement: judgeQualified(condition, items, contradiction), items };
}

/**
 * Judges a condition from its items, each with its verdict.
 *
 * @param contradiction Whether one acquisition contradicts itself
 */
export function judgeQualified(
  condition: CompiledCondition,
  items: readonly QualifiedEvidence[],
  contradiction: boolean,
): Judgement {
  if (items.length === 0) return NO_EVIDENCE;
  const counting = items.filter(({ reason }) => reason === null);
  if (counting.length === 0) return UNQUALIFIED;
  if (contradiction) return DISAGREEMENT;
  const { combination } = condition.condition.evidence_use_policy;
  if (combination.combination === "AllQualifyingAgree") return judgeAgreement(condition, counting);
  const judgements = counting.map((item) => judgeItem(condition, item));
  return combination.combination === "AnyQualifying"
    ? judgeAny(judgements)
    : judgeQuorum(judgements, combination.minimum, counting.length === items.length);
}

/** {@link judgeCondition} for the one item that most conditions have: it agrees with itself and is independent of nothing. */
function judgeSingle(condition: CompiledCondition, only: QualifiedEvidence): Judgement {
  const { combination } = condition.condition.evidence_use_policy;
  if (combination.combination === "Quorum") return judgeCondition(condition, [only]).judgement;
  return only.reason === null ? judgeItem(condition, only) : UNQUALIFIED;
}

/** The whole trace of a requirement over conditions: one line a leaf visit. */
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

/** The truth of a stage's completion requirement with its trace, from judgements by slot. */
export function evaluateCompletion(
  { completion, scratch: { values } }: CompiledStage,
  judgements: readonly Judgement[],
): { readonly outcome: Tri; readonly trace: TraceItem[] } {
  for (let slot = 0; slot < values.length; slot++) values[slot] = judgements[slot]?.value ?? UNKNOWN;
  return { outcome: runProgram(completion, values), trace: traceConditions(completion, judgements) };
}

/** The evaluation of one stage's evidence, before anything is recorded. */
export interface Evaluation {
  readonly outcome: Kleene;
  readonly trace: readonly TraceItem[];
  /** Every item, in the order presented. */
  readonly evidence: readonly QualifiedEvidence[];
}

/** Where a place among the items would stand: no item yet. */
const NONE = -1;

/** Qualifies and judges all evidence of a stage. Used alike by evaluation, precheck and replay. */
export function evaluateEvidence(
  compiled: CompiledStage,
  presented: readonly PresentedEvidence[],
  environment: QualificationEnvironment,
): Evaluation {
  const items = observeClock(environment, presented);
  const { conditions, slotOf, scratch: { places } } = compiled;
  const evidence: QualifiedEvidence[] = [];
  // Most conditions have one item, whose place is all there is to remember.
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
    if (condition === undefined || only === undefined) judgements.push(NO_EVIDENCE);
    else judgements.push(more === undefined ? judgeSingle(condition, only) : judgeSeveral(condition, more, evidence));
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

/** Judges a condition by the items at the given places, and writes the verdicts of independence there. */
function judgeSeveral(
  condition: CompiledCondition,
  places: readonly number[],
  evidence: QualifiedEvidence[],
): Judgement {
  const { judgement, items } = judgeCondition(condition, places.flatMap((place) => evidence[place] ?? []));
  items.forEach((one, index) => evidence[places[index] ?? NONE] = one);
  return judgement;
}
