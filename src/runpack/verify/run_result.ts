/**
 * What a run came to, collected while its records are replayed.
 *
 * @module
 */

import type { ParameterValue } from "../../law/types.ts";
import { TRUE } from "../../law/value/truth.ts";
import { minimumLane } from "../../run/profile.ts";
import { keysOf } from "../../run/compile.ts";
import { hasHeadSignature } from "../../run/statement.ts";
import type { RunCreatedBody, RunState, RunStatus, StageClassification, TraceItem } from "../../run/types.ts";
import { presentRecorded } from "./decide_again.ts";
import { qualificationOf } from "./requalify.ts";
import { isValue, type Step } from "./step.ts";

/** A stage after the last record. */
export interface StageResult {
  readonly stage_id: string;
  readonly classification: StageClassification;
  /** Unix milliseconds of the record that completed the stage; null where none did. */
  readonly completed_at: number | null;
  /** The `Digest` values that held in a True condition of the attempt that completed the stage. */
  readonly digests: readonly string[];
}

/** What the records of a run came to. */
export interface RunResult {
  readonly status: RunStatus;
  /** Unix milliseconds of the record that completed the run; null where none did. */
  readonly completed_at: number | null;
  /** In the order of the law. */
  readonly stages: readonly StageResult[];
  /** Whether asserted evidence counted under the operator profile of any record. */
  readonly is_permissive: boolean;
  /** Whether the signature of each item that counted covers the head of its attempt, and so the parameters. */
  readonly is_head_signed: boolean;
}

/** The collected facts of a replay in progress. */
export interface RunCourse {
  /** By stage. */
  readonly completions: Map<string, Pick<StageResult, "completed_at" | "digests">>;
  completedAt: number | null;
  isPermissive: boolean;
  isHeadSigned: boolean;
}

/** Creates an empty course. */
export function createCourse(): RunCourse {
  return { completions: new Map(), completedAt: null, isPermissive: false, isHeadSigned: true };
}

/** Adds a record that was replayed. */
export function addToCourse(course: RunCourse, step: Step): void {
  const { record, environment } = step;
  if (minimumLane(environment.profile, null) === "asserted") course.isPermissive = true;
  // Without parameters nothing reads it, and verifying signatures is expensive.
  if (step.law.law.parameters !== undefined) course.isHeadSigned &&= areHeadSigned(step);
  if (record.record_kind !== "stage_evaluated" || !record.body.completed) return;
  const completed_at = record.acceptance_time.accepted_audit_instant;
  course.completions.set(record.body.stage_id, { completed_at, digests: digestsOf(step, record.body.trace) });
  if (record.body.run_status === "complete") course.completedAt ??= completed_at;
}

function areHeadSigned(step: Step): boolean {
  const { record } = step;
  const qualification = qualificationOf(step);
  if (record.record_kind !== "stage_evaluated" || qualification === null) return true;
  const { primitives, keys, law, attempt } = qualification.environment;
  return record.body.evidence.every((item) =>
    // A statement that waited names its opening and a head since then, which follow from the parameters too.
    !item.qualified || item.channel === "accepted_submission" ||
    hasHeadSignature(
      primitives,
      keysOf(law.conditionIndex.get(item.condition_id), keys),
      law,
      attempt,
      presentRecorded(item, null),
    )
  );
}

/** The digests for which conditions of an attempt are True. A condition below `Not` speaks against its value. */
function digestsOf({ record, law, values }: Step, trace: readonly TraceItem[]): readonly string[] {
  if (record.record_kind !== "stage_evaluated") return [];
  const held = new Set(
    trace.filter(({ path, value }) => value === "true" && !path.includes(".Not")).map(({ condition_id }) =>
      condition_id
    ),
  );
  const digests = record.body.evidence.flatMap((item, index) => {
    const value = values.evidence[index] ?? null;
    const condition = law.conditionIndex.get(item.condition_id);
    const counted = item.qualified && item.error === undefined && held.has(item.condition_id);
    if (!counted || condition === undefined || !isValue(value) || value.value_type !== "Digest") return [];
    const { reading_unix_millis } = record.body.time_source;
    const holds = condition.judge(value, reading_unix_millis) === TRUE;
    return holds && typeof value.value === "string" ? [value.value] : [];
  });
  return [...new Set(digests)].sort();
}

/** The result of a run whose last record left this state. */
export function resultOfRun(course: RunCourse, { status, stages }: RunState): RunResult {
  return {
    status,
    completed_at: course.completedAt,
    stages: stages.map(({ stage_id, classification }) => ({
      stage_id,
      classification,
      ...course.completions.get(stage_id) ?? { completed_at: null, digests: [] },
    })),
    is_permissive: course.isPermissive,
    is_head_signed: course.isHeadSigned,
  };
}

/** The parameters of a run, as its first record has them; none where it has another genesis. */
export function parametersOf({ genesis }: RunCreatedBody): readonly ParameterValue[] {
  return genesis.kind === "parameters" ? genesis.parameters : [];
}
