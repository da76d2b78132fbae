import { words } from "../canonical/words.ts";
import { oneOf, variant } from "../canonical/shape.ts";
import { characters, table } from "../canonical/table_shape.ts";
import { decide } from "../run/decide/decide.ts";
import {
  briefly,
  expectedHead,
  givenIdentity,
  HEAD_RULE,
  name,
  operationId,
  payload,
  runMembers,
} from "./framework/input.ts";
import { gatherSubmission } from "./mutation/submitted_evidence.ts";
import { runMutation } from "./mutation/mutation.ts";
import { nextAfterRefusal, refusedMutation } from "./next_steps/after_refusal.ts";
import { outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { type MakeTool, makeTool, WRITES } from "./make_tool.ts";

const NAMED = { name: "scenario_submit", group: "Run", audit: "mutation" } as const;

/** The refusals of the tool. */
export const SUBMIT_REFUSALS = words(
  "stale operation_conflict run_not_found stage_not_open stage_open_mismatch content_type_rejected",
  "payload_rejected",
);

/** The tool `scenario_submit`. */
export const scenarioSubmit: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Submit an artifact",
    description:
      "Stores an artifact in the run for ever: never send secrets. It is no evidence and completes nothing. " +
      HEAD_RULE,
    details:
      "Stores an artifact in the run for ever: never send secrets. It is no evidence: a submission neither opens " +
      "nor completes a stage. scope run_wide, or stage_open with the stage_open_record_id that scenario_open_stage returned. " +
      "payload json needs a JSON content_type, bytes another one; external names content by hash and is never fetched. " +
      "expected_head must be the run's current head, else the outcome is stale and its result is the current head. Retry " +
      "a lost answer with the same operation_id and arguments.",
    hints: WRITES,
    input: table({
      ...runMembers,
      expected_head: expectedHead,
      operation_id: operationId,
      content_type: characters(0, 256),
      payload,
      scope: briefly(
        variant("kind", {
          run_wide: table({ kind: oneOf("run_wide") }),
          stage_open: table({ kind: oneOf("stage_open"), stage_id: name, stage_open_record_id: givenIdentity }),
        }),
        "{kind: run_wide} | {kind: stage_open, stage_id, stage_open_record_id}",
      ),
    }),
    output: outcomeOf(["submitting"], SUBMIT_REFUSALS),
    act: async (input, raw, call) => {
      const { expected_head, content_type, payload, scope } = input;
      const outcome = await runMutation(services, {
        tool: NAMED.name,
        family: "submit",
        raw,
        input,
        decide: async (law, state, request, mint) => {
          const command = { kind: "submit", ...request, expected_head, content_type, payload, scope } as const;
          const gathered = await gatherSubmission(services, law, state, command);
          return decide(law, state, gathered, mint(), services.environment);
        },
      }, call);
      return outcomeAnswer(outcome, () => nextAfterRefusal(refusedMutation(NAMED.name, input), outcome));
    },
  });
