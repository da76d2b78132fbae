/** Filters next steps: an answer names no tool that the operator hides or that the caller's roles do not grant. */

import { offeredTools } from "../../access/offered_tools.ts";
import { checkRole, rolesInForce } from "../../access/roles.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import { type AccessServices, namespaceOfInput } from "../services/authorise.ts";
import { success } from "../framework/errors.ts";
import { naming } from "./after_error.ts";
import { FRESH_ID } from "./shared_steps.ts";
import { PUBLISHED } from "../framework/published.ts";
import type { Call, NextStep, ToolAnswer } from "../framework/types.ts";

/** Paths of next steps in results. No value of a caller stands there. */
const STEP_PATHS: readonly (readonly string[])[] = [[], ["outcome"], ["outcome", "result"], ["publication", "result"]];

/** The beginning of next steps in a JSON text; a text without it has none. */
const STEPS_BEGIN = '"next":[{';

/** Removes from an answer the next steps that the caller may not take. */
export type OfferSteps = (tool: string, input: JsonObject, call: Call, answer: ToolAnswer) => ToolAnswer;

/** Makes the filter for a configuration; without restrictions it returns answers unchanged. */
export function offerSteps(services: Pick<AccessServices, "config">): OfferSteps {
  const { tools, auth } = services.config.server;
  const areOpen = [tools.allowlist, tools.denylist, auth?.allowed_tools ?? []].every(({ length }) => length === 0);
  const isOffered = offeredTools({ tools, auth });
  const groups = new Map<string, NextStepGroup>(PUBLISHED.map(({ name, group }) => [name, group]));
  return (tool, input, call, answer) => {
    const isInForce = rolesInForce(auth, call.principal);
    if (areOpen && !isInForce) return answer;
    // A refusal of the caller names the refused call itself, with whom to ask before it is made again.
    if (!answer.ok && answer.error.kind === "unauthorized") return answer;
    const mayTake = (step: JsonObject): boolean => {
      const name = String(step["tool"]);
      const group = groups.get(name);
      if (group === undefined || !isOffered(name)) return false;
      const hint = member(step, "arguments_hint");
      const namespaceId = (isJsonObject(hint) ? namespaceOfInput(hint) : null) ?? namespaceOfInput(input) ??
        "unread";
      return checkRole(isInForce, call.principal, { group, tool: name, namespaceId })?.allowed ?? true;
    };
    return withSteps(answer, (steps) => {
      const left = steps.filter(isJsonObject).map((step) => mayTake(step) ? step : inOneCall(step))
        .filter((step) => step !== null && mayTake(step));
      return left.length > 0 || steps.length === 0 ? left : [asJson(askOperator(tool, input))];
    });
  };
}

/** `scenario_next` in place of a step that opens or evaluates a stage, since it does both; null for other steps. */
function inOneCall({ tool, arguments_hint: hint, why = "" }: JsonObject): JsonObject | null {
  if (tool !== "scenario_open_stage" && tool !== "scenario_evaluate_stage" || !isJsonObject(hint)) return null;
  const { operation_id, ...rest } = hint;
  // Any other id belongs to a call that was made before.
  if (operation_id !== FRESH_ID) return null;
  return { tool: "scenario_next", arguments_hint: { ...rest, request_id: FRESH_ID }, why };
}

type NextStepGroup = typeof PUBLISHED[number]["group"];

function askOperator(tool: string, input: JsonObject): NextStep {
  const why = "You may not use the tools that come next here: ask the operator, or a caller who may, then call again";
  return { tool, arguments_hint: naming(input), why };
}

type Change = (steps: readonly JsonValue[]) => JsonValue[];

function withSteps(answer: ToolAnswer, change: Change): ToolAnswer {
  if (!answer.ok) {
    const { error } = answer;
    const details = error.details === undefined ? undefined : changed(error.details, [], change);
    return details === undefined ? answer : { ok: false, error: { ...error, details } };
  }
  if (answer.text !== undefined && !answer.text.includes(STEPS_BEGIN)) return answer;
  const result = STEP_PATHS.reduce((result, place) => changed(result, place, change), answer.result);
  return result === answer.result ? answer : success(result);
}

/** An object with changed steps at a path; the object itself where it has no steps there. */
function changed(object: JsonObject, place: readonly string[], change: Change): JsonObject {
  const [name = "next", ...rest] = place;
  const value = member(object, name);
  if (place.length === 0) return isJsonArray(value) ? { ...object, next: change(value) } : object;
  if (!isJsonObject(value)) return object;
  const inside = changed(value, rest, change);
  return inside === value ? object : { ...object, [name]: inside };
}
