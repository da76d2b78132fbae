/**
 * The search of a step that names no stage: a stage where nothing changed, or whose provider fails, must not keep the others
 * from their turn.
 *
 * @module
 */

import type { AcceptedSteps } from "../../run/decide/decide_steps.ts";
import type { AcceptedCall } from "../mutation/derived_mutation.ts";
import type { Outcome } from "../mutation/outcome.ts";

/** A step at one stage: to be recorded, the repetition of an earlier one, or a refusal. */
export type TriedStep = AcceptedSteps | AcceptedCall | Outcome;

/** When a call begins with no further stage, in milliseconds: many clients end it after a minute, and a stage may take half of one. */
const SEARCH_MILLIS = 10_000;

/**
 * Tries stages in their order until a step is to be recorded, the time has passed or the caller is gone. A refusal of the first
 * stage is the answer, as where the caller named it; only a failure of its providers is not. Refusals of the others are not.
 *
 * @param stages At least one
 * @returns The step to record; else the first failure of providers; else the first repetition
 */
export async function searchStages<Stage>(
  stages: readonly Stage[],
  attempt: (stage: Stage) => Promise<TriedStep>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<TriedStep> {
  const since = now();
  let kept: AcceptedCall | Outcome | null = null;
  for (const stage of stages) {
    if (kept !== null && (signal.aborted || now() - since >= SEARCH_MILLIS)) break;
    const tried = await attempt(stage);
    if ("decisions" in tried) return tried;
    const isFailure = "outcome" in tried && tried.outcome === "acquisition_failed";
    if (kept === null && "outcome" in tried && !isFailure) return tried;
    if (kept === null || isFailure && "steps" in kept) kept = tried;
  }
  if (kept === null) throw new RangeError("Cannot search: no stage is given");
  return kept;
}
