/**
 * Chooses the stage of a step, or the outcome where no stage can take one.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { asJson } from "../../run/primitives.ts";
import { findStage, type FoundStage } from "../../run/refusal.ts";
import type { RunState } from "../../run/types.ts";
import type { Outcome } from "../mutation/outcome.ts";

function refused(outcome: string, result: object): Outcome {
  return { outcome, result: asJson(result) as JsonObject };
}

/** The outcome for a complete run, which takes no more steps; null for an active run. */
export function runComplete({ status, head }: RunState): Outcome | null {
  return status === "complete" ? refused("run_complete", { accepted_head: head, run_status: status }) : null;
}

/**
 * The stage of a step that names no stage: the first that was never evaluated, else the one with the oldest last
 * attempt. An
 * attempt that `recent_attempts` no longer has is older than any other. Ties are broken by id, the order of the stages.
 */
function chooseStage({ stages, recent_attempts }: RunState): string | undefined {
  const able = stages.filter(({ classification }) =>
    classification === "ready_unopened" || classification === "open_incomplete"
  );
  const fresh = able.find(({ attempt_count }) => attempt_count === 0);
  if (fresh !== undefined) return fresh.stage_id;
  const lastOf = new Map(recent_attempts.map(({ stage_id }, index) => [stage_id, index]));
  const ages = able.map(({ stage_id }) => lastOf.get(stage_id) ?? -1);
  return able[ages.indexOf(Math.min(...ages))]?.stage_id;
}

/** The named stage, else the one that {@link chooseStage} finds; or the outcome where it can take no step. */
export function nextStage(law: CompiledLaw, state: RunState, named: string | undefined): FoundStage | Outcome {
  const complete = runComplete(state);
  const ready_frontier = readyFrontier(state);
  const chosen = named ?? chooseStage(state);
  if (chosen === undefined) return complete ?? refused("stage_not_ready", { reason: "no_stage", ready_frontier });
  const found = findStage(law, state, chosen);
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
