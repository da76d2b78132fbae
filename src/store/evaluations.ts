/**
 * The evaluations of a run from the newest on.
 *
 * @module
 */

import { readRecord } from "../run/record.ts";
import type { RunKey, RunRecord } from "../run/types.ts";
import type { RunStore, StoredRecord } from "./types.ts";

/** Records in one read. A record may carry megabytes of values, and most searches end with the first few. */
const PAGE = 8;

/** A record of an evaluation, as it is stored. */
export interface StoredEvaluation {
  readonly record: Extract<RunRecord, { record_kind: "stage_evaluated" }>;
  readonly stored: StoredRecord;
}

/** Reads the evaluations of a run backwards, from a revision on. */
export async function* evaluationsBackwards(
  runs: Pick<RunStore, "listRecords">,
  runKey: RunKey,
  revision: number,
): AsyncGenerator<StoredEvaluation> {
  for (let end = revision; end > 0; end -= PAGE) {
    const after = Math.max(0, end - PAGE);
    const page = await runs.listRecords(runKey, after, end - after);
    for (const stored of page.toReversed()) {
      const record = readRecord(stored.record);
      if (record.record_kind === "stage_evaluated") yield { record, stored };
    }
  }
}
