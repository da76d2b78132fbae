/**
 * The one entry of the kernel: a law, a state and a command in, records and an outcome out. It is pure, so a verifier
 * reaches the same decision.
 */

import type { Command, Decision, Environment, Stamps } from "../command.ts";
import type { CompiledLaw } from "../compile.ts";
import { decideCreate } from "./decide_create.ts";
import { decideEvaluate } from "./decide_evaluate.ts";
import { decideOpen } from "./decide_open.ts";
import { decideSubmit } from "./decide_submit.ts";
import type { RunState } from "../types.ts";

/**
 * Decides a command at a state.
 *
 * @param state The state that the command applies to; null for a creation
 * @throws {TypeError} Where a creation comes with a state, or another command without one
 */
export function decide(
  law: CompiledLaw,
  state: RunState | null,
  command: Command,
  stamps: Stamps,
  environment: Environment,
): Decision {
  if (command.kind === "create") {
    if (state !== null) throw new TypeError("Cannot create run: it exists");
    return decideCreate(law, command, stamps, environment);
  }
  if (state === null) throw new TypeError(`Cannot decide ${command.kind}: there is no run`);
  switch (command.kind) {
    case "open":
      return decideOpen(law, state, command, stamps, environment);
    case "evaluate":
      return decideEvaluate(law, state, command, stamps, environment);
    case "submit":
      return decideSubmit(law, state, command, stamps, environment);
  }
}
