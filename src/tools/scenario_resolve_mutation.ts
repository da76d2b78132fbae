import { oneOf } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { runKeyOf } from "../run/command.ts";
import { givenIdentity, givenOperationIdentity, namespaceId } from "./framework/input.ts";
import { mutationKey } from "./services/keyed_lock.ts";
import { withMissing } from "./precheck/missing_answer.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { resolve, RESOLVE_REFUSALS, unauthorized } from "./mutation/resolve.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "scenario_resolve_mutation", group: "Read", audit: "request" } as const;

/** Operation families, and the tool of each. */
const TOOL_OF = {
  open_stage: "scenario_open_stage",
  evaluate_stage: "scenario_evaluate_stage",
  submit: "scenario_submit",
} as const;

/** The tool `scenario_resolve_mutation`. */
export const scenarioResolveMutation: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Resolve a mutation",
    description:
      "Reports what became of an open, evaluate or submit whose answer was lost. Repeating the call unchanged does the same.",
    details: "Reports what became of an open, evaluate or submit whose answer was lost: accepted with the original " +
      "result, or known_unaccepted. Reads receipts only, at any head. Repeating the call unchanged gives " +
      "the same answer, executes what was not accepted, and needs no invocation_identity. A request_id or trigger_id is no " +
      "operation_id: repeat scenario_next and scenario_trigger themselves.",
    hints: READS,
    input: table({
      namespace_id: namespaceId,
      run_id: givenOperationIdentity,
      operation_id: table({
        family: oneOf("open_stage", "evaluate_stage", "submit"),
        identity: givenOperationIdentity,
      }),
      invocation_identity: givenIdentity,
    }),
    output: outcomeOf(["opening", "evaluation", "submitting"], RESOLVE_REFUSALS),
    refused: (error, raw) => unauthorized(NAMED.name, error, raw),
    act: ({ namespace_id, run_id, operation_id, invocation_identity }, raw) => {
      const { family, identity } = operation_id;
      return resolve(services, {
        tool: NAMED,
        invocation_identity,
        lockKey: mutationKey(namespace_id, run_id, family, identity),
        completeAnswer: (outcome) => withMissing(services, runKeyOf(namespace_id, run_id), outcome),
        findReceipt: () => services.runs.receipts.get(runKeyOf(namespace_id, run_id), { family, identity }),
        input: raw,
        again: {
          tool: TOOL_OF[family],
          arguments_hint: { namespace_id, run_id, operation_id: identity },
          why:
            "No operation with this id was accepted: send its call again, unchanged. A request_id or trigger_id is not an " +
            "operation_id: send the call that has it again",
        },
      });
    },
  });
