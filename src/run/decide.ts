/**
 * The kernel's one entry: state and command in, records and outcome out. Pure, so that a verifier decides the same.
 *
 * @module
 */

import type { Command, Decision, Stamps, Surroundings } from "./command.ts";
import type { CompiledLaw } from "./compile.ts";
import { decideCreate } from "./decide_create.ts";
import { decideEvaluate } from "./decide_evaluate.ts";
import { decideOpen } from "./decide_open.ts";
import { decideSubmit } from "./decide_submit.ts";
import type { RunState } from "./types.ts";

/**
 * Decides a command at a state.
 *
 * @param state Null only for a creation.
 * @throws {TypeError} Where a creation is put to a run, or another command to none.
 */
export function decide(
  law: CompiledLaw,
  state: RunState | null,
  command: Command,
  stamps: Stamps,
  surroundings: Surroundings,
): Decision {
  if (command.kind === "create") {
    if (state !== null) throw new TypeError("Cannot create run: it exists");
    return decideCreate(law, command, stamps, surroundings);
  }
  if (state === null) throw new TypeError(`Cannot decide ${command.kind}: there is no run`);
  switch (command.kind) {
    case "open":
      return decideOpen(law, state, command, stamps, surroundings);
    case "evaluate":
      return decideEvaluate(law, state, command, stamps, surroundings);
    case "submit":
      return decideSubmit(law, state, command, stamps, surroundings);
  }
}
