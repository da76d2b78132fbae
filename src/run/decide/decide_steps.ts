/**
 * Decides a mutation of several records: one decision after the other, each on the state after the previous one. Each
 * record equals that of its command alone at the same head, so a replay does not need the other steps.
 */

import type {
  Accepted,
  Environment,
  EvaluateCommand,
  OpenCommand,
  Refused,
  Stamps,
  SubmitCommand,
} from "../command.ts";
import type { CompiledLaw } from "../compile.ts";
import { decide } from "./decide.ts";
import type { RunState } from "../types.ts";

type WithoutHead<Command> = Command extends unknown ? Omit<Command, "expected_head"> : never;

/** A command without a head: the head after the previous step applies. */
export type Step = WithoutHead<OpenCommand | EvaluateCommand | SubmitCommand>;

/** The decision if all steps are accepted. */
export interface AcceptedSteps {
  readonly outcome: "accepted";
  /** One for each record, in order. */
  readonly decisions: readonly Accepted[];
  /** The state after the last record. */
  readonly state: RunState;
}

/**
 * Decides steps from a state on, all or none: the first refusal refuses all. Evaluations after the one that completes
 * the run are left out, since a complete run accepts submissions only.
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
