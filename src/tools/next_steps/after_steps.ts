/**
 * What a caller can do after a refused call of several steps.
 *
 * @module
 */

import { type JsonObject, member } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import type { Outcome } from "../mutation/outcome.ts";
import { failuresOf, nextAfterAcquisition } from "./after_acquisition.ts";
import {
  afterDenial,
  afterRejection,
  afterRunComplete,
  afterRunNotFound,
  afterStageNotFound,
  afterStale,
  afterUsed,
  firstOf,
  type RefusedCall,
  type Retry,
  statusStep,
} from "./shared_steps.ts";
import type { NextStep } from "../framework/types.ts";

/** A refused call. */
export interface RefusedStep extends RefusedCall {
  /** The arguments that are its own, without evidence and payload, which the caller has. */
  readonly own: JsonObject;
  /** The same under a fresh id. */
  readonly fresh: JsonObject;
}

function retryOf({ tool, run, expected_head, own }: RefusedStep): Retry {
  const same = { ...run, expected_head: asJson(expected_head), ...own };
  return (change, why) => ({ tool, arguments_hint: { ...same, ...change }, why });
}

function afterStageState(refused: RefusedStep, result: JsonObject): NextStep[] {
  const first = firstOf(result, "ready_frontier");
  if (first === undefined || refused.tool !== "scenario_next") return [statusStep(refused)];
  return [
    retryOf(refused)({ ...refused.fresh, stage_id: first }, "Go on with a stage that is ready"),
    statusStep(refused),
  ];
}

function afterConflict(refused: RefusedStep, result: JsonObject): NextStep[] {
  const used = {
    operation_id: member(result, "operation_id") ?? {},
    invocation_identity: member(result, "accepted_invocation_identity") ?? "",
    why: "This id was accepted with other arguments: get what its first step did",
  };
  return afterUsed(
    refused,
    used,
    retryOf(refused)(refused.fresh, "For a new call use a fresh id, at the current head"),
  );
}

/** The steps after a refused `scenario_next` or `scenario_trigger`. */
export function nextAfterStep(refused: RefusedStep, { outcome, result }: Outcome): NextStep[] {
  const retry = retryOf(refused);
  switch (outcome) {
    case "stale":
      return afterStale(refused, result, retry);
    case "operation_conflict":
      return afterConflict(refused, result);
    case "run_not_found":
      return afterRunNotFound(refused);
    case "stage_not_found":
      return afterStageNotFound(refused, result, retry);
    case "stage_not_ready":
    case "stage_not_open":
      return afterStageState(refused, result);
    case "run_complete":
      return afterRunComplete(refused);
    case "policy_denied":
      return afterDenial(refused, result, retry, (change, why) => retry({ ...refused.fresh, ...change }, why));
    case "evidence_rejected":
      return afterRejection(retry);
    default: {
      const { namespace_id, scenario_id } = refused.run;
      const takesBindings = refused.tool === "scenario_next";
      return nextAfterAcquisition(failuresOf(result), retry, { namespace_id, scenario_id }, takesBindings);
    }
  }
}
