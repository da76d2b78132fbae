/**
 * What a refused caller can do next, with the arguments to do it: an agent should be able to go on without asking anyone.
 *
 * @module
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
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
  FRESH_ID,
  type RefusedCall,
  type Retry,
  statusStep,
  textOf,
} from "./shared_steps.ts";
import type { NextStep } from "../framework/types.ts";

/** A refused mutation of a run. */
export interface RefusedMutation extends RefusedCall {
  readonly family: string;
  readonly operation_id: string;
  readonly stage_id?: string;
}

/** The steps after a refused open, evaluate or submit. */
export function nextAfterMutation(refused: RefusedMutation, { outcome, result }: Outcome): NextStep[] {
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
    case "stage_already_opened":
    case "stage_not_open":
      return afterStageState(refused, result);
    case "policy_denied":
      return afterDenial(refused, result, retry, (change, why) => retry({ operation_id: FRESH_ID, ...change }, why));
    case "evidence_rejected":
      return afterRejection(retry);
    case "acquisition_failed": {
      const { namespace_id, scenario_id } = refused.run;
      return nextAfterAcquisition(failuresOf(result), retry, { namespace_id, scenario_id }, true);
    }
    default:
      return afterSubmission(result, outcome, retry);
  }
}

function retryOf({ tool, run, operation_id, expected_head, stage_id }: RefusedMutation): Retry {
  const stage = stage_id === undefined ? {} : { stage_id };
  const head = { record_id: expected_head.record_id, revision: expected_head.revision };
  const same = { ...run, ...stage, operation_id, expected_head: head };
  return (change, why) => ({ tool, arguments_hint: { ...same, ...change }, why });
}

/** After an artifact that was not taken. */
function afterSubmission(result: JsonObject, outcome: string, retry: Retry): NextStep[] {
  switch (outcome) {
    case "stage_open_mismatch": {
      const stage_id = textOf(result, "stage_id");
      const stage_open_record_id = textOf(result, "stage_open_record_id");
      return [
        retry(
          { scope: { kind: "stage_open", stage_id, stage_open_record_id } },
          "Name the record that opened the stage",
        ),
      ];
    }
    case "content_type_rejected": {
      const isJson = textOf(result, "expected").startsWith("application/json");
      const content_type = isJson ? "application/json" : "application/octet-stream";
      return [retry({ content_type }, "Name a media type that fits the payload")];
    }
    default: {
      const why = member(result, "reason") === "base64_invalid"
        ? "Write the bytes as base64 with padding and call again"
        : "Send a payload within the limit, or an external one: {kind: external, content_ref}";
      return [retry({}, why)];
    }
  }
}

function afterConflict(refused: RefusedMutation, result: JsonObject): NextStep[] {
  const { family, operation_id } = refused;
  const used = {
    operation_id: { family, identity: operation_id },
    invocation_identity: textOf(result, "accepted_invocation_identity"),
    why: "This operation_id was accepted with other arguments: get what it did",
  };
  const why = "For a new operation use a fresh operation_id, at the current head";
  return afterUsed(refused, used, retryOf(refused)({ operation_id: FRESH_ID }, why));
}

/** After a stage that is not where the call needs it. */
function afterStageState(refused: RefusedMutation, result: JsonObject): NextStep[] {
  const { run, expected_head } = refused;
  const head = { record_id: expected_head.record_id, revision: expected_head.revision };
  const at = (tool: string, stage_id: JsonValue, why: string): NextStep => ({
    tool,
    arguments_hint: { ...run, stage_id, expected_head: head, operation_id: FRESH_ID },
    why,
  });
  if (member(result, "reason") === "run_complete") return afterRunComplete(refused);
  const stageId = textOf(result, "stage_id");
  switch (member(result, "classification")) {
    case "ready_unopened":
      return [at("scenario_open_stage", stageId, "The stage is ready: open it first")];
    case "open_incomplete":
      return [at("scenario_evaluate_stage", stageId, "The stage is open: evaluate it with evidence")];
    case "blocked": {
      const ready = member(result, "ready_frontier");
      const open = isJsonArray(ready) && ready[0] !== undefined
        ? [at("scenario_open_stage", ready[0], "The prerequisite does not hold yet: go on with a stage that is ready")]
        : [];
      return [...open, statusStep(refused)];
    }
    default:
      return [statusStep(refused)];
  }
}

/** The steps after a refused creation. */
export function nextAfterCreation(input: JsonObject, outcome: Outcome): NextStep[] {
  const { namespace_id = 0, creation_request_id = "" } = input;
  // A declared genesis may be large, and the caller has it.
  const same = Object.fromEntries(Object.entries(input).filter(([name]) => name !== "genesis"));
  const again = (change: JsonObject, why: string): NextStep => ({
    tool: "scenario_start",
    arguments_hint: { ...same, ...change },
    why,
  });
  const list = {
    tool: "scenarios_list",
    arguments_hint: { namespace_id },
    why: "See which scenarios and laws there are",
  };
  switch (outcome.outcome) {
    case "creation_conflict":
      return [{
        tool: "scenario_resolve_creation",
        arguments_hint: {
          namespace_id,
          creation_request_id,
          invocation_identity: textOf(outcome.result, "accepted_invocation_identity"),
        },
        why: "This creation_request_id was accepted with other arguments: get the run it created",
      }, again({ creation_request_id: FRESH_ID }, "For another run use a fresh creation_request_id")];
    case "scenario_not_found":
      return [list, { tool: "scenario_define", arguments_hint: {}, why: "Define the scenario first" }];
    case "law_not_found":
      return [list];
    case "genesis_rejected":
      return [again({ genesis: { kind: "empty" } }, "Start with an empty genesis, or correct its payload")];
    case "correlation_rejected":
      return [again({ correlation: { kind: "unset" } }, "Start without a correlation, or correct its id")];
    default:
      return [again({}, "Nothing was recorded: call again, unchanged")];
  }
}
