/**
 * Qualifies evidence: which items count for a condition, and why others do not (docs/format/records.md,
 * "Qualification").
 */

import type { Condition, EvidenceUsePolicy } from "../law/types.ts";
import { checkInDomain, domainEqual } from "../law/value/typed_value.ts";
import { usesEvaluationTime } from "../law/value/types.ts";
import { anchorCounts } from "./anchor.ts";
import { CLOCK_BEHIND_RUN, type EvaluatedAttempt } from "./attempt.ts";
import type { Environment } from "./command.ts";
import { type CompiledCondition, type CompiledLaw, keysOf } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import { type Lane, minimumLane } from "./profile.ts";
import { hasBoundSignature } from "./statement.ts";
import type { DisqualificationReason } from "./types.ts";

/** Whether a check of the trigger time gave an item. A provider of the operator may have been called calendar. */
function isOfClock({ provider_id, channel }: PresentedEvidence): boolean {
  return provider_id === "time" || (provider_id === "calendar" && channel === "local_acquisition");
}

/** The environment of a decision with the law and the attempt. */
export interface QualificationEnvironment extends Environment {
  readonly law: CompiledLaw;
  /**
   * Null for a precheck, which has no attempt. Acquired items then count as signed and anchored, freshness as met, and
   * lanes are not tested. No signature of a caller is bound to a precheck.
   */
  readonly attempt: EvaluatedAttempt | null;
  /** Unix milliseconds that stand for the evaluation time in a precheck. */
  readonly precheck_at?: EvaluationTime;
}

/** The time that relative expected values are relative to, in Unix milliseconds; null if there is no such time. */
export type EvaluationTime = number | null;

/** The evaluation time of an attempt or a precheck. Laws of `gate-kernel-1` had no relative time. */
export function evaluationTime({ attempt, precheck_at, procedure }: QualificationEnvironment): EvaluationTime {
  if (attempt === null) return precheck_at ?? null;
  return procedure === "gate-kernel-1" ? null : attempt.evaluated_at;
}

/** An item with its verdict. */
export interface QualifiedEvidence {
  readonly item: PresentedEvidence;
  /** The lane that applies to the item. */
  readonly lane: Lane;
  /** Names the trusted key whose signature is bound to this item and attempt; null without such a signature. */
  readonly signer: string | null;
  readonly reason: DisqualificationReason | null;
}

/** Whether a caller gave the item, with the evaluation or in an earlier submission. */
export function isOfCaller({ channel }: Pick<PresentedEvidence, "channel">): boolean {
  return channel === "caller_submission" || channel === "accepted_submission";
}

/** Whether an item belongs to its condition: a caller's item names it, an acquired item must match its binding. */
function namesCondition(law: CompiledLaw, item: PresentedEvidence): boolean {
  if (isOfCaller(item)) return true;
  const binding = law.bindingIndex.get(item.binding_id ?? "");
  return binding !== undefined && binding.condition_id === item.condition_id && binding.channel === item.channel &&
    binding.provider_id === item.provider_id;
}

function isAuthorized(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean): boolean {
  // Every caller that reaches the kernel is authenticated or local, so the embedding authority admitted it.
  if (policy.authorization === "embedding_authority") return true;
  if (!signed) return false;
  // Only the assumed acquisition of a precheck counts as signed without a signature.
  if (policy.authorized_key_ids === undefined || item.signature === undefined) return true;
  return policy.authorized_key_ids.includes(item.signature.key_id);
}

function isFresh(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean, evaluatedAt: number): boolean {
  const { submission } = item;
  if (submission?.valid_until !== undefined && evaluatedAt > submission.valid_until) return false;
  if (policy.freshness.freshness === "NotRequired") return true;
  const instants: number[] = [];
  if (item.acquisition !== undefined) instants.push(item.acquisition.acquired_at);
  if (submission !== undefined) instants.push(submission.submitted_at);
  if (signed && item.observed_at !== undefined) instants.push(item.observed_at);
  if (instants.length === 0) return false;
  const oldest = Math.min(...instants);
  return Math.max(...instants) <= evaluatedAt && evaluatedAt - oldest <= policy.freshness.maximum_age_millis;
}

