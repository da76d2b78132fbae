/**
 * A small release scenario, played to the states that tests of the kernel start from.
 *
 * @module
 */

import type { Accepted, Command } from "../../../src/run/command.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import type { RunState } from "../../../src/run/types.ts";
import {
  accepted,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  lawOf,
  openCommand,
  stampsAt,
  submitCommand,
} from "./fixture.ts";
import { flag, leastSpec, policy, stage } from "./law_specs.ts";

/**
 * Stages `build` and `scan` are roots, `ship` requires both and has an entry packet; `spare` stays open when the
 * scenario is complete.
 */
export function releaseLaw(expiry: unknown = null): ReturnType<typeof lawOf> {
  const spec = leastSpec();
  spec.scenario_id = "release";
  spec.conditions = ["built", "scanned", "approved", "spared"].map(flag);
  for (const condition of spec.conditions) {
    condition.evidence_use_policy = policy({ allowed_channels: ["caller_submission", "local_acquisition"] });
  }
  spec.acquisition_bindings = ["env-a", "env-b"].map((binding_id) => ({
    binding_id,
    condition_id: "built",
    channel: "local_acquisition",
    provider_id: "env",
    check_id: "get",
  }));
  const both = { And: [{ Condition: "build" }, { Condition: "scan" }] };
  spec.stages = [
    stage("build", "built"),
    stage("scan", "scanned"),
    {
      ...stage("ship", "approved", { kind: "requires", requirement: both }),
      entry_packets: [{
        packet_id: "runbook",
        schema_id: "runbook-v1",
        content_type: "application/json",
        visibility_labels: ["internal"],
        policy_tags: [],
        targets: [{ kind: "channel", channel: "#ops" }, { kind: "agent", agent_id: "deployer" }],
        expiry,
        payload: { kind: "json", value: { steps: 2 } },
      }],
    },
    stage("spare", "spared"),
  ];
  spec.completion_requirement = { Condition: "ship" };
  return lawOf(spec);
}

/** That law without an expiry. */
export const LAW = releaseLaw();

/** Plays commands, each made from the state before it. All must be accepted. */
export function play(law: typeof LAW, ...moves: Move[]): Accepted[] {
  const environment = environmentWith();
  const decisions = [accepted(decide(law, null, createCommand(), stampsAt(), environment))];
  for (const move of moves) {
    const { state } = decisions.at(-1) as Accepted;
    decisions.push(accepted(decide(law, state, move(state), stampsAt(), environment)));
  }
  return decisions;
}

/** The state after the plays. */
export function stateAfter(...moves: Move[]): RunState {
  return (play(LAW, ...moves).at(-1) as Accepted).state;
}

/** A command made from the state that it applies to. */
export type Move = (state: RunState) => Command;

let operation = 100;

/** Opens a stage. */
export function open(stageId: string): Move {
  return (state) => openCommand(operation++, state.head, stageId);
}

/** Evaluates a stage with one Boolean of a caller. */
export function evaluate(stageId: string, conditionId: string, value: boolean): Move {
  return (state) =>
    evaluateCommand(operation++, state.head, stageId, { caller_evidence: [callerItem(conditionId, bool(value))] });
}

/** Submits to the whole run. */
export function submit(): Move {
  return (state) => submitCommand(operation++, state.head);
}

/** Opens a stage and completes it. */
export function complete(stageId: string, conditionId: string): Move[] {
  return [open(stageId), evaluate(stageId, conditionId, true)];
}

/** The new run. */
export const NEW = stateAfter();
/** `build` is open. */
export const OPEN = stateAfter(open("build"));
/** `build` is complete, `scan` is open. */
export const DONE = stateAfter(...complete("build", "built"), open("scan"));
/** `ship` is ready. */
export const READY = stateAfter(...complete("build", "built"), ...complete("scan", "scanned"));
/** Complete, with `spare` still open. */
export const OVER = stateAfter(
  ...complete("build", "built"),
  ...complete("scan", "scanned"),
  open("spare"),
  ...complete("ship", "approved"),
);
