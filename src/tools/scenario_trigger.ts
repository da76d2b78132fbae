import { oneOf, type Read } from "../canonical/shape.ts";
import { characters, described, optional, requiring, table } from "../canonical/table_shape.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { RequestedBinding } from "../evidence/acquisition/select.ts";
import type { EvaluateCommand, Refused } from "../run/command.ts";
import { type AcceptedSteps, decideSteps, type Step } from "../run/decide/decide_steps.ts";
import { decide } from "../run/decide/decide.ts";
import { refusal } from "../run/refusal.ts";
import { type AcceptedCall, type Deciding, runDerivedMutation } from "./mutation/derived_mutation.ts";
import { feedbackMember, grantFeedback } from "./precheck/feedback.ts";
import { evaluationOf, gatherEvidence } from "./mutation/gather_evidence.ts";
import {
  briefly,
  expectedHead,
  HEAD_RULE,
  name,
  operationId,
  payload,
  runMembers,
  timestamp,
} from "./framework/input.ts";
import { nextAfterRefusal, refusedStep } from "./next_steps/after_refusal.ts";
import { FRESH_ID } from "./next_steps/shared_steps.ts";
import { runComplete } from "./next_steps/stage_choice.ts";
import { type Outcome, outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { STEP_REFUSALS } from "./scenario_next.ts";
import type { Services } from "./services/services.ts";
import { decisionsOf, fromReceiptOf, stepsResult } from "./mutation/step_answer.ts";
import { type MakeTool, makeTool, WRITES_AND_ACQUIRES } from "./make_tool.ts";
import type { Call } from "./framework/types.ts";

const NAMED = { name: "scenario_trigger", group: "Run", audit: "mutation" } as const;

/** Content types of payloads without one. */
const CONTENT_TYPES = {
  json: "application/json",
  bytes: "application/octet-stream",
  external: "application/octet-stream",
};

const trigger = requiring(
  table({
    trigger_id: operationId,
    kind: oneOf("tick", "external_event", "backend_event"),
    time: optional(described(timestamp, "For the checks; omitted: the time now")),
    source_id: described(name, "Who or what triggers"),
    payload: optional(briefly(payload, "As in scenario_submit")),
    content_type: optional(characters(0, 256), "Of the payload"),
  }),
  "content_type",
  "payload",
  "a payload beside content_type",
);

const input = table({ ...runMembers, expected_head: expectedHead, trigger });

type Input = Read<typeof input>;

/** The tool `scenario_trigger`. */
export const scenarioTrigger: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Trigger the acquisition of a run",
    description:
      "Reports an event to a run: stores its payload as a submission and evaluates every open stage that has acquisition " +
      `bindings, all or nothing. ${HEAD_RULE}`,
    details:
      "Reports an event to a run: stores the payload, if any, as a run-wide submission. Then it evaluates every open stage " +
      "that has an acquisition binding, in id order, with what its bindings acquire now. All of it is recorded or, " +
      "where an acquisition fails, nothing. decisions has one entry for each stage, as scenario_next returns it. Without a payload and " +
      "without such a stage the outcome is stage_not_open. Use scenario_next or scenario_evaluate_stage to bring evidence of " +
      "your own. expected_head must be the run's current head, else the outcome is stale and its result is the current head. " +
      "Retry a lost answer with the same trigger_id and arguments.",
    hints: WRITES_AND_ACQUIRES,
    input,
    output: outcomeOf(["triggering"], STEP_REFUSALS),
    act: async (input, raw, call) => {
      const { trigger_id, kind, source_id } = input.trigger;
      const accepted = await runDerivedMutation(services, {
        tool: NAMED.name,
        raw,
        input,
        from: { trigger_id },
        first: ["submit", "evaluate_stage"],
        decide: (deciding) => decideTrigger(services, input.trigger, deciding),
      }, call);
      const outcome = "steps" in accepted ? await answer(services, input, call, accepted) : accepted;
      return outcomeAnswer(outcome, () => {
        const own = { trigger: { trigger_id, kind, source_id } };
        const fresh = { trigger: { trigger_id: FRESH_ID, kind, source_id } };
        return nextAfterRefusal(refusedStep(NAMED.name, input, own, fresh), outcome);
      });
    },
  });

