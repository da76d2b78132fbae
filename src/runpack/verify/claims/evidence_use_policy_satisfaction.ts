/**
 * Claim 18: every item qualified, or failed to, as the policy of the law and the profile of the operator require.
 *
 * @module
 */

import { isJsonObject, member } from "../../../canonical/json.ts";
import { providerTrust } from "../../../run/acquired.ts";
import { anchorCounts } from "../../../run/anchor.ts";
import { recordEvidence } from "../../../run/decide/decide_evaluate.ts";
import type { RecordedEvidence } from "../../../run/types.ts";
import { atItem, atRevision, violation } from "../findings.ts";
import { type AttemptEnvironment, qualificationOf, requalify } from "../requalify.ts";
import { findSourceSignature } from "../source_signature.ts";
import { itemsOf, type Step, type StepItem } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";
import { sameJson } from "../../format/canonical_text.ts";

/** Qualifies every item again, and compares. */
export function checkQualifications(step: Step): Violation | null {
  const qualification = qualificationOf(step);
  const { revision } = step.record;
  if (qualification === null) return null;
  const items = itemsOf(step);
  const anew = requalify(step, qualification);
  if (anew === null) return violation("qualification_mismatch", atRevision(revision));
  for (const [index, one] of items.entries()) {
    const found = anew.evidence[index];
    const code = found === undefined
      ? "qualification_mismatch"
      : faultOf(one, recordEvidence(found)) ?? errorFault(step, qualification.environment, one);
    if (code !== null) return violation(code, atItem(revision, index));
  }
  return null;
}

function faultOf({ item }: StepItem, anew: RecordedEvidence): ViolationCode | null {
  if (anew.lane !== item.lane) return "lane_mismatch";
  if (item.qualified !== (item.reason === undefined && item.error === undefined)) return "qualification_mismatch";
  const isSame = anew.reason === item.reason && sameJson(anew.error ?? null, item.error ?? null);
  return isSame ? null : "qualification_mismatch";
}

/** Whether an item with an error of gate about its signature or anchor was really unsigned or unanchored. */
function errorFault(step: Step, environment: AttemptEnvironment, one: StepItem): ViolationCode | null {
  const { item } = one;
  const { acquisition: witness, error, provider_id, channel } = item;
  if (error === undefined || witness === undefined || provider_id === undefined) return null;
  if (isJsonObject(member(witness.provider_result, "error"))) return null;
  if (error.code === "anchor_invalid") {
    const { anchors } = environment.profile;
    const owes = anchors.some((one) => one.provider_id === provider_id) &&
      !anchorCounts(item.anchor, provider_id, anchors);
    const check = step.contracts.get(witness.contract_identity)?.checks.get(witness.check_id);
    const types = check?.anchor_types ?? [];
    const undeclared = item.anchor !== undefined && types.length > 0 && !types.includes(item.anchor.anchor_type);
    return owes || undeclared ? null : "qualification_mismatch";
  }
  if (error.code !== "signature_invalid") return null;
  const trust = providerTrust(environment.profile, provider_id, channel);
  if (trust === "audit") return "qualification_mismatch";
  const isSigned = findSourceSignature(environment, trust.require_signature.keys, one) === "signed";
  return isSigned ? "qualification_mismatch" : null;
}
