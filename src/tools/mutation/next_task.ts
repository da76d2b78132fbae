/**
 * How a call of `scenario_next` becomes a task: where a provider is slow, and where the stage waits for nothing but
 * statements of people. The state of the task is that of the run, so any server gives it, and a restart loses nothing.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { AnsweredCall, TaskRule, TaskStanding, ToolAnswer } from "../framework/types.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import { nextAfterRefusal, refusedStep } from "../next_steps/after_refusal.ts";
import type { Head } from "../../run/types.ts";
import { success } from "../framework/errors.ts";
import type { Services } from "../services/services.ts";
import { QUESTION, runUrl, showsPages, waitingSentence } from "./ask_person.ts";
import { outcomeAnswer } from "./outcome.ts";

/** How long a step may take until it becomes a task, in milliseconds: slower than most providers. */
const PATIENCE_MILLISECONDS = 2000;

/** Suggested interval between two looks, in milliseconds: people are slow. */
const POLL_MILLISECONDS = 5000;

/** A condition of a stage in `waiting` of `scenario_status`. */
interface Waiting {
  readonly stage_id: string;
  readonly condition_id: string;
  readonly have: number;
  readonly needed: number;
  /** How many keys may still sign. */
  readonly keys: number;
}

/** The rule of `scenario_next`. */
export function nextTask({ publicUrl }: Pick<Services, "publicUrl">): TaskRule {
  return {
    patience: PATIENCE_MILLISECONDS,
    pollInterval: POLL_MILLISECONDS,
    standing: (answered) => standing(publicUrl, answered),
  };
}

async function standing(publicUrl: string | null, answered: AnsweredCall): Promise<TaskStanding> {
  const { answer, input } = answered;
  const final: TaskStanding = { status: "completed", answer };
  const held = heldStep(answer);
  if (held === null) return final;
  const status = await answered.call("scenario_status", { ...runOf(input), include: ["waiting"] });
  if (!status.ok) return final;
  const waiting = waitingOf(status.result, held.stageId);
  // The caller can do something about any other condition: it has to see the answer.
  const others = held.unmet.filter((id) => !waiting.some(({ condition_id }) => condition_id === id));
  if (answered.isFirst && others.length > 0) return final;
  const canHold = waiting.every(({ have, needed, keys }) => have + keys >= needed);
  if (waiting.length === 0 || !canHold) {
    return { status: "completed", answer: answerNow(answered, held, status.result) };
  }
  const message = waitingSentence(waiting, String(input["run_id"]));
  const asks = input["ask"] === true && publicUrl !== null && showsPages(answered) && !answered.responses[QUESTION];
  if (!asks) return { status: "working", message };
  const url = runUrl(publicUrl, { ...runOf(input), stage_id: held.stageId });
  const requests = { [QUESTION]: { method: "elicitation/create", params: { mode: "url", url, message } } };
  return { status: "input_required", message, requests };
}

interface HeldStep {
  readonly stageId: string;
  readonly unmet: readonly string[];
  /** The accepted head of the answer. */
  readonly head: JsonObject;
}

/** The stage that an accepted step left open; null for any other answer. */
function heldStep(answer: ToolAnswer): HeldStep | null {
  const outcome = answer.ok ? objectOf(answer.result, "outcome") : {};
  const result = objectOf(outcome, "result");
  const decision = objectOf(result, "decision");
  if (member(outcome, "outcome") !== "accepted" || member(decision, "kind") !== "hold") return null;
  const unmet = member(decision, "unmet");
  return {
    stageId: String(member(decision, "stage_id")),
    unmet: isJsonArray(unmet) ? unmet.map(String) : [],
    head: objectOf(result, "accepted_head"),
  };
}

/**
 * The answer of a call whose wait is over. A stage that was completed meanwhile is reported as it is; a run that moved
 * otherwise answers as it answers every call at an earlier head: nothing moves but from the head that a caller names.
 */
function answerNow({ input, answer }: AnsweredCall, held: HeldStep, status: JsonObject): ToolAnswer {
  const head = objectOf(status, "accepted_head");
  const stages = member(status, "stages") ?? null;
  const stage = isJsonArray(stages)
    ? stages.find((one) => isJsonObject(one) && member(one, "stage_id") === held.stageId)
    : undefined;
  if (isJsonObject(stage) && member(stage, "classification") === "complete") {
    const run_status = member(status, "status") ?? null;
    const decision = { kind: run_status === "complete" ? "complete" : "advance", stage_id: held.stageId, unmet: [] };
    const ready_frontier = member(status, "ready_frontier") ?? [];
    const result = { accepted_head: head, recorded: false, decision, ready_frontier, run_status };
    return success({ outcome: { outcome: "accepted", result } });
  }
  if (member(head, "revision") === member(held.head, "revision")) return answer;
  const { request_id = null, stage_id } = input;
  const own = { request_id, ...stage_id === undefined ? {} : { stage_id } };
  const run = runOf(input);
  const expected_head = objectOf(input, "expected_head") as unknown as Head;
  const refused = refusedStep({ tool: "scenario_next", run, expected_head }, own, { request_id: FRESH_ID });
  const outcome = { outcome: "stale", result: head };
  return outcomeAnswer(outcome, () => nextAfterRefusal(refused, outcome));
}

function waitingOf(status: JsonObject, stageId: string): readonly Waiting[] {
  const waiting = member(status, "waiting") ?? null;
  if (!isJsonArray(waiting)) return [];
  return waiting.filter(isJsonObject).filter((one) => member(one, "stage_id") === stageId).map((one) => {
    const keys = member(one, "keys") ?? null;
    return {
      stage_id: stageId,
      condition_id: String(member(one, "condition_id")),
      have: Number(member(one, "have")),
      needed: Number(member(one, "needed")),
      keys: isJsonArray(keys) ? keys.length : 0,
    };
  });
}

/** The run of decoded arguments. */
function runOf(input: JsonObject): { namespace_id: number; scenario_id: string; run_id: string } {
  const { namespace_id, scenario_id, run_id } = input;
  return { namespace_id: Number(namespace_id), scenario_id: String(scenario_id), run_id: String(run_id) };
}

function objectOf(object: JsonObject, name: string): JsonObject {
  const value: JsonValue | undefined = member(object, name);
  return isJsonObject(value) ? value : {};
}