/** The open stages with a binding or with evidence that may wait, in id order, each as an evaluation with its ordinal. */
function evaluations({ run: { law, state }, requestOf }: Deciding): EvaluateCommand[] {
  return state.stages.filter(({ stage_id, classification }) => {
    const stage = law.stages[law.stageIndex.get(stage_id) ?? -1];
    const isBound = stage !== undefined && (stage.bindings.length > 0 || stage.acceptsSubmissions);
    return classification === "open_incomplete" && isBound;
  }).map(({ stage_id }, ordinal) => evaluationOf(requestOf("evaluate_stage", ordinal), state.head, stage_id));
}

function submissionOf(input: Input["trigger"], { requestOf }: Deciding): Extract<Step, { kind: "submit" }> | null {
  const { payload } = input;
  if (payload === undefined) return null;
  const content_type = input.content_type ?? CONTENT_TYPES[payload.kind];
  return { kind: "submit", ...requestOf("submit", 0), content_type, payload, scope: { kind: "run_wide" } };
}

/** The outcome `evidence_rejected` for a payload that cannot be submitted; null where it can. */
function refusePayload(services: Services, step: Step, { run: { law, state }, mint }: Deciding): Outcome | null {
  if (step.kind !== "submit") return null;
  const decision = decide(law, state, { ...step, expected_head: state.head }, mint(), services.environment);
  if (decision.outcome === "accepted") return null;
  const { reason, expected } = decision.result;
  const path = decision.outcome === "payload_rejected" ? "$.trigger.payload" : "$.trigger.content_type";
  const message = expected === undefined ? `Payload is rejected: ${reason}` : `Expected ${expected}`;
  return { outcome: "evidence_rejected", result: { rejections: [{ code: decision.outcome, path, message }] } };
}

async function decideTrigger(
  services: Services,
  input: Input["trigger"],
  deciding: Deciding,
): Promise<AcceptedSteps | Refused | Outcome> {
  const { run: { law, state }, mint, call } = deciding;
  const complete = runComplete(state);
  if (complete !== null) return complete;
  const submission = submissionOf(input, deciding);
  const commands = evaluations(deciding);
  if (submission === null && commands.length === 0) {
    return refusal("stage_not_open", { reason: "no_open_stage_with_binding" });
  }
  const refused = submission === null ? null : refusePayload(services, submission, deciding);
  if (refused !== null) return refused;
  const answers = await Promise.all(commands.map(async (command) => {
    const requested = requestedBindings(deciding, command.stage_id, input);
    return await gatherEvidence(services, { law, state, command, requested, call, mint });
  }));
  const gathered: EvaluateCommand[] = [];
  for (const one of answers) {
    if ("outcome" in one) return one;
    gathered.push(one);
  }
  const failures = gathered.flatMap((command) =>
    command.acquisition_failures.map((failure) => ({ stage_id: command.stage_id, ...failure }))
  );
  if (failures.length > 0) return refusal("acquisition_failed", { failures });
  const steps = [...submission === null ? [] : [submission], ...gathered];
  return decideSteps(law, state, steps, mint(), services.environment);
}

/** All bindings of the stage at the time of the trigger; undefined where it has none. */
function requestedBindings(
  { run: { law } }: Deciding,
  stageId: string,
  { time }: Input["trigger"],
): RequestedBinding[] | undefined {
  if (time === undefined) return undefined;
  const bindings = law.stages[law.stageIndex.get(stageId) ?? -1]?.bindings ?? [];
  return bindings.map(({ binding_id }) => ({ binding_id, trigger_time: time }));
}

async function answer(services: Services, input: Input, call: Call, accepted: AcceptedCall): Promise<Outcome> {
  const { scenario_next } = services.config.server.feedback;
  const granted = grantFeedback(scenario_next, call.principal, input.namespace_id, undefined);
  const submitted = fromReceiptOf(accepted.steps, "artifact_submitted", ["submission"]);
  const own: JsonObject = { ...submitted, decisions: decisionsOf(services, accepted) };
  return { outcome: "accepted", result: stepsResult(accepted, own, await feedbackMember(services, accepted, granted)) };
}
