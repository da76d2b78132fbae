/**
 * Claim 18: every item counted, or did not, as the law's policy and the operator's profile say.
 *
 * @module
 */

import { decodeBase64 } from "../../../canonical/base64.ts";
import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import type { CompiledStage } from "../../../run/compile.ts";
import { admitAcquired, providerTrust } from "../../../run/acquired.ts";
import { anchorCounts } from "../../../run/anchor.ts";
import { recordEvidence } from "../../../run/decide_evaluate.ts";
import { evaluateEvidence } from "../../../run/evaluate.ts";
import type { EvaluatedAttempt, QualificationSurroundings, QualifiedEvidence } from "../../../run/qualify.ts";
import { hasBoundSignature } from "../../../run/statement.ts";
import type { DisqualificationReason, RecordedEvidence } from "../../../run/types.ts";
import { presentRecorded } from "../decide_again.ts";
import { atItem, atRevision, violation } from "../findings.ts";
import { isValue, itemsOf, type RecordClaim, type Step, type StepItem } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** The claim. */
export const EVIDENCE_USE_POLICY: RecordClaim = {
  claim: "evidence_use_policy_satisfaction",
  method: "evidence_qualification_v6",
  needsValues: true,
  check(step): Violation | null {
    const qualification = qualificationOf(step);
    const { revision } = step.record;
    if (qualification === null) return null;
    const items = itemsOf(step);
    const anew = qualifyAnew(qualification.stage, items, qualification.surroundings);
    if (anew === null) return violation("qualification_mismatch", atRevision(revision));
    const complete = items.every(({ value }) => typeof value !== "string");
    for (const [index, one] of items.entries()) {
      const found = anew[index];
      const code = found === undefined
        ? "qualification_mismatch"
        : faultOf(one, recordEvidence(found), complete) ?? errorFault(step, qualification.surroundings, one.item);
      if (code !== null) return violation(code, atItem(revision, index));
    }
    return null;
  },
};

/** What a step's evidence was qualified under; null where the record has none, or its stage is not in the law. */
export function qualificationOf(
  { record, before, law, surroundings }: Step,
): {
  readonly stage: CompiledStage;
  readonly surroundings: QualificationSurroundings & { readonly attempt: EvaluatedAttempt };
} | null {
  if (record.record_kind !== "stage_evaluated" || before === null) return null;
  const stage = law.stages[law.stageIndex.get(record.body.stage_id) ?? -1];
  if (stage === undefined) return null;
  const attempt = {
    run_id: before.run_key.run_id,
    stage_id: record.body.stage_id,
    expected_head: before.head,
    accepted_audit_instant: record.acceptance_time.accepted_audit_instant,
  };
  const { primitives, profile, keys } = surroundings;
  return { stage, surroundings: { primitives, law, profile, keys, attempt } };
}

function qualifyAnew(
  stage: CompiledStage,
  items: readonly StepItem[],
  surroundings: QualificationSurroundings & { readonly attempt: EvaluatedAttempt },
): readonly QualifiedEvidence[] | null {
  const presented = items.map(({ item, value }) => presentRecorded(item, isValue(value) ? value : null));
  const isCaller = (channel: RecordedEvidence["channel"]): boolean => channel === "caller_submission";
  const callers = presented.filter(({ channel }) => isCaller(channel));
  const acquired = presented.filter(({ channel }) => !isCaller(channel));
  const complete = items.every(({ value }) => typeof value !== "string");
  try {
    const admitted = complete ? admitAcquired(surroundings, surroundings.attempt, acquired) : acquired;
    return evaluateEvidence(stage, [...callers, ...admitted], surroundings).evidence;
  } catch (error) {
    // The kernel throws where acquired items could not have come from an acquisition.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Reasons that never depend on a value. */
const WITHOUT_VALUE: readonly DisqualificationReason[] = [
  "scope",
  "channel",
  "authorization",
  "lane",
  "not_fresh",
  "integrity",
];

function faultOf({ item, value }: StepItem, anew: RecordedEvidence, complete: boolean): ViolationCode | null {
  if (anew.lane !== item.lane) return "lane_mismatch";
  if (item.qualified !== (item.reason === undefined && item.error === undefined)) return "qualification_mismatch";
  if (complete) return anew.reason === item.reason && sameError(anew, item) ? null : "qualification_mismatch";
  const [was, is] = [settledReason(item.reason), settledReason(anew.reason)];
  return was === is || typeof value !== "string" && was === undefined ? null : "qualification_mismatch";
}

function settledReason(reason: DisqualificationReason | undefined): DisqualificationReason | undefined {
  return reason !== undefined && WITHOUT_VALUE.includes(reason) ? reason : undefined;
}

function sameError(a: RecordedEvidence, b: RecordedEvidence): boolean {
  return canonicalize((a.error ?? null) as JsonValue) === canonicalize((b.error ?? null) as JsonValue);
}

/** An item that gate itself found unsigned or unanchored: whether it was. */
function errorFault(
  step: Step,
  surroundings: QualificationSurroundings & { readonly attempt: EvaluatedAttempt },
  item: RecordedEvidence,
): ViolationCode | null {
  const { acquisition: witness, error, provider_id, channel } = item;
  if (error === undefined || witness === undefined || provider_id === undefined) return null;
  if (isJsonObject(member(witness.provider_result, "error"))) return null;
  if (error.code === "anchor_invalid") {
    const { anchors } = surroundings.profile;
    const owes = anchors.some((one) => one.provider_id === provider_id) &&
      !anchorCounts(item.anchor, provider_id, anchors);
    const check = step.contracts.get(witness.contract_identity)?.checks.get(witness.check_id);
    const types = check?.anchor_types ?? [];
    const undeclared = item.anchor !== undefined && types.length > 0 && !types.includes(item.anchor.anchor_type);
    return owes || undeclared ? null : "qualification_mismatch";
  }
  if (error.code !== "signature_invalid") return null;
  const trust = providerTrust(surroundings.profile, provider_id, channel);
  if (trust === "audit") return "qualification_mismatch";
  // Of two keys with one id the first is the one that the provider has to sign with.
  const key = trust.require_signature.keys.find(({ key_id }) => key_id === item.signature?.key_id);
  return key !== undefined && isSignedBy(surroundings, item, key) ? "qualification_mismatch" : null;
}

/** Whether a key signed what the provider said, of which only the names are left: as a statement, or as a bare hash. */
function isSignedBy(
  surroundings: QualificationSurroundings & { readonly attempt: EvaluatedAttempt },
  item: RecordedEvidence,
  key: { readonly key_id: string; readonly public_key: string },
): boolean {
  const said = item.acquisition === undefined ? undefined : member(item.acquisition.provider_result, "value");
  if (item.signature?.key_id !== key.key_id || !isJsonObject(said)) return false;
  const [value_identity, hash] = [member(said, "value_identity"), member(said, "content_hash")];
  const { primitives, law, attempt } = surroundings;
  if (typeof value_identity === "string") {
    const presented = { ...presentRecorded(item, null), value_identity };
    if (hasBoundSignature(primitives, new Map([[key.key_id, key]]), law, attempt, presented)) return true;
  }
  const [publicKey, signature] = [decodeBase64(key.public_key), decodeBase64(item.signature.signature)];
  return publicKey !== null && signature !== null && isJsonObject(hash) &&
    primitives.verifyEd25519(publicKey, canonicalize(hash), signature);
}
