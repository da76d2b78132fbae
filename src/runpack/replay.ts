/** Counterfactual replay: the decisions of a run under another law, on the same evidence. */

import type { JsonValue } from "../canonical/json.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../law/law.ts";
import type { Refusal } from "../law/types.ts";
import { checkInDomain } from "../law/value/typed_value.ts";
import type { TypedValue } from "../law/value/types.ts";
import { type Kleene, TRI, triName, UNKNOWN } from "../law/value/truth.ts";
import { type CompiledCondition, type CompiledLaw, type CompiledStage, compileLaw } from "../run/compile.ts";
import { attemptAt } from "../run/attempt.ts";
import { evaluateEvidence } from "../run/evaluate.ts";
import type { PresentedEvidence, SubmissionFacts } from "../run/evidence.ts";
import { submissionFacts } from "../run/submitted_evidence.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "../run/frontier.ts";
import { runProgram } from "../run/program.ts";
import type { QualificationEnvironment } from "../run/qualify.ts";
import type { RecordedEvidence, RunRecord, StageEvaluatedBody, StageState, TraceItem } from "../run/types.ts";
import { sameJson } from "./format/canonical_text.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import { permissiveEnvironment } from "./verify/claims/scenario_law_construction.ts";
import { lawOfRun, type PackView, type ViewedRecord } from "./material_view.ts";
import { presentRecorded } from "./verify/decide_again.ts";
import type { VerificationPrimitives } from "./verify/types.ts";

/** The standing of a stage at the moment when it was opened or evaluated. */
export type CounterfactualStanding =
  /** The stage was ready, or open. */
  | "possible"
  /** The changed law has no such stage. */
  | "stage_removed"
  /** Its prerequisite did not hold. */
  | "blocked"
  /** The stage, or the run, was complete already. */
  | "already_complete";

/** The truth of a leaf; `value_not_held` where it is Unknown because the pack does not hold a value. */
export interface LeafTruth {
  readonly value: Kleene;
  readonly reason?: NonNullable<TraceItem["reason"]> | "value_not_held";
}

/** A leaf with another truth under the changed law. */
export interface LeafDifference {
  readonly condition_id: string;
  /** Null where one of the laws has no such leaf. */
  readonly before: LeafTruth | null;
  readonly after: LeafTruth | null;
}

/** A line of a trace under the changed law. */
type Line = LeafTruth & Pick<TraceItem, "path" | "condition_id">;

/** A decision of the run, as recorded and under the changed law. */
export interface CounterfactualDecision {
  readonly revision: number;
  readonly kind: "open" | "evaluate";
  readonly stage_id: string;
  /** For evaluations. */
  readonly attempt_number?: number;
  readonly standing: CounterfactualStanding;
  readonly before: Kleene | "opened";
  /** Null where the standing of the stage rules out a decision. */
  readonly after: Kleene | "opened" | null;
  /** For decisions that the changed law allows. */
  readonly leaves: readonly LeafDifference[];
  readonly differs: boolean;
}

/** The result of a run under a changed law. */
export interface Counterfactual {
  readonly decisions: readonly CounterfactualDecision[];
  readonly status_before: "active" | "complete";
  readonly status_after: "active" | "complete";
  /** Incomplete stages of the changed law, in its order. */
  readonly incomplete_stages: readonly string[];
  /** How often a changed condition was Unknown because the pack does not hold a value of it. */
  readonly values_missing: number;
}

/**
 * Compiles a changed law for a replay, or returns the reason why it is invalid. Its providers and schemas are assumed
 * to exist.
 */
export function compileNextLaw(
  { sha256 }: VerificationPrimitives,
  spec: JsonValue,
): { readonly ok: true; readonly law: CompiledLaw } | { readonly ok: false; readonly refusals: readonly Refusal[] } {
  const result = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  if (!result.ok) return result;
  return { ok: true, law: compileLaw(result.law, lawIdentity(sha256, result.law), graphIdentity(sha256, result.law)) };
}

interface Course {
  readonly view: PackView;
  readonly primitives: VerificationPrimitives;
  readonly next: CompiledLaw;
  stages: StageState[];
  complete: boolean;
  missing: number;
}

