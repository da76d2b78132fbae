/**
 * The member `missing` of a run's status. It is computed once for each head, one run at a time and in short time
 * slices,
 * since a law of many stages takes long.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { eachMissingOfRun, verifiedOnlyUnder } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import type { RunState } from "../../run/types.ts";
import { BoundedMap } from "../../store/bounded_map.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { sentBytes } from "../framework/response_size.ts";
import { inTurns } from "../../evidence/cooperative_scheduler.ts";

/** States whose text is cached. */
const KEPT_STATES = 16;

const kept = new BoundedMap<RunState, string>(KEPT_STATES);
let lastRun: Promise<unknown> = Promise.resolve();

/**
 * The JSON text of what each stage is missing.
 *
 * @param maximum Most bytes of it in an answer
 */
export function missingOfRunText(run: ProjectedRun, profile: OperatorProfile, maximum: number): Promise<string> {
  const known = kept.get(run.state);
  if (known !== undefined) return Promise.resolve(known);
  const mine = lastRun.then(() => kept.get(run.state) ?? inTurns(computeText(run, profile, maximum)));
  lastRun = mine.catch(() => undefined);
  return mine;
}

/** Computes the text; yields after each stage. */
function* computeText(
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
  kept.set(state, text);
  return text;
}
