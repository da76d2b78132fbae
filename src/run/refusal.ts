/** Refusals that several decisions share. Each has what the caller needs to continue. */

import type { JsonObject } from "../canonical/json.ts";
import { nearestNames } from "../canonical/nearest.ts";
import type { RefusalOutcome, Refused } from "./command.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import { asJson } from "./primitives.ts";
import type { Head, RunState, StageState } from "./types.ts";

/** How many stage ids a `stage_not_found` names. */
const NAMED_STAGES = 64;

/** A decision without records. */
export function refusal(outcome: RefusalOutcome, result: object): Refused {
  return { outcome, records: [], result: asJson(result) as JsonObject };
}

/** The `stale` refusal if the caller's head is not the current one. Its result is the current head. */
export function checkHead(state: RunState, expected: Head): Refused | null {
  const { record_id, revision } = state.head;
  if (expected.record_id === record_id && expected.revision === revision) return null;
  return refusal("stale", { record_id, revision });
}

/** A stage of the law with its state in the run. */
export interface FoundStage {
  readonly compiled: CompiledStage;
  readonly stage: StageState;
}

/** The stage, or the `stage_not_found` refusal with the ids of the law. */
export function findStage(
  law: CompiledLaw,
  state: RunState,
  stageId: string,
): FoundStage | Refused {
  const index = law.stageIndex.get(stageId) ?? -1;
  const compiled = law.stages[index];
  const stage = state.stages[index];
  if (compiled !== undefined && stage !== undefined) return { compiled, stage };
  return refusal("stage_not_found", stageNames(law, stageId));
}

/** The result of `stage_not_found`: the ids of the law, and those nearest to the one given. */
export function stageNames(
  law: CompiledLaw,
  stageId: string,
): {
  readonly stage_id: string;
  readonly stages: readonly string[];
  readonly stage_count: number;
  readonly nearest?: readonly string[];
} {
  const ids = law.stages.map(({ stage }) => stage.stage_id);
  const nearest = nearestNames(stageId, ids);
  return {
    stage_id: stageId,
    stages: ids.slice(0, NAMED_STAGES),
    stage_count: ids.length,
    ...nearest.length === 0 ? {} : { nearest },
  };
}