function isAnchored({ attempt, profile }: QualificationEnvironment, item: PresentedEvidence): boolean {
  if (attempt === null && !isOfCaller(item)) return true;
  return anchorCounts(item.anchor, item.provider_id, profile.anchors);
}

function isIntact(
  environment: QualificationEnvironment,
  policy: EvidenceUsePolicy,
  item: PresentedEvidence,
  signed: boolean,
): boolean {
  if (!item.hash_recomputes) return false;
  switch (policy.integrity) {
    case "canonical_content_only":
      return true;
    case "anchored_content":
      return isAnchored(environment, item);
    case "signed_content":
      return signed;
  }
}

/**
 * Whether a value is in the domain and valid under its schema. A missing verdict is not `valid`. An item that found
 * nothing has no value to test. A verifier may have only the identity of a value; the recorded verdict still counts.
 */
function isCompatible(
  { observation_domain: domain }: CompiledCondition["condition"],
  item: PresentedEvidence,
): boolean {
  if (item.value === null && item.value_identity === undefined) return true;
  if (domain.domain === "Json" && domain.schema !== undefined && item.schema_verdict !== "valid") return false;
  // A caller's item outside the domain was rejected before.
  return isOfCaller(item) || item.value === null || checkInDomain(item.value, domain) === null;
}

function isAssured(
  environment: QualificationEnvironment,
  condition: CompiledCondition["condition"],
  item: PresentedEvidence,
  signed: boolean,
): boolean {
  for (const assurance of condition.evidence_use_policy.required_assurance) {
    switch (assurance) {
      case "content_integrity":
        if (!item.hash_recomputes) return false;
        break;
      case "scope":
        if (!namesCondition(environment.law, item)) return false;
        break;
      case "schema_compatibility":
        if (!isCompatible(condition, item)) return false;
        break;
      case "source_anchor":
        if (!isAnchored(environment, item)) return false;
        break;
      case "source_signature":
        if (!signed) return false;
        break;
    }
  }
  return true;
}

function laneOf(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean): Lane {
  if (isOfCaller(item)) {
    return policy.authorization === "embedding_authority" || signed ? "verified" : "asserted";
  }
  // A caller that gives the trigger time decides the result of a check of that time.
  if (item.acquisition?.trigger_time_given === true && isOfClock(item)) return "asserted";
  return item.lane;
}

/** The first test that an item fails, in the order in which the documentation lists them. */
function disqualification(
  environment: QualificationEnvironment,
  condition: CompiledCondition["condition"],
  item: PresentedEvidence,
  signed: boolean,
  lane: Lane,
): DisqualificationReason | null {
  const { profile, attempt, law } = environment;
  const policy = condition.evidence_use_policy;
  if (!namesCondition(law, item)) return "scope";
  if (!policy.allowed_channels.includes(item.channel)) return "channel";
  if (!isAuthorized(policy, item, signed)) return "authorization";
  if (attempt !== null && lane === "asserted" && minimumLane(profile, item.provider_id ?? null) === "verified") {
    return "lane";
  }
  // An observed error has no value to test; it counts as Unknown.
  if (item.error !== undefined) return null;
  if (attempt !== null && !isFresh(policy, item, signed, attempt.evaluated_at)) return "not_fresh";
  if (!isIntact(environment, policy, item, signed)) return "integrity";
  return isAssured(environment, condition, item, signed) ? null : "assurance";
}

function isSigned(environment: QualificationEnvironment, own: CompiledCondition, item: PresentedEvidence): boolean {
  const { primitives, law, attempt } = environment;
  const keys = keysOf(own, environment.keys);
  // The signature was verified at the submission. The profile of the evaluation decides whether its key still counts.
  if (item.submission !== undefined) {
    return keys.get(item.signature?.key_id ?? "")?.public_key === item.submission.public_key;
  }
  if (attempt === null) return !isOfCaller(item);
  return item.signature !== undefined && hasBoundSignature(primitives, keys, law, attempt, item);
}

/** Whether an item depends on the reading of the time authority: a check of it without a given trigger time. */
function restsOnAuthority(item: PresentedEvidence): boolean {
  return isOfClock(item) && item.acquisition !== undefined && item.acquisition.trigger_time_given !== true;
}

/** Whether the evaluation time decides which values satisfy a condition, or which of its items count. */
function dependsOnTime({ predicate, evidence_use_policy }: Condition): boolean {
  return evidence_use_policy.freshness.freshness === "MaximumAge" || usesEvaluationTime(predicate);
}

