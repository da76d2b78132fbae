import { words } from "../canonical/words.ts";
import { listOf } from "../canonical/shape.ts";
import { described, optional, table } from "../canonical/table_shape.ts";
import { runKeyOf } from "../run/command.ts";
import { decide } from "../run/decide/decide.ts";
import { evaluationOf, gatherEvidence } from "./mutation/gather_evidence.ts";
import {
  briefly,
  callerEvidence,
  expectedHead,
  HEAD_RULE,
  name,
  operationId,
  runMembers,
  timestamp,
} from "./framework/input.ts";
import { withMissing } from "./precheck/missing_answer.ts";
import { runMutation } from "./mutation/mutation.ts";
import { nextAfterRefusal, refusedMutation } from "./next_steps/after_refusal.ts";
import { outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { type MakeTool, makeTool, WRITES_AND_ACQUIRES } from "./make_tool.ts";

const NAMED = { name: "scenario_evaluate_stage", group: "Run", audit: "mutation" } as const;

/** The refusals of the tool. */
export const EVALUATE_REFUSALS = words(
  "stale operation_conflict run_not_found stage_not_found stage_not_open evidence_rejected",
  "acquisition_failed",
);

const input = table({
  ...runMembers,
  stage_id: name,
  expected_head: expectedHead,
  operation_id: operationId,
  caller_evidence: optional(
    callerEvidence,
    "What you observed, one item a condition or more; value_type is the condition's domain",
  ),
  local_acquisition: optional(described(
    briefly(
      listOf(table({ binding_id: name, trigger_time: optional(timestamp) })),
      "[{binding_id, trigger_time?}]: bindings to run; omitted: all, []: none",
    ),
    "Which of the stage's acquisition bindings to run: omitted = all, [] = none",
  )),
});

/** The tool `scenario_evaluate_stage`. */
export const scenarioEvaluateStage: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Evaluate a stage",
    description:
      "Evaluates an open stage with the evidence of this call: true completes it, false and unknown keep it open. attempt.causes " +
      "says what did not count, attempt.missing what would complete the stage beside the evidence of this call. Send that again with " +
      `it: evidence of earlier calls does not count. ${HEAD_RULE}`,
    details: "Evaluates an open stage with the evidence of this call and records the attempt. attempt.outcome true " +
      "completes the stage; false or unknown leaves it open to be evaluated again with other evidence. Missing, " +
      "unqualified or disagreeing evidence is unknown, never true: attempt.trace has the reason for each condition, " +
      "attempt.missing which sets of conditions would complete the stage beside the evidence of this call. Send that " +
      "evidence again with them: evidence of earlier calls does not count. Lists that exceed 1 MiB are cut (trace_left_out, " +
      "evidence_left_out), the record in scenario_history has them whole. " +
      "expected_head must be the run's current head, else the outcome is stale and its result is the current head. " +
      "Retry a lost answer with the same operation_id and arguments. Next: open a stage of ready_frontier, until " +
      "run_status is complete. scenario_precheck_stage tries evidence without recording.",
    hints: WRITES_AND_ACQUIRES,
    input,
    output: outcomeOf(["evaluation"], EVALUATE_REFUSALS),
    act: async (input, raw, call) => {
      const { namespace_id, run_id, stage_id, expected_head } = input;
      const outcome = await runMutation(services, {
        tool: NAMED.name,
        family: "evaluate_stage",
        raw,
        input,
        decide: async (law, state, request, mint) => {
          const command = evaluationOf(request, expected_head, stage_id, input.caller_evidence);
          const requested = input.local_acquisition;
          const gathered = await gatherEvidence(services, { law, state, command, requested, call, mint });
          if ("outcome" in gathered) return gathered;
          return decide(law, state, gathered, mint(), services.environment);
        },
      }, call);
      const answered = await withMissing(services, runKeyOf(namespace_id, run_id), outcome);
      return outcomeAnswer(answered, () => nextAfterRefusal(refusedMutation(NAMED.name, input), outcome));
    },
  });
