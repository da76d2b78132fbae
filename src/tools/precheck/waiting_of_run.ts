/** The member `waiting` of answers: what signed statements can still satisfy in a run. */

import { lawWords } from "../../law/words.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { openForEvidence, type WaitingCondition, waitingConditions } from "../../run/missing/waiting.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { sentBytes } from "../framework/response_size.ts";
import { readRefusals, waitingValues } from "../mutation/submitted_evidence.ts";
import type { Services } from "../services/services.ts";

type WaitingServices = Pick<Services, "runs" | "time" | "environment">;

/** The conditions of an open stage that signed statements can still satisfy, with the refusals of people. */
export async function waitingOfStage(
  { runs, time, environment }: WaitingServices,
  { law, state }: Pick<ProjectedRun, "law" | "state">,
  stage: CompiledStage,
): Promise<readonly WaitingCondition[]> {
  const { stage_id } = stage.stage;
  const now = time.read()?.reading_unix_millis ?? state.accepted_audit_instant;
  const values = await waitingValues(runs, state, stage_id);
  const found: WaitingCondition[] = [];
  const words = lawWords(law.law);
  for (const one of waitingConditions(law, stage, state, values, environment, now)) {
    const condition = law.conditionIndex.get(one.condition_id)?.condition;
    const refused = condition === undefined ? [] : await readRefusals(runs, { state, stage_id, condition });
    const sentence = words.condition(one.condition_id);
    found.push({ ...one, sentence, ...refused.length === 0 ? {} : { refused } });
  }
  return found;
}

/**
 * The JSON text of the members `waiting` and, where they do not fit, `waiting_left_out`, without the braces of an
 * object.
 *
 * @param maximum Most bytes of the conditions in an answer
 */
export async function waitingMembers(services: Services, run: ProjectedRun, maximum: number): Promise<string> {
  const { law, state } = run;
  const texts: string[] = [];
  let left = maximum;
  let leftOut = 0;
  // An archived run takes no statements, and its values may be removed.
  for (const stage of run.archived === undefined ? openForEvidence(law, state) : []) {
    for (const one of await waitingOfStage(services, run, stage)) {
      const own = JSON.stringify(one);
      left -= sentBytes(own) + 2;
      if (left < 0) leftOut++;
      else texts.push(own);
    }
  }
  const more = leftOut === 0 ? "" : `,"waiting_left_out":${leftOut}`;
  return `"waiting":[${texts.join(",")}]${more}`;
}
