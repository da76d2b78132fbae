/**
 * What a caller can do after a refused call of several steps.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../canonical/json.ts";
import { asJson } from "../run/primitives.ts";
import type { Head } from "../run/types.ts";
import type { Outcome } from "./mutation.ts";
import type { NextStep } from "./types.ts";

/** A refused call. */
export interface RefusedStep {
  readonly tool: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly expected_head: Head;
  /** The arguments that are its own, without evidence and payload, which the caller has. */
  readonly own: JsonObject;
  /** The same under a fresh id. */
  readonly fresh: JsonObject;
}

function retry(refused: RefusedStep, change: JsonObject, why: string): NextStep {
  const { tool, run, expected_head, own } = refused;
  return { tool, arguments_hint: { ...run, expected_head: asJson(expected_head), ...own, ...change }, why };
}

function status({ run }: RefusedStep): NextStep {
  return {
    tool: "scenario_status",
    arguments_hint: { ...run, include: ["missing"] },
    why: "See the stages, the ready frontier, the head, and what is missing",
  };
}

function afterStageState(refused: RefusedStep, result: JsonObject): NextStep[] {
  const ready = member(result, "ready_frontier");
  const first = isJsonArray(ready) ? ready[0] : undefined;
  if (first === undefined || refused.tool !== "scenario_next") return [status(refused)];
  return [
    retry(refused, { ...refused.fresh, stage_id: first }, "Go on with a stage that is ready"),
    status(refused),
  ];
}

function afterConflict(refused: RefusedStep, result: JsonObject): NextStep[] {
  const { namespace_id, run_id } = refused.run;
  return [{
    tool: "scenario_resolve_mutation",
    arguments_hint: {
      namespace_id,
      run_id,
      operation_id: member(result, "operation_id") ?? {},
      invocation_identity: member(result, "accepted_invocation_identity") ?? "",
    },
    why: "This id was accepted with other arguments: get what its first step did",
  }, retry(refused, refused.fresh, "For a new call use a fresh id")];
}

function afterStale(refused: RefusedStep, head: JsonObject): NextStep[] {
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

/** The steps after a refused `scenario_next` or `scenario_trigger`. */
export function nextAfterStep(refused: RefusedStep, { outcome, result }: Outcome): NextStep[] {
  switch (outcome) {
    case "stale":
      return afterStale(refused, result);
    case "operation_conflict":
      return afterConflict(refused, result);
    case "run_not_found":
      return [{
        tool: "scenarios_list",
        arguments_hint: { namespace_id: refused.run.namespace_id },
        why: "No run has this run_id and scenario_id in the namespace: find the scenario, then start a run of it",
      }];
    case "stage_not_found": {
      const stages = member(result, "stages");
      const stage_id = isJsonArray(stages) ? stages[0] ?? "" : "";
      return [retry(refused, { stage_id }, "Name a stage of the scenario, or none"), status(refused)];
    }
    case "stage_not_ready":
    case "stage_not_open":
      return afterStageState(refused, result);
    case "run_complete":
      return [{
        tool: "scenario_history",
        arguments_hint: { ...refused.run },
        why: "The run is complete and takes submissions only",
      }];
    case "policy_denied":
      return [retry(refused, {}, deniedWhy(result))];
    case "evidence_rejected":
      return [retry(refused, {}, "Correct what is wrong at each path of rejections and call again")];
    default:
      return [retry(refused, {}, "Nothing was recorded: call again, unchanged, once the failure is over")];
  }
}

function deniedWhy(result: JsonObject): string {
  const packet = isJsonObject(result) ? member(result, "packet_id") : undefined;
  return member(result, "reason") === "packet_expired"
    ? `Entry packet "${packet}" has expired: define the scenario with a later expiry and start a run of that law`
    : `The operator's disclosure policy refuses entry packet "${packet}": ask for a rule, then retry`;
}
