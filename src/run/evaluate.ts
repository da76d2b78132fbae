/**
 * From qualified evidence to a truth value with its whole trace.
 *
 * @module
 */

import { FALSE, type Tri, triName, TRUE, UNKNOWN } from "../law/value/types.ts";
import type { CompiledCondition, CompiledStage } from "./compile.ts";
import { type Program, runProgram } from "./program.ts";
import { applyIndependence, type QualifiedEvidence, sameObservation } from "./qualify.ts";
import type { TraceItem } from "./types.ts";

/** The truth of one condition, and why it is Unknown where it is. */
export interface Judgement {
  readonly value: Tri;
  readonly reason?: NonNullable<TraceItem["reason"]>;
}

const NO_EVIDENCE: Judgement = { value: UNKNOWN, reason: "no_evidence" };
const DISAGREEMENT: Judgement = { value: UNKNOWN, reason: "disagreement" };
const UNQUALIFIED: Judgement = { value: UNKNOWN, reason: "unqualified" };
const TYPE_MISMATCH: Judgement = { value: UNKNOWN, reason: "type_mismatch" };
const ERROR: Judgement = { value: UNKNOWN, reason: "error" };

/** The judgement of one counting item: an observed error is Unknown for every predicate, as is a found nothing for all but the two that ask for it. */
function judgeItem(condition: CompiledCondition, { item }: QualifiedEvidence): Judgement {
  if (item.error !== undefined) return ERROR;
  if (item.value === null) {
    return condition.onFoundNothing === UNKNOWN ? NO_EVIDENCE : { value: condition.onFoundNothing };
  }
  const value = condition.judge(item.value);
  return value === UNKNOWN ? TYPE_MISMATCH : { value };
}

function judgeAgreement(condition: CompiledCondition, items: readonly QualifiedEvidence[]): Judgement {
  const [first, ...rest] = items;
  if (first === undefined) return UNQUALIFIED;
  // An observed error is a qualifying source that did not say; dropping it would let absence pass.
  if (items.some(({ item }) => item.error !== undefined)) return ERROR;
  if (rest.some((other) => !sameObservation(first.item, other.item))) return DISAGREEMENT;
  return judgeItem(condition, first);
}

function judgeAny(judgements: readonly Judgement[]): Judgement {
  const certain = judgements.find(({ value }) => value === TRUE);
  if (certain !== undefined) return certain;
  return judgements.find(({ value }) => value === UNKNOWN) ?? { value: FALSE };
}

function judgeQuorum(judgements: readonly Judgement[], minimum: number): Judgement {
  const trues = judgements.filter(({ value }) => value === TRUE).length;
  const falses = judgements.filter(({ value }) => value === FALSE).length;
  if (trues >= minimum && falses < minimum) return { value: TRUE };
  if (falses >= minimum && trues < minimum) return { value: FALSE };
  if (trues >= minimum) return DISAGREEMENT;
  return judgements.find(({ value }) => value === UNKNOWN) ?? UNQUALIFIED;
}

/**
 * Judges a condition from its items as {@link applyIndependence} left them.
 *
 * @returns The judgement, and the items with the verdict of independence.
 */
export function judgeCondition(
  condition: CompiledCondition,
  presented: readonly QualifiedEvidence[],
): { judgement: Judgement; items: readonly QualifiedEvidence[] } {
  if (presented.length === 0) return { judgement: NO_EVIDENCE, items: presented };
  const { items, contradiction } = applyIndependence(presented);
  const counting = items.filter(({ reason }) => reason === null);
  if (counting.length === 0) return { judgement: UNQUALIFIED, items };
  if (contradiction) return { judgement: DISAGREEMENT, items };
  const { combination } = condition.condition.evidence_use_policy;
  if (combination.combination === "AllQualifyingAgree") {
    return { judgement: judgeAgreement(condition, counting), items };
  }
  const judgements = counting.map((item) => judgeItem(condition, item));
  const judgement = combination.combination === "AnyQualifying"
    ? judgeAny(judgements)
    : judgeQuorum(judgements, combination.minimum);
  return { judgement, items };
}

/** The whole trace of a requirement over conditions: one line a leaf visit. */
export function traceConditions(program: Program, judgements: readonly Judgement[]): TraceItem[] {
  const { paths, visits, slots } = program;
  const trace: TraceItem[] = new Array(paths.length);
  for (let visit = 0; visit < paths.length; visit++) {
    const slot = visits[visit] ?? 0;
    const judgement = judgements[slot] ?? NO_EVIDENCE;
    const path = paths[visit] ?? "";
    const condition_id = slots[slot] ?? "";
    const value = triName(judgement.value);
    trace[visit] = judgement.reason === undefined
      ? { path, condition_id, value }
      : { path, condition_id, value, reason: judgement.reason };
  }
  return trace;
}

/** The truth of a stage's completion requirement with its trace, from judgements by slot. */
export function evaluateCompletion(
  stage: CompiledStage,
  judgements: readonly Judgement[],
): { outcome: Tri; trace: TraceItem[] } {
  const values = new Uint8Array(judgements.length);
  for (let slot = 0; slot < judgements.length; slot++) values[slot] = judgements[slot]?.value ?? UNKNOWN;
  return { outcome: runProgram(stage.completion, values), trace: traceConditions(stage.completion, judgements) };
}