/** Replays a run under another law: openings and evaluations in the order of their acceptance, with their evidence. */
export function replayUnder(view: PackView, changed: CompiledLaw, primitives: VerificationPrimitives): Counterfactual {
  const [first] = view.records;
  // If the run does not give what the changed law declares, all conditions with parameters are Unknown.
  const next = first === undefined ? changed : lawOfRun(changed, first.record);
  const course: Course = { view, primitives, next, stages: initialStages(next), complete: false, missing: 0 };
  const decisions = view.records.flatMap((viewed, index) => {
    const { record } = viewed;
    if (record.record_kind === "stage_opened") return [replayOpening(course, record)];
    if (record.record_kind === "stage_evaluated") return [replayEvaluation(course, record, view.records[index - 1])];
    return [];
  });
  const last = view.records.findLast(({ record }) => record.record_kind === "stage_evaluated")?.record;
  return {
    decisions,
    status_before: last?.record_kind === "stage_evaluated" ? last.body.run_status : "active",
    status_after: course.complete ? "complete" : "active",
    incomplete_stages: course.stages.filter(({ classification }) => classification !== "complete").map((stage) =>
      stage.stage_id
    ),
    values_missing: course.missing,
  };
}

function placeOf(course: Course, stageId: string): { readonly index: number; readonly stage: StageState } | null {
  const index = course.next.stageIndex.get(stageId) ?? -1;
  const stage = course.stages[index];
  return stage === undefined ? null : { index, stage };
}

function standingOf(course: Course, stage: StageState | undefined, kind: "open" | "evaluate"): CounterfactualStanding {
  if (stage === undefined) return "stage_removed";
  if (course.complete || stage.classification === "complete") return "already_complete";
  const wanted = kind === "open" ? "ready_unopened" : "open_incomplete";
  return stage.classification === wanted ? "possible" : "blocked";
}

function replayOpening(
  course: Course,
  { revision, body }: Extract<RunRecord, { record_kind: "stage_opened" }>,
): CounterfactualDecision {
  const place = placeOf(course, body.stage_id);
  const standing = standingOf(course, place?.stage, "open");
  const { stage_id } = body;
  if (standing === "possible" && place !== null) {
    course.stages[place.index] = { ...place.stage, classification: "open_incomplete" };
  }
  const after = standing === "possible" ? "opened" : null;
  return { revision, kind: "open", stage_id, standing, before: "opened", after, leaves: [], differs: after === null };
}

function replayEvaluation(
  course: Course,
  record: Extract<RunRecord, { record_kind: "stage_evaluated" }>,
  before: ViewedRecord | undefined,
): CounterfactualDecision {
  const { revision, body } = record;
  const { stage_id, attempt_number, outcome } = body;
  const place = placeOf(course, stage_id);
  const standing = standingOf(course, place?.stage, "evaluate");
  const compiled = place === null ? undefined : course.next.stages[place.index];
  const named = { revision, kind: "evaluate", stage_id, attempt_number, standing, before: outcome } as const;
  if (standing !== "possible" || place === null || compiled === undefined) {
    return { ...named, after: null, leaves: [], differs: true };
  }
  const evaluation = judgeAnew(course, record, compiled, before);
  if (evaluation.outcome === "true") complete(course, place.index, place.stage);
  const leaves = leafDifferences(body, evaluation.trace);
  return { ...named, after: evaluation.outcome, leaves, differs: evaluation.outcome !== outcome };
}

function complete(course: Course, index: number, stage: StageState): void {
  const stages = [...course.stages];
  stages[index] = { ...stage, classification: "complete" };
  course.stages = stagesAfterCompletion(course.next, stages, index);
  course.complete = stagesSatisfy(course.next.completion, course.next.completionStages, course.stages);
}

function judgeAnew(
  course: Course,
  record: Extract<RunRecord, { record_kind: "stage_evaluated" }>,
  compiled: CompiledStage,
  before: ViewedRecord | undefined,
): { readonly outcome: Kleene; readonly trace: readonly Line[] } {
  const found = course.view.artifacts.environment(record);
  const asked = new Set(record.body.evidence.map(({ binding_id }) => binding_id));
  // A call without a required binding would have been rejected: no evidence counts for that condition.
  const leftOut = new Set(
    compiled.bindings.filter(({ binding_id, condition_id }) =>
      !asked.has(binding_id) &&
      course.next.conditionIndex.get(condition_id)?.condition.evidence_use_policy.requires_all_bindings === true
    ).map(({ condition_id }) => condition_id),
  );
  const items = record.body.evidence.flatMap((item) =>
    leftOut.has(item.condition_id) ? [] : presentAnew(course, compiled, item)
  );
  if (typeof found === "string" || before === undefined) return { outcome: "unknown", trace: [] };
  const scope = {
    run_id: record.run_key.run_id,
    stage_id: record.body.stage_id,
    expected_head: { record_id: before.record_id, revision: before.record.revision },
  };
  const environment: QualificationEnvironment = {
    ...found,
    // Signatures name the law that was in force.
    law: { ...course.next, scenario_law_identity: course.view.law.scenario_law_identity },
    attempt: attemptAt(record.procedure, scope, {
      ...record.acceptance_time,
      ...record.body.time_source,
      last_audit_instant: before.record.acceptance_time.accepted_audit_instant,
    }),
  };
  return keepJudgements(course, record.body, compiled, evaluateEvidence(compiled, items, environment).trace);
}

