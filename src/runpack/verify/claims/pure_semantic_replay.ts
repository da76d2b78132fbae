/**
 * Claim 19: the kernel decides every record again, byte for byte.
 *
 * @module
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { triName } from "../../../law/value/truth.ts";
import { asJson } from "../../../run/primitives.ts";
import { atRevision, violation } from "../findings.ts";
import { qualificationOf, requalify } from "../requalify.ts";
import { gapsOf, type Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** Decides the operation again, and compares the record. */
export function checkDecision(step: Step): Violation | null {
  const { values } = step;
  const isAbsent = gapsOf(values).length > 0 || values.payload === "value_withheld";
  const holds = isAbsent ? isTraceable(step) : isDecided(step);
  return holds ? null : violation("decision_mismatch", atRevision(step.record.revision));
}

/** Whether the repeated decision yields exactly this record. */
function isDecided({ record, decision }: Pick<Step, "record" | "decision">): boolean {
  const decided = decision?.outcome === "accepted" ? decision.records[0] : undefined;
  return decided !== undefined && decided.text === canonicalize(asJson(record));
}

/** Whether an attempt with absent values has the trace lines that do not need them. */
function isTraceable(step: Step): boolean {
  const qualification = qualificationOf(step);
  if (qualification === null || step.record.record_kind !== "stage_evaluated") return true;
  const anew = requalify(step, qualification);
  if (anew === null) return false;
  return step.record.body.trace.every(({ condition_id, value, reason }) => {
    const judgement = anew.judgements.get(condition_id);
    return judgement === undefined || triName(judgement.value) === value && judgement.reason === reason;
  });
}
