/** Where a run stands, in words: progress, the state of each stage, and what is missing. */

import { isJsonArray, type JsonObject } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import { MARKS, stateWords } from "../../runpack/picture/marks.ts";
import { type PicturedAttempt, pictureOfStatus, type RunPicture } from "../../runpack/picture/run_picture.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { neededText } from "../../run/missing/sentence.ts";
import type { StageStanding } from "../../run/missing/stage.ts";
import { type WaitingCondition, withRefusals } from "../../run/missing/waiting.ts";
import type { Head, RunKey, RunStatus, StageClassification } from "../../run/types.ts";
import { mustCall, type ToolSession } from "../session/tool_session.ts";
import { lawWords } from "../../law/words.ts";
import { columns, shown } from "../terminal/text.ts";
import { describeMissing, describeRun, inOrder, type LastAttempt, verdictsOf } from "./explain_view.ts";
import { readHistory } from "./history.ts";

/** Where a run stands. */
export interface RunStanding {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly law: ScenarioLaw;
  readonly status: RunStatus;
  readonly head: Head;
  /** In an order in which they can be passed. */
  readonly stages: readonly { readonly stage_id: string; readonly classification: StageClassification }[];
  readonly ready_frontier: readonly string[];
  readonly missing: readonly StageStanding[];
  /** The last attempt of each open stage. */
  readonly attempts: readonly LastAttempt[];
  /** The states of stages and conditions, as drawings show them. */
  readonly picture: RunPicture;
}

/** An attempt with its trace. */
type TracedAttempt = Omit<LastAttempt, "holds" | "fails"> & Pick<PicturedAttempt, "trace">;

/** Reads where a run stands. */
export async function readStanding(
  session: ToolSession,
  { namespace_id, run_id }: RunKey,
  law: ScenarioLaw,
): Promise<RunStanding> {
  const run_key = { namespace_id, run_id };
  const { scenario_id } = law;
  const status = await mustCall(session, "scenario_status", {
    namespace_id,
    scenario_id,
    run_id,
    include: ["missing", "waiting"],
  });
  const stages = inOrder(law, listOf<RunStanding["stages"][number]>(status, "stages"));
  const open = stages.filter(({ classification }) => classification === "open_incomplete").map(({ stage_id }) =>
    stage_id
  );
  const waiting = listOf<WaitingCondition>(status, "waiting");
  const recent = listOf<TracedAttempt>(status, "recent_attempts").map((attempt) => ({
    ...attempt,
    causes: withRefusals(attempt.stage_id, attempt.causes ?? [], waiting),
  }));
  const last = await lastAttempts(session, { run_key, scenario_id }, recent, open);
  const runStatus = status["status"] as RunStatus;
  const picture = pictureOfStatus(law, {
    status: runStatus,
    stages,
    recent_attempts: [...last.values()],
    waiting,
  });
  return {
    run_key,
    scenario_id,
    law,
    picture,
    status: runStatus,
    head: status["accepted_head"] as Head,
    stages,
    ready_frontier: listOf<string>(status, "ready_frontier"),
    missing: inOrder(law, listOf<StageStanding>(status, "missing")),
    attempts: open.flatMap((stageId) => {
      const attempt = last.get(stageId);
      if (attempt === undefined) return [];
      const { stage_id, attempt_number, record_id, outcome, causes = [], met = [], not_needed = [], trace } = attempt;
      const found = { causes, met, not_needed };
      return [{ stage_id, attempt_number, record_id, outcome, ...found, ...verdictsOf(trace ?? []) }];
    }),
  };
}

/**
 * The last attempts by stage. The status of a run has its last attempts only, so those of other open stages are read
 * from the history.
 */
async function lastAttempts(
  session: ToolSession,
  run: Pick<RunStanding, "run_key" | "scenario_id">,
  recent: readonly TracedAttempt[],
  open: readonly string[],
): Promise<ReadonlyMap<string, TracedAttempt>> {
  const last = new Map(recent.map((attempt) => [attempt.stage_id, attempt]));
  const oldest = recent[0]?.attempt_number ?? 1;
  const sought = new Set(open.filter((stageId) => !last.has(stageId)));
  if (oldest === 1 || sought.size === 0) return last;
  for await (const { record_id, record } of readHistory(session, run)) {
    if (record.record_kind !== "stage_evaluated") continue;
    const { stage_id, attempt_number, outcome, trace } = record.body;
    if (attempt_number >= oldest) break;
    // A record has no causes: they are derived with the answers that show attempts.
    if (sought.has(stage_id)) last.set(stage_id, { stage_id, attempt_number, record_id, outcome, causes: [], trace });
  }
  return last;
}

function listOf<Item>(answer: JsonObject, name: string): readonly Item[] {
  const value = answer[name] ?? null;
  return (isJsonArray(value) ? value : []) as readonly Item[];
}

/** The progress of a run, such as `1 of 2 stages complete`. */
export function progressOf({ stages }: Pick<RunStanding, "stages">): string {
  const complete = stages.filter(({ classification }) => classification === "complete").length;
  return `${complete} of ${countOf(stages.length, "stage")} complete`;
}

/** The state of a stage in words, such as `held, attempt 2 was false`. */
export function stageStateOf({ picture }: Pick<RunStanding, "picture">, stageId: string): string {
  const state = picture.stages.get(stageId);
  return state === undefined ? "" : stateWords(state.mark, state.detail);
}

/** Lists the stages with their marks; below an open one its conditions. */
function stageRows({ stages, picture, law }: RunStanding): string[][] {
  const words = lawWords(law);
  return stages.flatMap(({ stage_id, classification }) => {
    const state = picture.stages.get(stage_id);
    if (state === undefined) return [];
    const row = [`  ${MARKS[state.mark].character} ${shown(stage_id)}`, stateWords(state.mark, state.detail)];
    const conditions = classification === "open_incomplete" ? [...state.conditions.values()] : [];
    return [
      row,
      ...conditions.map((one) => [
        `    ${MARKS[one.mark].character} ${shown(neededText(one, words))}`,
        shown(stateWords(one.mark, one.detail)),
      ]),
    ];
  });
}

/** Describes where a run stands. */
export function describeStanding(standing: RunStanding, colour: boolean): string {
  return `${describeRun(standing, colour)}${progressOf(standing)}\n${columns(stageRows(standing))}${
    describeMissing(standing.missing, standing.attempts, standing.law, colour)
  }`;
}

/** Where a run stands, as JSON. */
export function standingAsJson(standing: RunStanding): object {
  const { run_key, scenario_id, head, status, stages, ready_frontier, missing, attempts } = standing;
  return {
    ...run_key,
    scenario_id,
    accepted_head: head,
    status,
    progress: progressOf(standing),
    stages,
    ready_frontier,
    missing,
    last_attempts: attempts,
  };
}
