/** Takes every step of a run that the evidence allows. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { layersOf } from "../../law/stage_layers.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import type { RunKey } from "../../run/types.ts";
import { exitCodeOfAnswer } from "../client/exit_code.ts";
import { mustCall, refusedCall, type ToolSession } from "../session/tool_session.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { shown } from "../terminal/text.ts";
import { conditionsByStage } from "./inputs.ts";

/** A stage that could not be evaluated in a look. */
export interface Obstacle {
  readonly stage_id: string;
  /** The outcome of the call, such as `acquisition_failed`. */
  readonly outcome: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** One look at a run. */
export interface Look {
  /** Attempts that were recorded. */
  readonly recorded: number;
  readonly obstacles: readonly Obstacle[];
}

/** A run to advance, and with what. */
export interface Advancing {
  readonly session: ToolSession;
  readonly runKey: RunKey;
  readonly law: ScenarioLaw;
  readonly evidence: readonly JsonObject[];
  /** Called with a stage and its decision: `advance`, `hold` or `complete`. */
  readonly onStep: (stageId: string, decision: string) => void;
}

/** Calls at moved heads before the run is given up: other callers advance it at the same time. */
const STALE_MAXIMUM = 64;

/** Outcomes after which another stage may still take a step. */
const OBSTACLES: ReadonlySet<string> = new Set(["acquisition_failed", "policy_denied"]);
/** Outcomes of a stage that another caller has advanced meanwhile. */
const PASSED: ReadonlySet<string> = new Set(["stage_not_ready", "stage_not_open", "run_complete"]);

/**
 * Evaluates each stage that can be evaluated once, in the order of the law, with the evidence on its conditions. A
 * stage that becomes ready meanwhile is evaluated too. An attempt that repeats the last one of its stage is not
 * recorded.
 *
 * @throws {CliError} Where a call is refused for a reason that no other evidence changes
 */
export async function advance(advancing: Advancing): Promise<Look> {
  const { session, law, onStep } = advancing;
  const order = layersOf(law.stages).flat().map(({ stage_id }) => stage_id);
  const conditions = conditionsByStage(law);
  const tried = new Set<string>();
  const obstacles: Obstacle[] = [];
  let recorded = 0;
  let stale = 0;
  for (;;) {
    const status = await mustCall(session, "scenario_status", runNames(advancing));
    const stageId = order.find((id) => !tried.has(id) && canBeEvaluated(status, id));
    if (stageId === undefined) return { recorded, obstacles };
    const own = conditions.get(stageId) ?? new Set();
    const answer = await session.call("scenario_next", {
      ...runNames(advancing),
      expected_head: status["accepted_head"] ?? null,
      request_id: crypto.randomUUID().replaceAll("-", ""),
      stage_id: stageId,
      only_changed: true,
      caller_evidence: advancing.evidence.filter((item) => own.has(String(member(item, "condition_id")))),
    });
    const envelope = member(answer, "outcome") ?? null;
    if (!isJsonObject(envelope)) throw refusedCall("scenario_next", answer);
    const outcome = String(member(envelope, "outcome"));
    if (outcome === "stale" && ++stale < STALE_MAXIMUM) continue;
    tried.add(stageId);
    if (outcome === "accepted") {
      const { decision, recorded: isRecorded } = resultOf(envelope);
      if (isRecorded !== false) recorded += 1;
      onStep(stageId, isJsonObject(decision ?? null) ? String(member(decision as JsonObject, "kind")) : "hold");
    } else if (OBSTACLES.has(outcome)) obstacles.push(obstacleOf(stageId, outcome, answer, envelope));
    else if (!PASSED.has(outcome)) throw refusedCall("scenario_next", answer);
  }
}

function runNames({ runKey, law }: Advancing): JsonObject {
  return { namespace_id: runKey.namespace_id, scenario_id: law.scenario_id, run_id: runKey.run_id };
}

function canBeEvaluated(status: JsonObject, stageId: string): boolean {
  const stages = status["stages"] ?? null;
  return isJsonArray(stages) && stages.some((stage) => {
    const { stage_id, classification } = stage as JsonObject;
    return stage_id === stageId && (classification === "ready_unopened" || classification === "open_incomplete");
  });
}

function resultOf(envelope: JsonObject): JsonObject {
  const result = member(envelope, "result") ?? null;
  return isJsonObject(result) ? result : {};
}

function obstacleOf(stage_id: string, outcome: string, answer: JsonObject, envelope: JsonObject): Obstacle {
  const failures = member(resultOf(envelope), "failures") ?? null;
  const why = (isJsonArray(failures) ? failures : []).filter(isJsonObject).map((failure) =>
    shown(`${member(failure, "binding_id")}: ${member(failure, "code")}`)
  );
  const message = why.length === 0 ? outcome.replaceAll("_", " ") : why.join(", ");
  return { stage_id, outcome, message, exitCode: exitCodeOfAnswer(answer) };
}

/** 0 for a complete run, 3 if the last attempt of an open stage is False, else the code of an obstacle, else 4. */
export function exitCodeOfRun(standing: ExitCode, obstacles: readonly Obstacle[]): ExitCode {
  return standing === EXIT.unknown ? obstacles[0]?.exitCode ?? standing : standing;
}
