/**
 * Deciding a mutation of several records: one decision after the other, each on the state after the one before it. Each record is what
 * deciding its command alone at that head would have made, so a replay needs to know nothing of the whole.
 *
 * @module
 */

import type { Accepted, Environment, EvaluateCommand, OpenCommand, Refused, Stamps, SubmitCommand } from "./command.ts";
import type { CompiledLaw } from "./compile.ts";
import { decide } from "./decide.ts";
import type { RunState } from "./types.ts";

type WithoutHead<Command> = Command extends unknown ? Omit<Command, "expected_head"> : never;

/** A command whose head is that of the step before it. */
export type Step = WithoutHead<OpenCommand | EvaluateCommand | SubmitCommand>;

/** All steps were accepted. */
export interface AcceptedSteps {
  readonly outcome: "accepted";
  /** One a record, in order. */
  readonly decisions: readonly Accepted[];
  /** After the last one. */
  readonly state: RunState;
}

/**
 * Decides steps from a state on, all or none: the first refusal is the refusal of all. An evaluation after the one that completes the
 * run is left out, since a complete run takes none.
 */
export function decideSteps(
  law: CompiledLaw,
  state: RunState,
  steps: readonly Step[],
  stamps: Stamps,
  environment: Environment,
): AcceptedSteps | Refused {
  const decisions: Accepted[] = [];
  let at = state;
  for (const step of steps) {
    if (step.kind === "evaluate" && decisions.length > 0 && at.status === "complete") continue;
    const decision = decide(law, at, { ...step, expected_head: at.head }, stamps, environment);
    if (decision.outcome !== "accepted") return decision;
    decisions.push(decision);
    at = decision.state;
  }
  return { outcome: "accepted", decisions, state: at };
}
