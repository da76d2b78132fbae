/** Claim 23: evidence that qualified was signed at its source, by a trusted key of the request. */

import { decodeBase64 } from "../../../canonical/base64.ts";
import { encodeHex } from "../../../canonical/hex.ts";
import { keysOf } from "../../../run/compile.ts";
import { hasBoundSignature } from "../../../run/statement.ts";
import { submissionOf } from "../../../run/submitted_evidence.ts";
import { presentRecorded } from "../decide_again.ts";
import { atItem, violation } from "../findings.ts";
import { qualificationOf } from "../requalify.ts";
import { findBareSignature } from "../source_signature.ts";
import { itemsOf, type Step, type ValueGap } from "../step.ts";
import type { TrustedPublicKey, UnavailableReason, Violation } from "../types.ts";

/** Checks the evidence of the records in order. */
export interface SourceSignatures {
  readonly check: (step: Step) => Violation | null;
  /** The reasons that leave the claim open after the last record; empty where it is decided. */
  readonly gaps: () => readonly UnavailableReason[];
}

/** Verifies signatures under the keys of the request; null where it names none. */
export function sourceSignatures(keys: readonly TrustedPublicKey[] | null): SourceSignatures {
  const trusted = new Set(keys?.map(encodeHex));
  let counted = 0;
  let unsigned = 0;
  const open = new Set<ValueGap>();
  return {
    check(step): Violation | null {
      const qualification = keys === null ? null : qualificationOf(step);
      if (qualification === null) return null;
      const { primitives, law, keys: profileKeys, attempt } = qualification.environment;
      for (const [index, one] of itemsOf(step).entries()) {
        const { item, value } = one;
        if (!item.qualified) continue;
        counted++;
        const keys = keysOf(law.conditionIndex.get(item.condition_id), profileKeys);
        const key = keys.get(item.signature?.key_id ?? "");
        const bytes = key === undefined ? null : decodeBase64(key.public_key);
        // An item without a value has nothing that could be signed.
        const isSigned = item.value_identity !== undefined && bytes !== null && trusted.has(encodeHex(bytes));
        if (key === undefined || !isSigned) {
          unsigned++;
          continue;
        }
        // The statement of an item that waited is verified at its submission.
        if (submissionOf(step.before, item)?.public_key === key.public_key) continue;
        const named = new Map([[key.key_id, key]]);
        if (hasBoundSignature(primitives, named, law, attempt, presentRecorded(item, null))) continue;
        const bare = findBareSignature(primitives, key, one);
        if (bare === "open" && typeof value === "string") {
          open.add(value);
          continue;
        }
        // A signature over the bare value is authentic, yet does not bind its purpose.
        if (bare === "signed") {
          unsigned++;
          continue;
        }
        return violation("signature_invalid", atItem(step.record.revision, index));
      }
      return null;
    },
    gaps(): readonly UnavailableReason[] {
      if (keys === null || keys.length === 0) return ["no_trusted_keys"];
      if (counted === 0) return ["no_evidence"];
      return [...open, ...unsigned > 0 ? ["unsigned_evidence" as const] : []];
    },
  };
}
