/** The evaluations of a run, newest first. */

import { readRecord } from "../run/record.ts";
import type { RunKey, RunRecord } from "../run/types.ts";
import type { RunStore, StoredRecord } from "./types.ts";

/** Records in one read. A record may contain megabytes of values, and most searches end at the first records. */
const PAGE = 8;

/** The record of an evaluation, parsed and as stored. */
export interface StoredEvaluation {
  readonly record: Extract<RunRecord, { record_kind: "stage_evaluated" }>;
  readonly stored: StoredRecord;
}

/** Reads the evaluations of a run backwards from a revision. */
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
