import type { JsonObject } from "../../canonical/json.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { asJson } from "../../run/primitives.ts";
import { findStage, type FoundStage } from "../../run/refusal.ts";
import type { RunState, StageState } from "../../run/types.ts";
import type { Outcome } from "../mutation/outcome.ts";

function refused(outcome: string, result: object): Outcome {
  return { outcome, result: asJson(result) as JsonObject };
}

/** The outcome for a complete run, which takes no more steps; null for an active run. */
export function runComplete({ status, head }: RunState): Outcome | null {
  return status === "complete" ? refused("run_complete", { accepted_head: head, run_status: status }) : null;
}

/**
 * The ids of stages that can take a step, by turn: those that were never evaluated, then by the age of the last
 * attempt, the oldest first. An attempt that `recent_attempts` no longer has is older than any other. Ties keep the
 * order of the stages.
 */
function stagesByTurn({ stages, recent_attempts }: RunState): string[] {
  const lastOf = new Map(recent_attempts.map(({ stage_id }, index) => [stage_id, index]));
  const turnOf = ({ stage_id, attempt_count }: StageState): number =>
    attempt_count === 0 ? -2 : lastOf.get(stage_id) ?? -1;
  return stages
    .filter(({ classification }) => classification === "ready_unopened" || classification === "open_incomplete")
    .sort((a, b) => turnOf(a) - turnOf(b))
    .map(({ stage_id }) => stage_id);
}

/** The named stage, else those of {@link stagesByTurn}, at least one; or the outcome where none can take a step. */
export function nextStages(law: CompiledLaw, state: RunState, named: string | undefined): FoundStage[] | Outcome {
  if (named !== undefined) {
    const found = namedStage(law, state, named);
    return "outcome" in found ? found : [found];
  }
  const ready_frontier = readyFrontier(state);
  const stages = stagesByTurn(state).map((id) => findStage(law, state, id)).filter((found) => "stage" in found);
  if (runComplete(state) === null && stages.length > 0) return stages;
  return runComplete(state) ?? refused("stage_not_ready", { reason: "no_stage", ready_frontier });
}

function namedStage(law: CompiledLaw, state: RunState, named: string): FoundStage | Outcome {
  const complete = runComplete(state);
  const ready_frontier = readyFrontier(state);
  const found = findStage(law, state, named);
  if ("outcome" in found) return found;
  if (complete !== null) return complete;
  const { stage_id, classification } = found.stage;
  switch (classification) {
    case "blocked":
      return refused("stage_not_ready", { stage_id, classification, reason: "prerequisite", ready_frontier });
    case "complete":
      return refused("stage_not_open", { stage_id, classification, ready_frontier });
    default:
      return found;
  }
}

/** The state with a stage open: evidence is checked against it before the stage is opened. */
export function withOpenStage(state: RunState, stageId: string): RunState {
  const stages = state.stages.map((stage) =>
    stage.stage_id === stageId ? { ...stage, classification: "open_incomplete" as const } : stage
  );
  return { ...state, stages };
}
