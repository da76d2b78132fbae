/**
 * The attempt that evidence is judged for: its scope, and the time that the judgement goes by.
 *
 * @module
 */

import type { AttemptScope } from "./statement.ts";
import type { ObservedError, ProcedureName, RecordedEvidence } from "./types.ts";

/** Milliseconds by which the time authority may lie behind the run before nothing is judged by it. */
const CLOCK_BEHIND_MILLISECONDS = 60_000;

/** What an item shows that is to be judged by a time authority that is behind the run. */
export const CLOCK_BEHIND_RUN: ObservedError = {
  code: "clock_behind_run",
  message: `The time authority reads more than ${CLOCK_BEHIND_MILLISECONDS} ms before the run's last accepted instant`,
};

/** Whether a recorded item has this error beside what was observed, which it was judged by at any other time. */
export function isClockError({ error, value_identity, found_nothing }: RecordedEvidence): boolean {
  return error?.code === CLOCK_BEHIND_RUN.code && (value_identity !== undefined || found_nothing === true);
}

/** The attempt that evidence is qualified for. */
export interface EvaluatedAttempt extends AttemptScope {
  /** Unix milliseconds at which ages are measured. */
  readonly evaluated_at: number;
  /** Whether the time authority is too far behind the run for anything to be judged by it. */
  readonly clock_behind_run: boolean;
}

/** The times around an attempt, Unix milliseconds. */
export interface AttemptTimes {
  /** Of the record: never before that of the record before it. */
  readonly accepted_audit_instant: number;
  /** What the time authority read for the record. */
  readonly reading_unix_millis: number;
  /** The accepted instant of the record before it. */
  readonly last_audit_instant: number;
}

/**
 * The attempt at these times. A clock that ran ahead once leaves its instant in the run for ever, so `gate-kernel-2` measures ages at
 * the reading; `gate-kernel-1` measures them at the accepted instant.
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
