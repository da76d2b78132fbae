/**
 * Next steps that refusals of several tools share.
 *
 * @module
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import type { Head } from "../run/types.ts";
import type { NextStep } from "./types.ts";

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
export function afterStale({ run, expected_head }: RefusedCall, head: JsonObject, retry: Retry): NextStep[] {
  const revision = member(head, "revision");
  const since = Math.min(expected_head.revision, typeof revision === "number" ? revision : 0);
  return [
    {
      tool: "scenario_history",
      arguments_hint: { ...run, after_revision: since },
      why: "The run moved on: see what was accepted since your head",
    },
    retry({ expected_head: head }, "If it still applies, call again at the current head; nothing was recorded"),
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

/** After an entry packet that may not be disclosed. */
export function afterDenial(result: JsonObject, retry: Retry): NextStep[] {
  const packet = JSON.stringify(textOf(result, "packet_id"));
  switch (member(result, "reason")) {
    case "packet_expired":
      return [{
        tool: "scenario_define",
        arguments_hint: {},
        why: `Entry packet ${packet} has expired: define the scenario with a later expiry and start a run of that law`,
      }];
    case "rule_error":
      return [
        retry(
          {},
          `A rule of the operator's disclosure policy fails on entry packet ${packet}: have it mended, then retry`,
        ),
      ];
    default:
      return [
        retry({}, `The operator's disclosure policy refuses entry packet ${packet}: ask for a rule, then retry`),
      ];
  }
}
