import { words } from "../canonical/words.ts";
import { table } from "../canonical/table_shape.ts";
import { decide } from "../run/decide/decide.ts";
import { expectedHead, HEAD_RULE, name, operationId, runMembers } from "./framework/input.ts";
import { runMutation } from "./mutation/mutation.ts";
import { nextAfterRefusal, refusedMutation } from "./next_steps/after_refusal.ts";
import { outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { type MakeTool, makeTool, WRITES } from "./make_tool.ts";

const NAMED = { name: "scenario_open_stage", group: "Run", audit: "mutation" } as const;

/** The refusals of the tool. */
export const OPEN_REFUSALS = words(
  "stale operation_conflict run_not_found stage_not_found stage_not_ready stage_already_opened",
  "policy_denied",
);

/** The tool `scenario_open_stage`. */
export const scenarioOpenStage: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Open a stage",
    description:
      `Opens a stage of the ready frontier: returns its entry intents, this once, and stage_open_record_id. ${HEAD_RULE} ` +
      "Next: scenario_evaluate_stage.",
    details: "Opens a stage of the ready frontier: work on it may begin. The answer holds the entry intents with " +
      "their payloads, proposed this once, and stage_open_record_id for submissions in the scope of the stage. Where 1 MiB " +
      "is not enough, a packet's payload stands at its first intent, or is omitted (payload_left_out: the runpack has it). " +
      "Other stages are not touched. expected_head must be the run's current head, else the outcome is stale and its result is " +
      "the current head. Retry a lost answer with the same operation_id and arguments. Next: scenario_evaluate_stage at " +
      "the accepted_head returned.",
    hints: WRITES,
    input: table({ ...runMembers, stage_id: name, expected_head: expectedHead, operation_id: operationId }),
    output: outcomeOf(["opening"], OPEN_REFUSALS),
    act: async (input, raw, call) => {
      const { stage_id, expected_head } = input;
      const outcome = await runMutation(services, {
        tool: NAMED.name,
        family: "open_stage",
        raw,
        input,
        decide: (law, state, request, mint) =>
          decide(law, state, { kind: "open", ...request, expected_head, stage_id }, mint(), services.environment),
      }, call);
      return outcomeAnswer(outcome, () => nextAfterRefusal(refusedMutation(NAMED.name, input), outcome));
    },
  });
