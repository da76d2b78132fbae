/** Which stages may be opened, and whether the scenario is complete. */

import { FALSE, TRUE } from "../law/value/truth.ts";
import type { CompiledLaw } from "./compile.ts";
import { type Program, runProgram } from "./program.ts";
import type { RunState, StageState, StageTraceItem } from "./types.ts";

function completedSlots(indexes: Int32Array, stages: readonly StageState[]): Uint8Array {
  const values = new Uint8Array(indexes.length);
  for (let slot = 0; slot < indexes.length; slot++) {
    values[slot] = stages[indexes[slot] ?? -1]?.classification === "complete" ? TRUE : FALSE;
  }
  return values;
}

/** Whether a requirement over stages holds: a complete stage is true, any other false. */
export function stagesSatisfy(program: Program, indexes: Int32Array, stages: readonly StageState[]): boolean {
  return runProgram(program, completedSlots(indexes, stages)) === TRUE;
}

/** The trace of a requirement over stages: one line for each visit of a leaf. */
export function traceStages(program: Program, indexes: Int32Array, stages: readonly StageState[]): StageTraceItem[] {
  const values = completedSlots(indexes, stages);
  return program.paths.map((path, visit) => {
    const slot = program.visits[visit] ?? 0;
    return { path, stage_id: program.slots[slot] ?? "", value: values[slot] === TRUE ? "true" : "false" };
  });
}

/** Stages of a new run: roots are ready, all others blocked. */
export function initialStages(law: CompiledLaw): StageState[] {
  return law.stages.map(({ stage, prerequisite }) => ({
    stage_id: stage.stage_id,
    classification: prerequisite === null ? "ready_unopened" : "blocked",
    stage_open_record_id: null,
    completion_record_id: null,
    attempt_count: 0,
  }));
}

/** Stages after one of them became complete: dependants whose prerequisite holds now become ready. */
export function stagesAfterCompletion(law: CompiledLaw, stages: StageState[], completed: number): StageState[] {
  for (const index of law.dependants[completed] ?? []) {
    const state = stages[index];
    const compiled = law.stages[index];
    if (state?.classification !== "blocked" || compiled === undefined || compiled.prerequisite === null) continue;
    if (stagesSatisfy(compiled.prerequisite, compiled.prerequisiteStages, stages)) {
      stages[index] = { ...state, classification: "ready_unopened" };
    }
  }
  return stages;
}

/** Ids of the stages that are ready and unopened, in stage id order; empty once the run is complete. */
export function readyFrontier(state: RunState): string[] {
  if (state.status === "complete") return [];
  const ready: string[] = [];
  for (const stage of state.stages) if (stage.classification === "ready_unopened") ready.push(stage.stage_id);
  return ready;
}
