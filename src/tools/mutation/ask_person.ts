/**
 * Asks a person, through the client, for the signed statements that a stage waits for. Loaded with the first call that
 * asks.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { shellOperand } from "../../canonical/shell_operand.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { tallyText } from "../../run/missing/sentence.ts";
import { openForEvidence, type WaitingCondition } from "../../run/missing/waiting.ts";
import type { RunState } from "../../run/types.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { DomainError } from "../framework/errors.ts";
import type { Asking } from "../framework/types.ts";
import type { Services } from "../services/services.ts";
import type { NamedRun } from "./mutation.ts";
import { waitingOfStage } from "../precheck/waiting_of_run.ts";

/** The key of the question among the requests of a round. */
export const QUESTION = "approve";

type AskServices = Pick<Services, "runs" | "time" | "environment" | "publicUrl">;

/** The conditions of a stage that signed statements can still satisfy; empty unless the stage is open. */
export async function waitingOfNamed(
  services: AskServices,
  run: Pick<ProjectedRun, "law" | "state">,
  stageId: string,
): Promise<readonly WaitingCondition[]> {
  const stage = openForEvidence(run.law, run.state).find(({ stage: { stage_id } }) => stage_id === stageId);
  return stage === undefined ? [] : await waitingOfStage(services, run, stage);
}

/**
 * Asks once, where the stage waits for statements and the client can show a page. Returns where the step may be taken:
 * also where the client cannot ask.
 *
 * @throws {DomainError} `input_required` where the client repeats the call with the response; `ask_declined`
 */
export async function askPerson(
  services: AskServices,
  law: CompiledLaw,
  state: RunState,
  stageId: string,
  asking: Asking | undefined,
): Promise<void> {
  const { publicUrl } = services;
  if (publicUrl === null || asking === undefined || !showsPages(asking)) return;
  const waiting = await waitingOfNamed(services, { law, state }, stageId);
  // A call that became a task meanwhile asks no more: the task does.
  if (waiting.length === 0 || !showsPages(asking)) return;
  const { scenario_id, run_key } = state;
  const message = waitingSentence(waiting, run_key.run_id);
  const params = { mode: "url", url: runUrl(publicUrl, { ...run_key, scenario_id, stage_id: stageId }), message };
  // A response counts only with the state of the question that it answers.
  const given = asking.state === null ? undefined : asking.responses[QUESTION];
  const response = given ??
    (await asking.ask({ [QUESTION]: { method: "elicitation/create", params } }, {}))?.[QUESTION];
  if (response === undefined) {
    throw new DomainError("input_required", "The client has to ask a person first");
  }
  if (member(response, "action") !== "accept") throw new DomainError("ask_declined", DECLINED);
}

const DECLINED = "Cannot take the step: the question was declined or got no answer; nothing was recorded";

/** Whether a client can show a page: elicitation in mode `url`. */
export function showsPages({ capabilities }: Pick<Asking, "capabilities">): boolean {
  const elicitation: JsonObject[keyof JsonObject] | undefined = member(capabilities, "elicitation");
  return isJsonObject(elicitation) && isJsonObject(member(elicitation, "url"));
}

/**
 * The page of a run in the console. It names run and stage, and has no credential.
 *
 * @param publicUrl `--public-url`, without a slash at its end
 */
export function runUrl(
  publicUrl: string,
  { namespace_id, scenario_id, run_id, stage_id }: NamedRun & { readonly stage_id: string },
): string {
  const [scenario, stage] = [scenario_id, stage_id].map(encodeURIComponent);
  return `${publicUrl}/console#/run/${namespace_id}/${scenario}/${run_id}/${stage}`;
}

/** What a stage waits for, and the command that signs it. */
export function waitingSentence(
  waiting: readonly Omit<WaitingCondition, "keys">[],
  runId: string,
): string {
  const stage_id = waiting[0]?.stage_id ?? "";
  const conditions = waiting.map((one) => `${one.sentence ?? one.condition_id} (${tallyText(one)})`);
  return `Stage ${stage_id} waits for signed statements on ${conditions.join(", ")}. ` +
    `A person signs or refuses with: gate approve ${runId} ${shellOperand(stage_id)}`;
}
