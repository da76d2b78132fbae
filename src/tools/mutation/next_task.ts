/**
 * How a call of `scenario_next` becomes a task: where a provider is slow, and where the stage waits for nothing but
 * statements of people. The state of the task is that of the run, so any server gives it, and a restart loses nothing.
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { AnsweredCall, TaskRule, TaskStanding, ToolAnswer } from "../framework/types.ts";
import { FRESH_ID } from "../next_steps/shared_steps.ts";
import { nextAfterRefusal, refusedStep } from "../next_steps/after_refusal.ts";
import type { WaitingCondition } from "../../run/missing/waiting.ts";
import { asJson } from "../../run/primitives.ts";
import type { Head, RunState } from "../../run/types.ts";
import { success } from "../framework/errors.ts";
import type { Services } from "../services/services.ts";
import { QUESTION, runUrl, showsPages, waitingSentence } from "./ask_person.ts";
import type { NamedRun } from "./mutation.ts";
import { outcomeAnswer, stale } from "./outcome.ts";

/** How long a step may take until it becomes a task, in milliseconds: slower than most providers. */
const PATIENCE_MILLISECONDS = 2000;

/** Suggested interval between two looks, in milliseconds: people are slow. */
const POLL_MILLISECONDS = 5000;

/** What `scenario_status` says of the run. */
interface RunStanding extends Pick<RunState, "stages" | "status"> {
  readonly accepted_head: Head;
  readonly ready_frontier: readonly string[];
  readonly waiting: readonly WaitingCondition[];
}

/** What an accepted step says of the run. */
interface StepResult {
  readonly accepted_head: Head;
  readonly decision: { readonly kind: string; readonly stage_id: string; readonly unmet: readonly string[] };
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
  const { stage_id, unmet } = held.decision;
  const shown = await answered.call("scenario_status", { ...runOf(input), include: ["waiting"] });
  if (!shown.ok) return final;
  const status = shown.result as unknown as RunStanding;
  const waiting = status.waiting.filter((one) => one.stage_id === stage_id);
  // The caller can do something about any other condition: it has to see the answer.
  const others = unmet.filter((id) => !waiting.some(({ condition_id }) => condition_id === id));
  if (answered.isFirst && others.length > 0) return final;
  const canHold = waiting.every(({ have, needed, keys }) => have + keys.length >= needed);
  if (waiting.length === 0 || !canHold) {
    return { status: "completed", answer: answerNow(answered, held, status) };
  }
  const message = waitingSentence(waiting, String(input["run_id"]));
  const asks = input["ask"] === true && publicUrl !== null && showsPages(answered) && !answered.responses[QUESTION];
  if (!asks) return { status: "working", message };
  const url = runUrl(publicUrl, { ...runOf(input), stage_id });
  const requests = { [QUESTION]: { method: "elicitation/create", params: { mode: "url", url, message } } };
  return { status: "input_required", message, requests };
}

/** The result of an accepted step that left its stage open; null for any other answer. */
function heldStep(answer: ToolAnswer): StepResult | null {
  if (!answer.ok) return null;
  const { outcome, result } = answer.result["outcome"] as unknown as { outcome: string; result: StepResult };
  return outcome === "accepted" && result.decision.kind === "hold" ? result : null;
}

/**
 * The answer of a call whose wait is over. A stage that was completed meanwhile is reported as it is; a run that moved
 * otherwise answers as it answers every call at an earlier head: nothing moves but from the head that a caller names.
 */
function answerNow({ input, answer }: AnsweredCall, held: StepResult, status: RunStanding): ToolAnswer {
  const { accepted_head, stages, ready_frontier, status: run_status } = status;
  const left = held.decision.stage_id;
  if (stages.find((stage) => stage.stage_id === left)?.classification === "complete") {
    const decision = { kind: run_status === "complete" ? "complete" : "advance", stage_id: left, unmet: [] };
    const result = asJson({ accepted_head, recorded: false, decision, ready_frontier, run_status });
    return success({ outcome: { outcome: "accepted", result } });
  }
  if (accepted_head.revision === held.accepted_head.revision) return answer;
  const { request_id = null, stage_id } = input;
  const own = { request_id, ...stage_id === undefined ? {} : { stage_id } };
  const named = { ...runOf(input), expected_head: input["expected_head"] as Head };
  const refused = refusedStep("scenario_next", named, own, { request_id: FRESH_ID });
  const outcome = stale(accepted_head);
  return outcomeAnswer(outcome, () => nextAfterRefusal(refused, outcome));
}

/** The run of decoded arguments. */
function runOf(input: JsonObject): NamedRun {
  const { namespace_id, scenario_id, run_id } = input;
  return { namespace_id: Number(namespace_id), scenario_id: String(scenario_id), run_id: String(run_id) };
}
