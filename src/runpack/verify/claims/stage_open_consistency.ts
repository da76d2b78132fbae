/**
 * Claim 12: every opened stage was ready, and its prerequisite was as recorded.
 *
 * @module
 */

import { traceStages } from "../../../run/frontier.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { atRevision, violation } from "../findings.ts";
import type { Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** Checks that the stage was ready, and that its prerequisite holds. */
export function checkOpening({ record, before, law }: Step): Violation | null {
  if (record.record_kind !== "stage_opened") return null;
  const place = atRevision(record.revision);
  const index = law.stageIndex.get(record.body.stage_id) ?? -1;
  const compiled = law.stages[index];
  const stage = before?.stages[index];
  if (compiled === undefined || stage === undefined || before === null) return violation("stage_missing", place);
  if (stage.classification !== "ready_unopened" || before.status !== "active") {
    return violation("stage_state_mismatch", place);
  }
  const trace = compiled.prerequisite === null
    ? []
    : traceStages(compiled.prerequisite, compiled.prerequisiteStages, before.stages);
  return sameJson(trace, record.body.prerequisite_trace) ? null : violation("prerequisite_trace_mismatch", place);
}
