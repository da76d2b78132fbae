/**
 * What a refused caller can do next, with the arguments to do it: an agent should be able to go on without asking anyone.
 *
 * @module
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import type { Head } from "../run/types.ts";
import type { Outcome } from "./mutation.ts";
import type { NextStep } from "./types.ts";

/** Stands in a hint for an identity that the caller makes up. */
const FRESH_ID = "<32 fresh random hex digits>";

/** A refused mutation of a run. */
export interface RefusedMutation {
  readonly tool: string;
  readonly family: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly operation_id: string;
  readonly expected_head: Head;
  readonly stage_id?: string;
}

/** The steps after a refused open, evaluate or submit. */
export function nextAfterMutation(refused: RefusedMutation, outcome: Outcome): NextStep[] {
  const { tool, run } = refused;
  const { result } = outcome;
  switch (outcome.outcome) {
    case "stale":
      return afterStale(refused, result);
    case "operation_conflict":
      return afterConflict(refused, result);
    case "run_not_found":
      return [{
        tool: "scenarios_list",
        arguments_hint: { namespace_id: run.namespace_id },
        why: "No run has this run_id and scenario_id in the namespace: find the scenario, then start a run of it",
      }];
    case "stage_not_found":
      return [retry(refused, { stage_id: firstOf(result, "stages") }, "Name a stage of the scenario"), status(refused)];
    case "stage_not_ready":
    case "stage_already_opened":
    case "stage_not_open":
      return afterStageState(refused, result);
    case "policy_denied":
      return afterDenial(refused, result);
    case "evidence_rejected":
      return [retry(refused, {}, "Correct the evidence at each path of rejections and call again")];
    case "acquisition_failed":
      return [retry(refused, {}, "Nothing was recorded: call again, unchanged, once the failure is over")];
    case "stage_open_mismatch":
      return [retry(refused, {
        scope: {
          kind: "stage_open",
          stage_id: text(result, "stage_id"),
          stage_open_record_id: text(result, "stage_open_record_id"),
        },
      }, "Name the record that opened the stage")];
    case "content_type_rejected":
      return [retry(refused, {
        content_type: isJsonExpected(result) ? "application/json" : "application/octet-stream",
      }, "Name a media type that fits the payload")];
    case "payload_rejected":
      return [
        retry(
          refused,
          {},
          member(result, "reason") === "base64_invalid"
            ? "Write the bytes as base64 with padding and call again"
            : "Send a payload within the limit, or an external one: {kind: external, content_ref}",
        ),
      ];
    default:
      return [{ tool, arguments_hint: { ...run }, why: "Call again" }];
  }
}

function retry(refused: RefusedMutation, change: JsonObject, why: string): NextStep {
  const { tool, run, operation_id, expected_head, stage_id } = refused;
  const stage = stage_id === undefined ? {} : { stage_id };
  const head = { record_id: expected_head.record_id, revision: expected_head.revision };
  return { tool, arguments_hint: { ...run, ...stage, operation_id, expected_head: head, ...change }, why };
}

function status({ run }: RefusedMutation): NextStep {
  return {
    tool: "scenario_status",
    arguments_hint: { ...run },
    why: "See the stages, the ready frontier and the head",
  };
}

function afterStale(refused: RefusedMutation, head: JsonObject): NextStep[] {
  const revision = member(head, "revision");
  const since = Math.min(refused.expected_head.revision, typeof revision === "number" ? revision : 0);
  return [
    {
      tool: "scenario_history",
      arguments_hint: { ...refused.run, after_revision: since },
      why: "The run moved on: see what was accepted since your head",
    },
    retry(
      refused,
      { expected_head: head },
      "If it still applies, call again at the current head; nothing was recorded",
    ),
  ];
}

function afterConflict(refused: RefusedMutation, result: JsonObject): NextStep[] {
  const { run, family, operation_id } = refused;
  return [
    {
      tool: "scenario_resolve_mutation",
      arguments_hint: {
        namespace_id: run.namespace_id,
        run_id: run.run_id,
        operation_id: { family, identity: operation_id },
        invocation_identity: text(result, "accepted_invocation_identity"),
      },
      why: "This operation_id was accepted with other arguments: get what it did",
    },
    retry(refused, { operation_id: FRESH_ID }, "For a new operation use a fresh operation_id"),
  ];
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
  if (member(result, "reason") === "run_complete") {
    return [{
      tool: "scenario_history",
      arguments_hint: { ...run },
      why: "The run is complete and takes submissions only",
    }];
  }
  const stageId = text(result, "stage_id");
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
      return [...open, status(refused)];
    }
    default:
      return [status(refused)];
  }
}

function afterDenial(refused: RefusedMutation, result: JsonObject): NextStep[] {
  const packet = text(result, "packet_id");
  if (member(result, "reason") === "packet_expired") {
    return [{
      tool: "scenario_define",
      arguments_hint: {},
      why: `Entry packet "${packet}" has expired: define the scenario with a later expiry and start a run of that law`,
    }];
  }
  return [
    retry(refused, {}, `The operator's disclosure policy refuses entry packet "${packet}": ask for a rule, then retry`),
  ];
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
          invocation_identity: text(outcome.result, "accepted_invocation_identity"),
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

function text(result: JsonObject, name: string): string {
  const value = member(result, name);
  return typeof value === "string" ? value : "";
}

function firstOf(result: JsonObject, name: string): JsonValue {
  const value = member(result, name);
  return isJsonArray(value) ? value[0] ?? "" : "";
}

function isJsonExpected(result: JsonObject): boolean {
  return text(result, "expected").startsWith("application/json");
}