/**
 * Whether both laws have the same condition. Its judgement is then recorded, whether or not its values are still held.
 */
function keepJudgements(
  course: Course,
  { evidence, trace }: StageEvaluatedBody,
  { completion, conditions }: CompiledStage,
  anew: readonly TraceItem[],
): { readonly outcome: Kleene; readonly trace: readonly Line[] } {
  const kept = new Map<string, TraceItem>();
  const missing = new Set<string>();
  for (const { condition } of conditions) {
    const { condition_id } = condition;
    const lacks = evidence.some((item) =>
      item.condition_id === condition_id && item.value_identity !== undefined && course.view.valueOf(item) === null
    );
    const then = course.view.law.conditionIndex.get(condition_id)?.condition;
    const line = trace.find((one) => one.condition_id === condition_id);
    if (!lacks) continue;
    if (line !== undefined && then !== undefined && sameJson(then, condition)) kept.set(condition_id, line);
    else missing.add(condition_id);
  }
  course.missing += missing.size;
  const lines = anew.map((line): Line => {
    const known = kept.get(line.condition_id);
    if (known !== undefined) return { ...known, path: line.path };
    // An absent value was recorded as an error.
    return missing.has(line.condition_id) && line.reason === "error" ? { ...line, reason: "value_not_held" } : line;
  });
  const values = new Uint8Array(completion.slots.length).fill(UNKNOWN);
  lines.forEach((line, visit) => values[completion.visits[visit] ?? 0] = TRI[line.value]);
  return { outcome: triName(runProgram(completion, values)), trace: lines };
}

/** An item under the changed law. Items of unknown conditions, and items outside the domain, are omitted. */
function presentAnew(course: Course, compiled: CompiledStage, item: RecordedEvidence): PresentedEvidence[] {
  const condition = compiled.conditions[compiled.slotOf.get(item.condition_id) ?? -1];
  if (condition === undefined) return [];
  if (item.value_identity === undefined) return [presentRecorded(item, null)];
  const value = course.view.valueOf(item);
  if (value === null) {
    const message = "The runpack does not hold the value";
    return [{ ...presentRecorded(item, null), error: { code: "value_not_retained", message } }];
  }
  if (checkInDomain(value, condition.condition.observation_domain) !== null) return [];
  return [withVerdict(course, condition, presentRecorded(item, value, factsOf(course, item)), value)];
}

/** What the record of a submission says of an item that waited. */
function factsOf({ view }: Course, { submission_record_id }: RecordedEvidence): SubmissionFacts | undefined {
  const viewed = submission_record_id === undefined
    ? undefined
    : view.records.find(({ record_id }) => record_id === submission_record_id);
  if (viewed?.record.record_kind !== "artifact_submitted") return undefined;
  const { evidence, time_source: { reading_unix_millis } } = viewed.record.body;
  if (evidence === undefined) return undefined;
  return submissionFacts({ ...evidence, record_id: viewed.record_id, submitted_at: reading_unix_millis });
}

/** A verdict counts only for the schema that it was given for. */
function withVerdict(
  course: Course,
  { condition: { condition_id, observation_domain: domain } }: CompiledCondition,
  item: PresentedEvidence,
  value: TypedValue,
): PresentedEvidence {
  const then = course.view.law.conditionIndex.get(condition_id)?.condition.observation_domain;
  const a = schemaOf(then);
  const b = schemaOf(domain);
  if (a === b || item.schema_verdict === undefined) return { ...item, value };
  const { schema_verdict: _verdict, ...rest } = item;
  return { ...rest, value };
}

function schemaOf(domain: CompiledCondition["condition"]["observation_domain"] | undefined): string {
  if (domain?.domain !== "Json" || domain.schema === undefined) return "";
  return JSON.stringify([domain.schema.schema_id, domain.schema.version]);
}

function leafDifferences({ trace }: StageEvaluatedBody, after: readonly Line[]): readonly LeafDifference[] {
  const byCondition = (lines: readonly Line[]): Map<string, Line> =>
    new Map(lines.map((line) => [line.condition_id, line]));
  const then = byCondition(trace);
  const now = byCondition(after);
  const shown = (line: Line | undefined): LeafTruth | null =>
    line === undefined ? null : { value: line.value, ...line.reason === undefined ? {} : { reason: line.reason } };
  return [...new Set([...then.keys(), ...now.keys()])].flatMap((condition_id) => {
    const before = then.get(condition_id);
    const next = now.get(condition_id);
    if (before?.value === next?.value && before?.reason === next?.reason) return [];
    return [{ condition_id, before: shown(before), after: shown(next) }];
  });
}
