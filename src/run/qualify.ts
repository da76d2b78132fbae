/**
 * Evidence qualification: which items count for a condition, and why the others do not (decisions.md 3, "Evidence").
 *
 * @module
 */

import type { EvidenceUsePolicy } from "../law/types.ts";
import { domainEqual } from "../law/value/typed_value.ts";
import { anchorCounts } from "./anchor.ts";
import type { CompiledLaw } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import type { Primitives } from "./primitives.ts";
import { minimumLane, type OperatorProfile, type TrustedKey } from "./profile.ts";
import { type AttemptScope, hasBoundSignature } from "./statement.ts";
import type { DisqualificationReason } from "./types.ts";

/** What qualification reads beside item and policy. */
export interface QualificationSurroundings {
  readonly primitives: Primitives;
  readonly law: CompiledLaw;
  readonly profile: OperatorProfile;
  readonly keys: ReadonlyMap<string, TrustedKey>;
  readonly scope: AttemptScope;
  /** Unix milliseconds of acceptance. */
  readonly accepted_audit_instant: number;
  /** A precheck assumes that evidence is fresh and does not test lanes. */
  readonly assume: boolean;
}

/** An item with its verdict. `lane` is the one that counted. */
export interface QualifiedEvidence {
  readonly item: PresentedEvidence;
  readonly lane: "verified" | "asserted";
  readonly reason: DisqualificationReason | null;
  /** Key of independence: items of one key count once. */
  readonly key: string;
}

function isAuthorized(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean): boolean {
  if (policy.authorization === "embedding_authority") return true;
  if (!signed || item.signature === undefined) return false;
  return policy.authorized_key_ids === undefined || policy.authorized_key_ids.includes(item.signature.key_id);
}

function isFresh(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean, acceptedAt: number): boolean {
  if (policy.freshness.freshness === "NotRequired") return true;
  const instants: number[] = [];
  if (item.acquisition !== undefined) instants.push(item.acquisition.acquired_at);
  if (signed && item.observed_at !== undefined) instants.push(item.observed_at);
  if (instants.length === 0) return false;
  const oldest = Math.min(...instants);
  return Math.max(...instants) <= acceptedAt && acceptedAt - oldest <= policy.freshness.maximum_age_millis;
}

function isIntact(
  policy: EvidenceUsePolicy,
  item: PresentedEvidence,
  signed: boolean,
  profile: OperatorProfile,
): boolean {
  if (!item.hash_recomputes) return false;
  switch (policy.integrity) {
    case "canonical_content_only":
      return true;
    case "anchored_content":
      return anchorCounts(item.anchor, item.provider_id, profile.anchors);
    case "signed_content":
      return signed;
  }
}

function isAssured(
  policy: EvidenceUsePolicy,
  item: PresentedEvidence,
  signed: boolean,
  profile: OperatorProfile,
): boolean {
  return policy.required_assurance.every((assurance) => {
    switch (assurance) {
      case "content_integrity":
        return item.hash_recomputes;
      case "scope":
        // Items are looked up by the condition they name, so one that names another never gets here.
        return true;
      case "schema_compatibility":
        return item.schema_verdict !== "invalid";
      case "source_anchor":
        return anchorCounts(item.anchor, item.provider_id, profile.anchors);
      case "source_signature":
        return signed;
    }
  });
}

function laneOf(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean): "verified" | "asserted" {
  if (item.channel !== "caller_submission") return item.lane;
  return policy.authorization === "embedding_authority" || signed ? "verified" : "asserted";
}

function independenceKey(policy: EvidenceUsePolicy, item: PresentedEvidence, signed: boolean): string {
  if (policy.independence === "not_required") return `item ${item.item_id}`;
  if (signed && item.signature !== undefined) return `key ${item.signature.key_id}`;
  if (item.channel === "caller_submission") return "caller";
  return policy.independence === "distinct_provider" ? `provider ${item.provider_id}` : `binding ${item.binding_id}`;
}

function disqualification(
  surroundings: QualificationSurroundings,
  policy: EvidenceUsePolicy,
  item: PresentedEvidence,
  signed: boolean,
  lane: "verified" | "asserted",
): DisqualificationReason | null {
  const { profile, assume } = surroundings;
  if (!policy.allowed_channels.includes(item.channel)) return "channel";
  if (!isAuthorized(policy, item, signed)) return "authorization";
  if (!assume && lane === "asserted" && minimumLane(profile, item.provider_id ?? null) === "verified") return "lane";
  // An observed error has no value to be fresh, intact or assured; it counts as Unknown.
  if (item.error !== undefined) return null;
  if (!assume && !isFresh(policy, item, signed, surroundings.accepted_audit_instant)) return "not_fresh";
  if (!isIntact(policy, item, signed, profile)) return "integrity";
  return isAssured(policy, item, signed, profile) ? null : "assurance";
}

/** Tests one item alone; independence needs its peers and comes after. */
export function qualifyItem(
  surroundings: QualificationSurroundings,
  policy: EvidenceUsePolicy,
  item: PresentedEvidence,
): QualifiedEvidence {
  const signed = item.signature !== undefined &&
    hasBoundSignature(surroundings.primitives, surroundings.keys, surroundings.law, surroundings.scope, item);
  const lane = laneOf(policy, item, signed);
  return {
    item,
    lane,
    reason: disqualification(surroundings, policy, item, signed, lane),
    key: independenceKey(policy, item, signed),
  };
}

/** Whether two items say the same: equal values, or both that nothing was found. */
export function sameObservation(a: PresentedEvidence, b: PresentedEvidence): boolean {
  if (a.value === null || b.value === null) {
    return a.value === b.value && a.error === undefined && b.error === undefined;
  }
  return domainEqual(a.value, b.value);
}

/**
 * Applies independence among the items of one condition: of those with one key, equal ones collapse into the first.
 *
 * @returns The items, and whether one acquisition contradicts itself, which makes the condition Unknown.
 */
export function applyIndependence(
  items: readonly QualifiedEvidence[],
): { items: QualifiedEvidence[]; contradiction: boolean } {
  const first = new Map<string, QualifiedEvidence>();
  let contradiction = false;
  const result = items.map((item) => {
    if (item.reason !== null) return item;
    const earlier = first.get(item.key);
    if (earlier === undefined) {
      first.set(item.key, item);
      return item;
    }
    if (!sameObservation(earlier.item, item.item)) {
      contradiction = true;
      return item;
    }
    return { ...item, reason: "not_independent" as const };
  });
  return { items: result, contradiction };
}
