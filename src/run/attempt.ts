/** The attempt that evidence is judged for: its scope, and the time at which ages are measured. */

import type { AttemptScope } from "./statement.ts";
import type { ObservedError, ProcedureName, RecordedEvidence } from "./types.ts";

/** A time authority further behind the run than this is no basis for a judgement. */
const CLOCK_BEHIND_MILLISECONDS = 60_000;

/** The error of an item whose judgement needs the time while the time authority is behind the run. */
export const CLOCK_BEHIND_RUN: ObservedError = {
  code: "clock_behind_run",
  message: `The time authority reads more than ${CLOCK_BEHIND_MILLISECONDS} ms before the run's last accepted instant`,
};

/** Whether a recorded item has {@link CLOCK_BEHIND_RUN} beside its value or `found_nothing`. */
export function isClockError({ error, value_identity, found_nothing }: RecordedEvidence): boolean {
  return error?.code === CLOCK_BEHIND_RUN.code && (value_identity !== undefined || found_nothing === true);
}

/** The attempt that evidence is qualified for. */
export interface EvaluatedAttempt extends AttemptScope {
  /** Unix milliseconds at which ages are measured. */
  readonly evaluated_at: number;
  /** Whether the time authority is more than {@link CLOCK_BEHIND_MILLISECONDS} behind the run. */
  readonly clock_behind_run: boolean;
}

/** The times around an attempt, Unix milliseconds. */
export interface AttemptTimes {
  /** Of the record; never before that of the previous record. */
  readonly accepted_audit_instant: number;
  /** The reading of the time authority for the record. */
  readonly reading_unix_millis: number;
  /** The accepted instant of the previous record. */
  readonly last_audit_instant: number;
}

/**
 * The attempt at these times. An instant of a clock that once ran ahead stays in the run for ever. So `gate-kernel-2`
 * measures ages at the reading; `gate-kernel-1` measures them at the accepted instant.
 */
export function attemptAt(procedure: ProcedureName, scope: AttemptScope, times: AttemptTimes): EvaluatedAttempt {
  const { accepted_audit_instant, reading_unix_millis, last_audit_instant } = times;
  if (procedure === "gate-kernel-1") {
    return { ...scope, evaluated_at: accepted_audit_instant, clock_behind_run: false };
  }
  return {
    ...scope,
    evaluated_at: reading_unix_millis,
    clock_behind_run: last_audit_instant - reading_unix_millis > CLOCK_BEHIND_MILLISECONDS,
  };
}
