/**
 * The member `waiting` of answers: what signed statements can still satisfy in a run.
 *
 * @module
 */

import { openForEvidence, waitingConditions } from "../../run/missing/waiting.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { sentBytes } from "../framework/response_size.ts";
import { waitingValues } from "../mutation/submitted_evidence.ts";
import type { Services } from "../services/services.ts";

/**
 * The JSON text of the members `waiting` and, where they do not fit, `waiting_left_out`, without the braces of an object.
 *
 * @param maximum Most bytes of the conditions in an answer
 */
export async function waitingMembers(services: Services, run: ProjectedRun, maximum: number): Promise<string> {
  const { law, state } = run;
  const now = services.time.read()?.reading_unix_millis ?? state.accepted_audit_instant;
  const texts: string[] = [];
  let left = maximum;
  let leftOut = 0;
  // An archived run takes no statements, and its values may be removed.
  for (const stage of run.archived === undefined ? openForEvidence(law, state) : []) {
    const values = await waitingValues(services.runs, state, stage.stage.stage_id);
    for (const one of waitingConditions(law, stage, state, values, services.environment, now)) {
      const own = JSON.stringify(one);
      left -= sentBytes(own) + 2;
      if (left < 0) leftOut++;
      else texts.push(own);
    }
  }
  const more = leftOut === 0 ? "" : `,"waiting_left_out":${leftOut}`;
  return `"waiting":[${texts.join(",")}]${more}`;
}
