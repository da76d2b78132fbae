/**
 * Claim 19: the kernel, asked again, decides every record byte for byte.
 *
 * @module
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { asJson } from "../../../run/primitives.ts";
import { atRevision, violation } from "../findings.ts";
import { gapsOf, type RecordClaim, type Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** The claim. */
export const SEMANTIC_REPLAY: RecordClaim = {
  claim: "pure_semantic_replay",
  method: "semantic_replay_v6",
  needsValues: true,
  check(step): Violation | null {
    if (gapsOf(step.values).length > 0) return null;
    return isDecided(step) ? null : violation("decision_mismatch", atRevision(step.record.revision));
  },
};

/** Whether the decision made anew mints exactly this record. */
function isDecided({ record, decision }: Pick<Step, "record" | "decision">): boolean {
  const decided = decision?.outcome === "accepted" ? decision.records[0] : undefined;
  return decided !== undefined && decided.text === canonicalize(asJson(record));
}