/**
 * Marks items if the time authority is too far behind the run: every item of a condition that depends on the time
 * becomes an observed error. It keeps its value, so that a replay derives the error again.
 */
export function observeClock(
  { law, attempt }: QualificationEnvironment,
  items: readonly PresentedEvidence[],
): readonly PresentedEvidence[] {
  if (attempt?.clock_behind_run !== true) return items;
  const stamped = new Set(
    items.filter((item) => restsOnAuthority(item) || item.submission?.valid_until !== undefined).map((item) =>
      item.condition_id
    ),
  );
  return items.map((item) => {
    const condition = law.conditionIndex.get(item.condition_id)?.condition;
    const isJudgedByIt = stamped.has(item.condition_id) || condition !== undefined && dependsOnTime(condition);
    return isJudgedByIt && item.error === undefined ? { ...item, error: CLOCK_BEHIND_RUN } : item;
  });
}

/** The key that signed an item. One key may have several ids, so `gate-kernel-2` identifies it by its bytes. */
function signerOf(
  { procedure, keys }: QualificationEnvironment,
  own: CompiledCondition,
  { signature }: PresentedEvidence,
): string | null {
  if (signature === undefined || procedure === "gate-kernel-1") return signature?.key_id ?? null;
  // A key whose base64 is not canonical verifies no signature, so equal bytes have equal texts.
  return keysOf(own, keys).get(signature.key_id)?.public_key ?? null;
}

/** Tests one item alone. Independence needs the other items and comes afterwards. */
export function qualifyItem(
  environment: QualificationEnvironment,
  own: CompiledCondition,
  item: PresentedEvidence,
): QualifiedEvidence {
  const { condition } = own;
  const signed = isSigned(environment, own, item);
  const lane = laneOf(condition.evidence_use_policy, item, signed);
  const signer = signed ? signerOf(environment, own, item) : null;
  return { item, lane, signer, reason: disqualification(environment, condition, item, signed, lane) };
}

/** Whether two items without an error have equal values, or both found nothing. */
export function sameObservation(a: PresentedEvidence, b: PresentedEvidence): boolean {
  if (a.value === null || b.value === null) return a.value === b.value;
  return domainEqual(a.value, b.value);
}

/** Items with the same key are one acquisition and count once. */
function independenceKey(policy: EvidenceUsePolicy, { item, signer }: QualifiedEvidence): string {
  if (signer !== null) return `key ${signer}`;
  if (isOfCaller(item)) return "caller";
  return policy.independence === "distinct_provider" ? `provider ${item.provider_id}` : `binding ${item.binding_id}`;
}

/** Whether a key signed an item of the call and a submission that differ. It holds without independence too. */
function contradictsSubmission(items: readonly QualifiedEvidence[], same: typeof sameObservation): boolean {
  const counting = items.filter(({ item, reason, signer }) =>
    reason === null && item.error === undefined && signer !== null
  );
  return counting.some((one) =>
    one.item.submission !== undefined &&
    counting.some((other) =>
      other.item.channel === "caller_submission" && other.signer === one.signer && !same(other.item, one.item)
    )
  );
}

/**
 * Applies independence to the items of one condition: of items with the same key, equal ones collapse into the first.
 * Observed errors stay as they are, since they count for neither side.
 *
 * @param same Whether a later item has the same observation as an earlier one
 * @returns The items, and whether one acquisition contradicts itself, which makes the condition Unknown
 */
export function applyIndependence(
  policy: EvidenceUsePolicy,
  items: readonly QualifiedEvidence[],
  same: typeof sameObservation = sameObservation,
): { readonly items: readonly QualifiedEvidence[]; readonly contradiction: boolean } {
  if (policy.independence === "not_required") return { items, contradiction: contradictsSubmission(items, same) };
  const first = new Map<string, QualifiedEvidence>();
  let contradiction = false;
  const judged = items.map((one) => {
    if (one.reason !== null || one.item.error !== undefined) return one;
    const key = independenceKey(policy, one);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, one);
      return one;
    }
    if (same(earlier.item, one.item)) return { ...one, reason: "not_independent" as const };
    contradiction = true;
    return one;
  });
  return { items: judged, contradiction };
}
