/** The errors for a run or a stage that does not exist. */

import type { JsonObject } from "../../canonical/json.ts";
import { didYouMean } from "../../law/suggest.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { asJson } from "../../run/primitives.ts";
import { stageNames } from "../../run/refusal.ts";
import { failure } from "./errors.ts";
import type { ToolAnswer } from "./types.ts";

/** The answer for a run that does not exist in the namespace, or belongs to another scenario. */
export function runNotFound(
  run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string },
): ToolAnswer {
  const { namespace_id, scenario_id, run_id } = run;
  const message = `Cannot find run "${run_id}" of scenario ${JSON.stringify(scenario_id)} in namespace ${namespace_id}`;
  return failure("run_not_found", message, {
    ...run,
    next: [{
      tool: "runs_list",
      arguments_hint: { namespace_id, scenario_id },
      why: "List the runs of the scenario",
    }],
  });
}

/** The answer to a precheck of a stage that the law does not have. */
export function stageNotFound(law: CompiledLaw, stageId: string): ToolAnswer {
  const names = stageNames(law, stageId);
  const meant = didYouMean(stageId, names.nearest ?? []);
  const message = `Cannot precheck stage ${JSON.stringify(stageId)}: the law has no such stage${meant}`;
  return failure("stage_not_found", message, asJson(names) as JsonObject);
}
