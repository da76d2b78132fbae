/**
 * Whether an evaluation repeats the last attempt of its stage. If the caller named no stage, the step then records
 * nothing:
 * polling a held run would otherwise add a record with each call.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { attemptOf } from "../../run/fold.ts";
import { asJson } from "../../run/primitives.ts";
import type { RunRecord, RunState } from "../../run/types.ts";
import { evaluationsBackwards, type StoredEvaluation } from "../../store/evaluations.ts";
import type { RunStore, StoredRecord } from "../../store/types.ts";

/** The last recorded attempt of a stage; null where the stage was never evaluated. */
async function lastAttempt(
  runs: Pick<RunStore, "listRecords">,
  { run_key, head }: RunState,
  stageId: string,
): Promise<StoredEvaluation | null> {
  for await (const evaluation of evaluationsBackwards(runs, run_key, head.revision)) {
    if (evaluation.record.body.stage_id === stageId) return evaluation;
  }
  return null;
}

/** The trace lines and the items with identity of the value, error and qualification, as one text. */
function comparedText(record: StoredEvaluation["record"], recordId: string): string {
  const { trace, evidence } = attemptOf(record, recordId);
  return canonicalize(asJson({ trace, evidence }));
}

/**
 * The last attempt of the stage of a new record, where both have the same trace, values, errors and qualification.
 *
 * @param record The decided record, which is not stored
 * @param recordId Its identity
 * @returns Null where the new attempt differs, or the record evaluates no stage
 */
export async function findUnchangedAttempt(
  runs: Pick<RunStore, "listRecords">,
  state: RunState,
  record: RunRecord,
  recordId: string,
): Promise<StoredRecord | null> {
  if (record.record_kind !== "stage_evaluated") return null;
  const last = await lastAttempt(runs, state, record.body.stage_id);
  if (last === null) return null;
  return comparedText(record, recordId) === comparedText(last.record, last.stored.record_id) ? last.stored : null;
}
