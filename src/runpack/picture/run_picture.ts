/**
 * What a drawing shows of a run: the state of each stage and of each condition, from records or from an answer of
 * `scenario_status`.
 */

import { isConjunction, leavesOf } from "../../law/requirement_walk.ts";
import type { NamedParts } from "../../law/words.ts";
import type { Condition, Requirement, ScenarioLaw, Stage } from "../../law/types.ts";
import { everyFinding, type Findings, type UnmetCause } from "../../run/missing/causes.ts";
import { judgedBy, leafStandings, type MissingCondition } from "../../run/missing/missing.ts";
import { asNeeded, foundText, type Judged } from "../../run/missing/sentence.ts";
import type {
  RecordedEvidence,
  RunRecord,
  RunStatus,
  StageClassification,
  StageEvaluatedBody,
  TraceItem,
} from "../../run/types.ts";
import type { ConditionMark, StageMark } from "./marks.ts";

/** The state of what a leaf of a stage needs: that its condition holds, or does not. */
export interface ConditionPicture extends MissingCondition {
  readonly mark: ConditionMark;
  /** More about the mark, such as the codes of its cause; empty where there is no more. */
  readonly detail: string;
}

/** The state of a stage, with that of each of its conditions. */
export interface StagePicture {
  readonly mark: StageMark;
  /** More about the mark, such as `attempt 2 was false`; empty where there is no more. */
  readonly detail: string;
  /** By condition id. */
  readonly conditions: ReadonlyMap<string, ConditionPicture>;
}

/** The state of a run, as a drawing shows it. */
export interface RunPicture {
  readonly isComplete: boolean;
  /** By stage id. */
  readonly stages: ReadonlyMap<string, StagePicture>;
}

/** The part of a law from which states are derived. */
export type PicturedLaw = Omit<NamedParts, "stages"> & Pick<ScenarioLaw, "completion_requirement" | "stages">;

/** The part of an attempt that a drawing shows. */
export interface PicturedAttempt extends Partial<Findings> {
  readonly stage_id: string;
  readonly attempt_number: number;
  readonly outcome: "true" | "false" | "unknown";
  readonly trace?: readonly Pick<TraceItem, "condition_id" | "value" | "reason">[];
}

/** The part of an answer of `scenario_status` that a drawing shows; `waiting` needs `include: ["waiting"]`. */
export interface StatusAnswer {
  readonly status: RunStatus;
  readonly stages: readonly { readonly stage_id: string; readonly classification: StageClassification }[];
  /** Oldest first. */
  readonly recent_attempts: readonly PicturedAttempt[];
  readonly waiting?: readonly { readonly stage_id: string; readonly condition_id: string }[];
}

interface StageFacts {
  readonly classification: StageClassification;
  readonly attempt: PicturedAttempt | undefined;
  /** Conditions that an answer names as waiting. */
  readonly waiting: ReadonlySet<string>;
}

/** The picture of a run from an answer of `scenario_status`. */
export function pictureOfStatus(law: PicturedLaw, answer: StatusAnswer): RunPicture {
  const classifications = new Map(answer.stages.map((stage) => [stage.stage_id, stage.classification]));
  const attempts = new Map(answer.recent_attempts.map((attempt) => [attempt.stage_id, attempt]));
  const waiting = Map.groupBy(answer.waiting ?? [], ({ stage_id }) => stage_id);
  return pictureOf(law, answer.status === "complete", ({ stage_id }) => ({
    classification: classifications.get(stage_id) ?? "blocked",
    attempt: attempts.get(stage_id),
    waiting: new Set(waiting.get(stage_id)?.map(({ condition_id }) => condition_id)),
  }));
}

/**
 * The picture of a run after the last of its records.
 *
 * @param foundOf The value of an item, or why it is not there
 */
export function pictureOfRecords(
  law: PicturedLaw,
  records: readonly RunRecord[],
  foundOf: (item: RecordedEvidence) => string,
): RunPicture {
  const opened = new Set<string>();
  const complete = new Set<string>();
  const attempts = new Map<string, PicturedAttempt>();
  for (const record of records) {
    if (record.record_kind === "stage_opened") opened.add(record.body.stage_id);
    if (record.record_kind !== "stage_evaluated") continue;
    attempts.set(record.body.stage_id, { ...record.body, causes: causesOf(record.body, foundOf) });
    if (record.body.completed) complete.add(record.body.stage_id);
  }
  const classificationOf = ({ stage_id, prerequisite }: Stage): StageClassification => {
    if (complete.has(stage_id)) return "complete";
    if (opened.has(stage_id)) return "open_incomplete";
    const isReady = prerequisite.kind === "root" || holdsOver(prerequisite.requirement, complete);
    return isReady ? "ready_unopened" : "blocked";
  };
  return pictureOf(law, holdsOver(law.completion_requirement, complete), (stage) => ({
    classification: classificationOf(stage),
    attempt: attempts.get(stage.stage_id),
    waiting: new Set(),
  }));
}

