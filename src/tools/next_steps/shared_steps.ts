/**
 * Next steps that refusals of several tools share.
 *
 * @module
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { Head } from "../../run/types.ts";
import type { NextStep } from "../framework/types.ts";

/** Stands in a hint for an identity that the caller makes up. */
export const FRESH_ID = "<32 fresh random hex digits>";

/** A refused call that moves a run. */
export interface RefusedCall {
  readonly tool: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly expected_head: Head;
}

/** The call once more, with some arguments changed. */
export type Retry = (change: JsonObject, why: string) => NextStep;

/** A text member of a result; empty where there is none. */
export function textOf(result: JsonObject, name: string): string {
  const value = member(result, name);
  return typeof value === "string" ? value : "";
}

/** The first item of an array member of a result. */
export function firstOf(result: JsonObject, name: string): JsonValue | undefined {
  const value = member(result, name);
  return isJsonArray(value) ? value[0] : undefined;
}

/** Looking at where the run stands, and at what it lacks. */
export function statusStep({ run }: RefusedCall): NextStep {
  return {
    tool: "scenario_status",
    arguments_hint: { ...run, include: ["missing"] },
    why: "See the stages, the ready frontier, the head, and what is missing",
  };
}

/** After a run that is not there. */
export function afterRunNotFound({ run }: RefusedCall): NextStep[] {
  return [{
    tool: "scenarios_list",
    arguments_hint: { namespace_id: run.namespace_id },
    why: "No run has this run_id and scenario_id in the namespace: find the scenario, then start a run of it",
  }];
}

/** After a run that takes nothing any more. */
export function afterRunComplete({ run }: RefusedCall): NextStep[] {
  return [{
    tool: "scenario_history",
    arguments_hint: { ...run },
    why: "The run is complete and takes submissions only",
  }];
}

/** After a head that was not the current one, which is the result. */
export function afterStale(refused: RefusedCall, head: JsonObject, retry: Retry): NextStep[] {
  const { run, expected_head } = refused;
  const again = retry(
    { expected_head: head },
    "If it still applies, call again at the current head; nothing was recorded",
  );
  if (expected_head.revision >= Number(member(head, "revision"))) {
    const why = "The head that you named is none of this run's: see where the run stands";
    return [{ ...statusStep(refused), why }, again];
  }
  return [
    { ...statusStep(refused), why: "The run moved on: see where it stands now" },
    {
      tool: "scenario_history",
      arguments_hint: { ...run, after_revision: expected_head.revision },
      why: "See what was accepted since the revision that you named",
    },
    again,
  ];
}

/** After a stage that the law does not have: the one that was probably meant, else the first. */
export function afterStageNotFound(refused: RefusedCall, result: JsonObject, retry: Retry): NextStep[] {
  const nearest = firstOf(result, "nearest");
  const stage_id = nearest ?? firstOf(result, "stages") ?? "";
  const why = nearest === undefined ? "Name a stage of the scenario" : `Did you mean stage "${nearest}"?`;
  return [retry({ stage_id }, why), statusStep(refused)];
}

/** After evidence that was rejected as a whole. */
export function afterRejection(retry: Retry): NextStep[] {
  return [retry({}, "Correct what is wrong at each path of rejections and call again; nothing was recorded")];
}

/**
 * After an entry packet that may not be disclosed: its stage waits for somebody, the run need not.
 *
 * @param elsewhere The call for another stage
 */
export function afterDenial(refused: RefusedCall, result: JsonObject, retry: Retry, elsewhere: Retry): NextStep[] {
  const ready = member(result, "ready_frontier");
  const [other] = (isJsonArray(ready) ? ready : []).filter((stage) => stage !== member(result, "stage_id"));
  const others = other === undefined ? [] : [elsewhere({ stage_id: other }, "Go on with another stage that is ready")];
  return [...others, statusStep(refused), remedyOfDenial(result, retry)];
}

function remedyOfDenial(result: JsonObject, retry: Retry): NextStep {
  const packet = JSON.stringify(textOf(result, "packet_id"));
  switch (member(result, "reason")) {
    case "packet_expired":
      return {
        tool: "scenario_define",
        arguments_hint: {},
        why: `Entry packet ${packet} has expired: define the scenario with a later expiry and start a run of that law`,
      };
    case "rule_error":
      return retry(
        {},
        `A rule of the operator's disclosure policy fails on entry packet ${packet}: have it mended, then retry`,
      );
    default:
      return retry({}, `The operator's disclosure policy refuses entry packet ${packet}: ask for a rule, then retry`);
  }
}

/** An operation whose identity was used before, with other arguments. */
export interface UsedOperation {
  readonly operation_id: JsonValue;
  readonly invocation_identity: JsonValue;
  readonly why: string;
}

/** After an identity that was used for another call; which head is current is not known then. */
export function afterUsed(refused: RefusedCall, { why, ...operation }: UsedOperation, fresh: NextStep): NextStep[] {
  const { namespace_id, run_id } = refused.run;
  const { expected_head: _, ...hint } = fresh.arguments_hint;
  return [
    { tool: "scenario_resolve_mutation", arguments_hint: { namespace_id, run_id, ...operation }, why },
    statusStep(refused),
    { ...fresh, arguments_hint: hint },
  ];
}
