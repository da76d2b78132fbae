/**
 * The states of the stages of a pack after its last record.
 *
 * @module
 */

import type { Requirement } from "../../law/types.ts";
import type { PackView } from "../material_view.ts";

/** The state of a stage. */
export type StageState = "complete" | "open" | "ready" | "blocked";

/** The state of a stage, and the records that led to it. */
export interface StageStanding {
  readonly state: StageState;
  readonly attempts: number;
  /** Revisions of the records that opened and completed it. */
  readonly opened: number | null;
  readonly completed: number | null;
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

/** Checks whether the records complete the run. */
export function isCompleted({ law, records }: Pick<PackView, "law" | "records">): boolean {
  const complete = records.flatMap(({ record }) =>
    record.record_kind === "stage_evaluated" && record.body.completed ? [record.body.stage_id] : []
  );
  return holdsOver(law.law.completion_requirement, new Set(complete));
}

/** The state of every stage of the law, by stage id. */
export function standingsOf({ law, records }: Pick<PackView, "law" | "records">): ReadonlyMap<string, StageStanding> {
  const opened = new Map<string, number>();
  const completed = new Map<string, number>();
  const attempts = new Map<string, number>();
  for (const { record } of records) {
    if (record.record_kind === "stage_opened") opened.set(record.body.stage_id, record.revision);
    if (record.record_kind !== "stage_evaluated") continue;
    const { stage_id, completed: isComplete } = record.body;
    attempts.set(stage_id, (attempts.get(stage_id) ?? 0) + 1);
    if (isComplete) completed.set(stage_id, record.revision);
  }
  const complete = new Set(completed.keys());
  return new Map(law.law.stages.map(({ stage_id, prerequisite }) => {
    const isReady = prerequisite.kind === "root" || holdsOver(prerequisite.requirement, complete);
    const state = complete.has(stage_id) ? "complete" : opened.has(stage_id) ? "open" : isReady ? "ready" : "blocked";
    return [stage_id, {
      state,
      attempts: attempts.get(stage_id) ?? 0,
      opened: opened.get(stage_id) ?? null,
      completed: completed.get(stage_id) ?? null,
    }];
  }));
}
