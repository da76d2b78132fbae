/** What a run came to, collected while its records are replayed. */

import { eachPlaceholder } from "../../law/placeholders.ts";
import type { ParameterValue, ScenarioLaw } from "../../law/types.ts";
import { TRUE } from "../../law/value/truth.ts";
import { expectedOf, isParameterReference } from "../../law/value/types.ts";
import { minimumLane } from "../../run/profile.ts";
import { keysOf } from "../../run/compile.ts";
import { hasHeadSignature } from "../../run/statement.ts";
import type { RunCreatedBody, RunState, RunStatus, StageClassification, TraceItem } from "../../run/types.ts";
import { presentRecorded } from "./decide_again.ts";
import { qualificationOf } from "./requalify.ts";
import { collectSources, type RunSources, type SourceCollector } from "./signers.ts";
import { isValue, type Step } from "./step.ts";

/** A stage after the last record. */
export interface StageResult {
  readonly stage_id: string;
  readonly classification: StageClassification;
  /** Unix milliseconds of the record that completed the stage; null where none did. */
  readonly completed_at: number | null;
  /** The `Digest` values that held in a comparison of a True condition of the attempt that completed the stage. */
  readonly digests: readonly string[];
  /** Conditions of which items made that attempt True, and the bindings of these items. */
  readonly conditions: readonly string[];
  readonly bindings: readonly string[];
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
  readonly sources: RunSources;
}

/** The collected facts of a replay in progress. */
export interface RunCourse {
  /** By stage. */
  readonly completions: Map<string, Omit<StageResult, "stage_id" | "classification">>;
  readonly sources: SourceCollector;
  completedAt: number | null;
  isPermissive: boolean;
  isHeadSigned: boolean;
}

/** Creates an empty course. */
export function createCourse(): RunCourse {
  return {
    completions: new Map(),
    sources: collectSources(),
    completedAt: null,
    isPermissive: false,
    isHeadSigned: true,
  };
}

/** Adds a record that was replayed. */
export function addToCourse(course: RunCourse, step: Step): void {
  const { record, environment } = step;
  course.sources.add(step);
  if (minimumLane(environment.profile, null) === "asserted") course.isPermissive = true;
  // Without parameters nothing reads it, and verifying signatures is expensive.
  if (step.law.law.parameters !== undefined) course.isHeadSigned &&= areHeadSigned(step);
  if (record.record_kind !== "stage_evaluated" || !record.body.completed) return;
  const completed_at = record.acceptance_time.accepted_audit_instant;
  course.completions.set(record.body.stage_id, { completed_at, ...heldBy(step, record.body.trace) });
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

/** Predicates that compare no value. */
const PRESENCE: ReadonlySet<string> = new Set(["Exists", "NotExists"]);

/** What made conditions of an attempt True. A condition below `Not` speaks against its value. */
function heldBy(
  { record, law, values }: Step,
  trace: readonly TraceItem[],
): Pick<StageResult, "digests" | "conditions" | "bindings"> {
  const digests = new Set<string>();
  const conditions = new Set<string>();
  const bindings = new Set<string>();
  if (record.record_kind !== "stage_evaluated") return { digests: [], conditions: [], bindings: [] };
  const held = new Set(
    trace.filter(({ path, value }) => value === "true" && !path.includes(".Not")).map(({ condition_id }) =>
      condition_id
    ),
  );
  const { evidence, time_source: { reading_unix_millis } } = record.body;
  evidence.forEach((item, index) => {
    const value = values.evidence[index] ?? null;
    const condition = law.conditionIndex.get(item.condition_id);
    const counted = item.qualified && item.error === undefined && held.has(item.condition_id);
    if (!counted || condition === undefined || !isValue(value)) return;
    if (condition.judge(value, reading_unix_millis) !== TRUE) return;
    conditions.add(item.condition_id);
    if (item.binding_id !== undefined) bindings.add(item.binding_id);
    const isCompared = !PRESENCE.has(condition.condition.predicate.predicate);
    if (isCompared && value.value_type === "Digest" && typeof value.value === "string") digests.add(value.value);
  });
  return { digests: [...digests].sort(), conditions: [...conditions], bindings: [...bindings] };
}

/** The digests that a run, or one stage of it, rests on: those compared, and the parameters that were used. */
export function subjectsOf(
  { stages }: RunResult,
  { conditions, acquisition_bindings }: ScenarioLaw,
  parameters: readonly ParameterValue[],
  stage: string | null,
): ReadonlySet<string> {
  const found = new Set<string>();
  const used = new Set<string>();
  for (const { stage_id, digests, conditions: held, bindings } of stages) {
    if (stage !== null && stage_id !== stage) continue;
    digests.forEach((digest) => found.add(digest));
    for (const { condition_id, predicate } of conditions) {
      if (!held.includes(condition_id)) continue;
      for (const member of expectedOf(predicate)) if (isParameterReference(member)) used.add(member.parameter);
    }
    for (const { binding_id, params = null } of acquisition_bindings) {
      if (!bindings.includes(binding_id)) continue;
      eachPlaceholder(params, null, (placeholder) => {
        if (typeof placeholder !== "string") placeholder.parameters.forEach((parameter) => used.add(parameter));
      });
    }
  }
  for (const { parameter_id, value: { value, value_type } } of parameters) {
    if (value_type === "Digest" && typeof value === "string" && used.has(parameter_id)) found.add(value);
  }
  return found;
}

/** The result of a run whose last record left this state. */
export function resultOfRun(course: RunCourse, { status, stages }: RunState): RunResult {
  return {
    status,
    completed_at: course.completedAt,
    stages: stages.map(({ stage_id, classification }) => ({
      stage_id,
      classification,
      ...course.completions.get(stage_id) ?? { completed_at: null, digests: [], conditions: [], bindings: [] },
    })),
    is_permissive: course.isPermissive,
    is_head_signed: course.isHeadSigned,
    sources: course.sources.found(),
  };
}

/** The parameters of a run, as its first record has them; none where it has another genesis. */
export function parametersOf({ genesis }: RunCreatedBody): readonly ParameterValue[] {
  return genesis.kind === "parameters" ? genesis.parameters : [];
}
