/**
 * The open stages of active runs: which ones an append adds and removes. They are derived from the records, in the
 * transaction that appends these.
 */

import { completesRun } from "./run_index.ts";
import { member, parseObject } from "./record_check.ts";
import type { StoredRecord } from "./types.ts";

/** How an append changes the open stages of its run. */
export interface StageChanges {
  /** Stages that are open after the append, with the instant of their opening in Unix milliseconds. */
  readonly opened: readonly { readonly stage_id: string; readonly instant: number }[];
  /** Stages that the append completed. */
  readonly completed: readonly string[];
  /** Whether the run is complete, so that no stage of it is open. */
  readonly isRunComplete: boolean;
}

/** The text that every evaluation has which completed its stage. */
const COMPLETED = '"completed":true';

/** The changes of an append; null where it changes none. */
export function stageChangesOf(records: readonly Pick<StoredRecord, "record" | "receipt">[]): StageChanges | null {
  const opened = new Map<string, number>();
  const completed = new Set<string>();
  let isRunComplete = false;
  for (const { record, receipt: { operation: { family } } } of records) {
    isRunComplete ||= completesRun(record);
    const isOpening = family === "open_stage";
    // Only these records are parsed, since evaluations may be long.
    if (!isOpening && !(family === "evaluate_stage" && record.includes(COMPLETED))) continue;
    const parsed = parseObject(record);
    const body = member(parsed, "body");
    const stage = member(body, "stage_id");
    const instant = member(member(parsed, "acceptance_time"), "accepted_audit_instant");
    if (typeof stage !== "string" || typeof instant !== "number" || !Number.isSafeInteger(instant)) continue;
    if (isOpening) opened.set(stage, instant);
    else if (member(body, "completed") === true && !opened.delete(stage)) completed.add(stage);
  }
  if (opened.size === 0 && completed.size === 0 && !isRunComplete) return null;
  return {
    opened: isRunComplete ? [] : [...opened].map(([stage_id, instant]) => ({ stage_id, instant })),
    completed: [...completed],
    isRunComplete,
  };
}