/** What an attempt found for each condition, and why items did not count: the observed error, else the failed test. */
function causesOf(
  { trace, evidence }: StageEvaluatedBody,
  foundOf: (item: RecordedEvidence) => string,
): UnmetCause[] {
  const items = Map.groupBy(evidence, ({ condition_id }) => condition_id);
  return trace.flatMap(({ condition_id, value }) => {
    const all = items.get(condition_id) ?? [];
    // A condition holds by the items that count.
    const own = value === "true" ? all.filter(({ qualified }) => qualified) : all;
    if (own.length === 0) return [];
    const cause = own.flatMap(({ qualified, error, reason }) =>
      qualified ? [] : [error?.code ?? reason ?? "unqualified"]
    );
    const found = [...new Set(own.flatMap((item) => item.error === undefined ? [foundOf(item)] : []))];
    return [{
      condition_id,
      value,
      ...cause.length === 0 ? {} : { cause },
      ...found.length === 0 ? {} : { found },
    }];
  });
}

/** Whether a requirement over stages holds where the given stages are complete. */
function holdsOver(requirement: Requirement, complete: ReadonlySet<string>): boolean {
  if ("Condition" in requirement) return complete.has(requirement.Condition);
  if ("Not" in requirement) return !holdsOver(requirement.Not, complete);
  if ("And" in requirement) return requirement.And.every((one) => holdsOver(one, complete));
  if ("Or" in requirement) return requirement.Or.some((one) => holdsOver(one, complete));
  const { min, reqs } = requirement.RequireGroup;
  return reqs.filter((one) => holdsOver(one, complete)).length >= min;
}

function pictureOf(law: PicturedLaw, isComplete: boolean, factsOf: (stage: Stage) => StageFacts): RunPicture {
  const conditions = new Map(law.conditions.map((condition) => [condition.condition_id, condition]));
  return {
    isComplete,
    stages: new Map(law.stages.map((stage) => [stage.stage_id, stagePicture(stage, factsOf(stage), conditions)])),
  };
}

function stagePicture(
  stage: Stage,
  facts: StageFacts,
  conditions: ReadonlyMap<string, Condition>,
): StagePicture {
  const { classification, attempt } = facts;
  const lines = judgedLines(stage, facts);
  const judged = judgedBy([...lines].map(([condition_id, { value }]) => ({ condition_id, value })));
  const standings = leafStandings(stage.completion_requirement, judged);
  const pictures = leavesOf(stage.completion_requirement).map((id): [string, ConditionPicture] => {
    const isWaiting = facts.waiting.has(id);
    const needed = standings.get(id)?.needed ?? true;
    const picture = conditionPicture(conditions.get(id), lines.get(id), needed, classification, isWaiting);
    return [id, { condition_id: id, needed, ...picture }];
  });
  const detail = attempt === undefined || classification === "complete"
    ? ""
    : `attempt ${attempt.attempt_number} was ${attempt.outcome}`;
  return { mark: stageMark(facts, pictures.map(([, { mark }]) => mark)), detail, conditions: new Map(pictures) };
}

function stageMark({ classification, attempt }: StageFacts, conditions: readonly ConditionMark[]): StageMark {
  if (classification === "complete") return "complete";
  if (classification === "blocked") return "blocked";
  if (classification === "ready_unopened") return "ready";
  if (attempt?.outcome === "false") return "held";
  return conditions.includes("waiting") ? "waiting" : "open";
}

/**
 * The judgements of the last attempt, by condition. A condition that an answer does not name is not judged, since an
 * answer may leave out what is too large; but a stage that is complete, and needs all of its conditions, has them all.
 */
function judgedLines(stage: Stage, { classification, attempt }: StageFacts): ReadonlyMap<string, Judged> {
  const { completion_requirement: requirement } = stage;
  const causes = new Map(everyFinding(attempt ?? {}).map((cause) => [cause.condition_id, cause]));
  const lines = new Map<string, Judged>(causes);
  for (const line of attempt?.trace ?? []) lines.set(line.condition_id, { ...causes.get(line.condition_id), ...line });
  if (classification !== "complete" || !isConjunction(requirement)) return lines;
  const holds: Judged = { value: "true" };
  return new Map(leavesOf(requirement).map((id) => [id, lines.get(id) ?? holds]));
}

function conditionPicture(
  condition: Condition | undefined,
  line: Judged | undefined,
  needed: boolean,
  classification: StageClassification,
  isNamedWaiting: boolean,
): Pick<ConditionPicture, "mark" | "detail"> {
  const channels: readonly string[] = condition?.evidence_use_policy.allowed_channels ?? [];
  const isStated = channels.includes("accepted_submission");
  const isOpen = classification === "open_incomplete";
  const isWaiting = isOpen && (isNamedWaiting || isStated);
  if (line === undefined) return { mark: isWaiting ? "waiting" : "not_judged", detail: "" };
  const value = asNeeded(line.value, needed);
  const detail = foundText({ ...line, value }, condition?.evidence_use_policy);
  if (value === "true") return { mark: "met", detail };
  if (value === "false") return { mark: isStated && channels.length === 1 ? "refused" : "not_met", detail };
  if (line.reason === "error") return { mark: "unavailable", detail };
  return { mark: isWaiting ? "waiting" : "unknown", detail };
}
