/**
 * Claim 23: what counted was signed at its source, by a key that the verifier was given.
 *
 * @module
 */

import { decodeBase64 } from "../../../canonical/base64.ts";
import { canonicalize } from "../../../canonical/canonicalize.ts";
import { encodeHex } from "../../../canonical/hex.ts";
import type { TypedValue } from "../../../law/value/types.ts";
import { hasSourceSignature } from "../../../run/acquired.ts";
import { asJson } from "../../../run/primitives.ts";
import type { TrustedKey } from "../../../run/profile.ts";
import type { EvaluatedAttempt, QualificationSurroundings } from "../../../run/qualify.ts";
import { hasBoundSignature } from "../../../run/statement.ts";
import type { RecordedEvidence } from "../../../run/types.ts";
import { presentRecorded } from "../decide_again.ts";
import { atItem, violation } from "../findings.ts";
import { isValue, itemsOf, type Step } from "../step.ts";
import type { TrustedPublicKey, UnavailableReason, Violation } from "../types.ts";
import { qualificationOf } from "./evidence_use_policy_satisfaction.ts";

/** The method. */
export const SOURCE_SIGNATURES = "source_signatures_v6";

/** Whether a key signed the plain hash of a value, in a form in which its source may have had it. */
function signsBareValue(
  surroundings: QualificationSurroundings & { readonly attempt: EvaluatedAttempt },
  key: TrustedKey,
  item: RecordedEvidence,
  value: TypedValue | null,
): boolean {
  if (value !== null) {
    return hasSourceSignature(surroundings, surroundings.attempt, [key], presentRecorded(item, value));
  }
  const [publicKey, signature] = [decodeBase64(key.public_key), decodeBase64(item.signature?.signature ?? "")];
  return publicKey !== null && signature !== null && item.content_hash !== undefined &&
    surroundings.primitives.verifyEd25519(publicKey, canonicalize(asJson(item.content_hash)), signature);
}

/** Looks at the evidence of one record after the other. */
export interface SourceSignatures {
  readonly check: (step: Step) => Violation | null;
  /** Why the claim is not settled, once every record has been looked at; null where it is. */
  readonly gap: () => UnavailableReason | null;
}

/** Signatures to be verified under keys; null where none were supplied. */
export function sourceSignatures(keys: readonly TrustedPublicKey[] | null): SourceSignatures {
  const trusted = new Set(keys?.map(encodeHex));
  let [counted, unsigned] = [0, 0];
  return {
    check(step): Violation | null {
      const qualification = keys === null ? null : qualificationOf(step);
      if (qualification === null) return null;
      const { primitives, law, keys: profileKeys, attempt } = qualification.surroundings;
      for (const [index, { item, value }] of itemsOf(step).entries()) {
        if (!item.qualified) continue;
        counted++;
        const key = profileKeys.get(item.signature?.key_id ?? "");
        const bytes = key === undefined ? null : decodeBase64(key.public_key);
        // What found nothing has no value that could be signed.
        const isSigned = item.value_identity !== undefined && bytes !== null && trusted.has(encodeHex(bytes));
        if (key === undefined || !isSigned) {
          unsigned++;
          continue;
        }
        const named = new Map([[key.key_id, key]]);
        if (hasBoundSignature(primitives, named, law, attempt, presentRecorded(item, null))) continue;
        // A signature over the bare value is the source's, yet says nothing of what it was given for.
        if (signsBareValue(qualification.surroundings, key, item, isValue(value) ? value : null)) {
          unsigned++;
          continue;
        }
        return violation("signature_invalid", atItem(step.record.revision, index));
      }
      return null;
    },
    gap(): UnavailableReason | null {
      if (keys === null || keys.length === 0) return "no_trusted_keys";
      if (counted === 0) return "no_evidence";
      return unsigned > 0 ? "unsigned_evidence" : null;
    },
  };
}
