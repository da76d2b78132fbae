/** The values of `gate client call --set`: arguments of a call, with the types of the law that the call names. */

import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import { lawWords } from "../../law/words.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { conditionsByStage, genesisOf } from "../pipeline/inputs.ts";
import { readValues } from "../pipeline/set_values.ts";
import { findRun } from "../run/find_run.ts";
import { readLaw } from "../run/read_law.ts";
import type { ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";

/** What a tool takes of `--set`: evidence, parameters, or both. */
const TAKES: Readonly<Record<string, { readonly evidence: boolean; readonly parameters: boolean }>> = {
  scenario_start: { evidence: false, parameters: true },
  scenario_next: { evidence: true, parameters: false },
  scenario_evaluate_stage: { evidence: true, parameters: false },
  scenario_precheck_stage: { evidence: true, parameters: true },
};

/**
 * The arguments of a call with the values of `--set`.
 *
 * @throws {CliError} `usage` for another tool, a call without a law, and a value that the law or the tool does not take
 */
export async function withSetValues(
  session: ToolSession,
  tool: string,
  input: JsonObject,
  pairs: readonly string[],
): Promise<JsonObject> {
  const takes = Object.hasOwn(TAKES, tool) ? TAKES[tool] : undefined;
  if (takes === undefined) {
    throw new CliError("usage", `Cannot use --set with ${tool}: expected one of ${Object.keys(TAKES).join(", ")}`);
  }
  const law = await lawOf(session, input);
  const { stage_id = null, caller_evidence = [] } = input;
  const { parameters, evidence } = await readValues({ names: lawWords(law) }, ofStage(law, stage_id), pairs);
  const unfit = evidence.length > 0 && !takes.evidence
    ? "a run takes evidence by scenario_next and scenario_evaluate_stage"
    : parameters.length > 0 && !takes.parameters
    ? "a run has the parameters of its start"
    : null;
  if (unfit !== null) throw new CliError("usage", `Cannot use this --set with ${tool}: ${unfit}`);
  return {
    ...input,
    ...parameters.length === 0 ? {} : { genesis: genesisOf(law, parameters, "--set") },
    ...evidence.length === 0 ? {} : { caller_evidence: [...caller_evidence as readonly JsonValue[], ...evidence] },
  };
}

/** The law of a call: that of its identity, or that of its run. */
async function lawOf(session: ToolSession, input: JsonObject): Promise<ScenarioLaw> {
  const { namespace_id = 0, run_id } = input;
  const { scenario_law_identity: identity } = run_id === undefined
    ? input
    : await findRun(session, { namespace: String(namespace_id) }, String(run_id));
  if (typeof identity === "string") return await readLaw(session, Number(namespace_id), identity);
  throw new CliError("usage", "Cannot use --set: the call names no law; expected scenario_law_identity or run_id");
}

/** A law with the conditions that a stage asks: a call may not give evidence on others. */
function ofStage(law: ScenarioLaw, stageId: JsonValue): ScenarioLaw {
  if (typeof stageId !== "string") return law;
  const asked = conditionsByStage(law).get(stageId);
  if (asked === undefined) throw new CliError("usage", `Cannot use --set: the law has no stage ${quote(stageId)}`);
  return { ...law, conditions: law.conditions.filter(({ condition_id }) => asked.has(condition_id)) };
}
