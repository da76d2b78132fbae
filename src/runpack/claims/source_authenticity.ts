/**
 * Claim 23: what counted was signed at its source, by a key that the verifier was given.
 *
 * @module
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { encodeHex } from "../../canonical/hex.ts";
import { hasBoundSignature } from "../../run/statement.ts";
import { presentRecorded } from "../procedure_kernel_1.ts";
import { atRevision, violation } from "../verify_findings.ts";
import { itemsOf, type Step } from "../verify_step.ts";
import type { TrustedPublicKey, UnavailableReason, Violation } from "../verify_types.ts";
import { qualificationOf } from "./evidence_use_policy_satisfaction.ts";

/** The method. */
export const SOURCE_SIGNATURES = "source_signatures_v6";

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
      for (const { item } of itemsOf(step)) {
        if (!item.qualified) continue;
        counted++;
        const key = profileKeys.get(item.signature?.key_id ?? "");
        const bytes = key === undefined ? null : decodeBase64(key.public_key);
        if (key === undefined || bytes === null || !trusted.has(encodeHex(bytes))) {
          unsigned++;
          continue;
        }
        const named = new Map([[key.key_id, key]]);
        if (hasBoundSignature(primitives, named, law, attempt, presentRecorded(item, null))) continue;
        return violation("signature_invalid", `${atRevision(step.record.revision)}, item ${item.item_id}`);
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
