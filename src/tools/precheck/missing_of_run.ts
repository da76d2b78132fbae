/**
 * What a run is missing, told with its status: worked out once for each head, one run at a time, and with turns for everybody else in
 * between, since a law of many stages takes a while.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { eachMissingOfRun, verifiedOnlyUnder } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import type { RunState } from "../../run/types.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { sentBytes } from "../framework/response_size.ts";
import { inTurns } from "../framework/cooperative_scheduler.ts";

/** States for which the text is kept. */
const KEPT_STATES = 16;

const kept = new Map<RunState, string>();
let lastRun: Promise<unknown> = Promise.resolve();

/**
 * The JSON text of what the stages lack.
 *
 * @param maximum Bytes that it may take as it is sent
 */
export function missingOfRunText(run: ProjectedRun, profile: OperatorProfile, maximum: number): Promise<string> {
  const known = kept.get(run.state);
  if (known !== undefined) return Promise.resolve(known);
  const mine = lastRun.then(() => kept.get(run.state) ?? inTurns(workOut(run, profile, maximum)));
  lastRun = mine.catch(() => undefined);
  return mine;
}

/** Works it out, stopping after each stage. */
function* workOut(
  { law, state }: ProjectedRun,
  profile: OperatorProfile,
  maximum: number,
): Generator<undefined, string> {
  const stages: string[] = [];
  for (const stage of eachMissingOfRun(law, state, verifiedOnlyUnder(profile), { maximum, sizeOf: sentBytes })) {
    stages.push(canonicalize(asJson(stage)));
    yield;
  }
  const text = `[${stages.join(",")}]`;
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size >= KEPT_STATES) kept.delete(oldest);
  kept.set(state, text);
  return text;
}
