/**
 * Claim 16: every item of evidence has the form that its condition and channel require, and a value of the domain of
 * the condition.
 *
 * @module
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { compareCodePoints } from "../../../canonical/order.ts";
import { utf8Length } from "../../../canonical/utf8.ts";
import { checkInDomain } from "../../../law/value/typed_value.ts";
import { isClockError } from "../../../run/attempt.ts";
import type { CompiledStage } from "../../../run/compile.ts";
import { ITEMS_PER_CALL, ITEMS_PER_CONDITION, maximumValueBytes } from "../../../run/evidence.ts";
import { asJson } from "../../../run/primitives.ts";
import { isOfCaller } from "../../../run/qualify.ts";
import { waitingFor } from "../../../run/submitted_evidence.ts";
import type { RecordedEvidence, WaitingEvidence } from "../../../run/types.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { atItem, atRevision, violation } from "../findings.ts";
import { isValue, itemsOf, type Step, type StepItem } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** Checks the form of every item, and that its value lies in the domain of its condition. */
export function checkItems(step: Step): Violation | null {
  // The first record has no state before it, so only its kind is checked, by another claim.
  if (step.record.record_kind !== "stage_evaluated" || step.before === null) return null;
  const stage = step.law.stages[step.law.stageIndex.get(step.record.body.stage_id) ?? -1];
  // Another claim reports an unknown stage.
  if (stage === undefined) return null;
  const items = itemsOf(step);
  const waiting = waitingFor(step.before, step.record.body.stage_id);
  const code = orderFault(items) ?? countFault(items) ?? waitingFault(items, waiting);
  if (code !== null) return violation(code, atRevision(step.record.revision));
  for (const [index, one] of items.entries()) {
    const fault = itemFault(step, stage, one);
    if (fault !== null) return violation(fault, atItem(step.record.revision, index));
  }
  return null;
}

/** Items of a caller come first, numbered; then those that waited; acquired items follow, ordered by id. */
function orderFault(items: readonly StepItem[]): ViolationCode | null {
  const callers = items.filter(({ item }) => item.channel === "caller_submission").length;
  const given = callers + items.filter(({ item }) => item.channel === "accepted_submission").length;
  for (const [index, { item }] of items.entries()) {
    if (index < callers) {
      if (item.item_id !== `caller:${index}`) return "item_invalid";
      continue;
    }
    if (index < given) {
      const isOwn = item.channel === "accepted_submission" &&
        item.item_id === `submission:${item.submission_record_id}`;
      if (!isOwn) return "item_invalid";
      continue;
    }
    const before = index > given ? items[index - 1]?.item.item_id : undefined;
    const order = before === undefined ? -1 : compareCodePoints(before, item.item_id);
    if (order === 0) return "item_repeated";
    if (order > 0 || isOfCaller(item) || item.item_id !== `binding:${item.binding_id}`) return "item_invalid";
  }
  return null;
}

/** The items that waited are exactly those of the state: a call can leave out none. */
function waitingFault(items: readonly StepItem[], waiting: readonly WaitingEvidence[]): ViolationCode | null {
  const own = items.flatMap(({ item }) => item.channel === "accepted_submission" ? [item] : []);
  const expected = new Set(waiting.map(({ record_id }) => record_id));
  if (own.some(({ submission_record_id }) => !expected.has(submission_record_id ?? ""))) return "submission_unexpected";
  const found = new Set(own.map(({ submission_record_id }) => submission_record_id));
  if (waiting.some(({ record_id }) => !found.has(record_id))) return "submission_missing";
  if (own.length > waiting.length) return "submission_unexpected";
  return own.every((item, index) => repeats(item, waiting[index])) ? null : "submission_mismatch";
}

/** Whether an item repeats the members of its submission, in its place. */
function repeats(item: RecordedEvidence, waiting: WaitingEvidence | undefined): boolean {
  return waiting !== undefined && item.submission_record_id === waiting.record_id &&
    item.condition_id === waiting.condition_id && item.value_identity === waiting.value_identity &&
    item.value_type === waiting.value_type && item.observed_at === waiting.observed_at &&
    item.content_hash?.value === waiting.content_hash?.value && item.schema_verdict === waiting.schema_verdict &&
    item.anchor === undefined && sameJson(asJson(item.signature ?? {}), asJson(waiting.signature));
}

function countFault(items: readonly StepItem[]): ViolationCode | null {
  const callers = items.filter(({ item }) => item.channel === "caller_submission");
  if (callers.length > ITEMS_PER_CALL) return "items_unexpected";
  const counts = new Map<string, number>();
  for (const { item: { condition_id } } of callers) counts.set(condition_id, (counts.get(condition_id) ?? 0) + 1);
  return [...counts.values()].some((count) => count > ITEMS_PER_CONDITION) ? "items_unexpected" : null;
}

function itemFault({ law, environment }: Step, stage: CompiledStage, { item, value }: StepItem): ViolationCode | null {
  const compiled = law.conditionIndex.get(item.condition_id);
  if (compiled === undefined || !stage.slotOf.has(item.condition_id)) return "condition_mismatch";
  if (item.retention !== compiled.retention) return "retention_mismatch";
  const domain = compiled.condition.observation_domain;
  if (!hasMembers(item)) return "item_invalid";
  if (item.value_type !== undefined && item.value_type !== domain.domain) return "value_type_mismatch";
  const asksVerdict = domain.domain === "Json" && domain.schema !== undefined && item.value_identity !== undefined;
  if (asksVerdict !== (item.schema_verdict !== undefined)) return "schema_verdict_mismatch";
  if (!isValue(value)) return null;
  if (checkInDomain(value, domain) !== null) return "value_invalid";
  const bytes = utf8Length(canonicalize(value.value));
  return bytes > maximumValueBytes(law, environment.profile) ? "value_invalid" : null;
}

/**
 * An item has exactly one of a value, an error and `found_nothing`; an error of the clock is not counted. A caller has
 * a value.
 */
function hasMembers(item: RecordedEvidence): boolean {
  const { value_identity, value_type, content_hash, found_nothing } = item;
  const error = isClockError(item) ? undefined : item.error;
  const valued = value_identity !== undefined;
  if (valued !== (value_type !== undefined) || valued !== (content_hash !== undefined)) return false;
  if ([valued, error !== undefined, found_nothing === true].filter(Boolean).length !== 1) return false;
  if ((item.channel === "accepted_submission") !== (item.submission_record_id !== undefined)) return false;
  if (!isOfCaller(item)) return item.provider_id !== undefined && item.binding_id !== undefined;
  return valued && item.provider_id === undefined && item.binding_id === undefined &&
    item.hash_recomputes === undefined;
}
