/**
 * The error of reads on a run that is not there.
 *
 * @module
 */

import { failure } from "./errors.ts";
import type { ToolAnswer } from "./types.ts";

/** The answer for a run that does not exist in the namespace, or is one of another scenario. */
export function runNotFound(
  run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string },
): ToolAnswer {
  const { namespace_id, scenario_id, run_id } = run;
  const message = `Cannot find run "${run_id}" of scenario ${JSON.stringify(scenario_id)} in namespace ${namespace_id}`;
  return failure("run_not_found", message, {
    ...run,
    next: [{
      tool: "scenarios_list",
      arguments_hint: { namespace_id },
      why: "Find the scenario, then start a run of it",
    }],
  });
}
