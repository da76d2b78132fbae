/** The tool `scenario_apply`. */

import { anyInteger, anyOf, boolean, closed, listOf, oneOf, text } from "../../canonical/shape.ts";
import { table } from "../../canonical/table_shape.ts";
import { ISSUES_MAXIMUM } from "../framework/decode.ts";
import { toolError } from "../framework/errors.ts";
import { jsonObject } from "../framework/input.ts";
import { outcomeOf } from "../framework/outcome_types.ts";
import { arrayOf, ref } from "../framework/output.ts";
import type { ToolError } from "../framework/types.ts";
import { type MakeTool, makeTool, WRITES_AND_ACQUIRES } from "../make_tool.ts";
import { applyOperations, argumentAt, type Operation, referenceIn, REFERENCES } from "./operations.ts";
import { EVALUATE_REFUSALS, scenarioEvaluateStage } from "../scenario_evaluate_stage.ts";
import { STEP_REFUSALS } from "../scenario_next.ts";
import { OPEN_REFUSALS, scenarioOpenStage } from "../scenario_open_stage.ts";
import { scenarioStart, START_REFUSALS } from "../scenario_start.ts";
import { scenarioSubmit, SUBMIT_REFUSALS } from "../scenario_submit.ts";
import { scenarioTrigger } from "../scenario_trigger.ts";

const NAMED = { name: "scenario_apply", group: "Run", audit: "mutation" } as const;

/** Most operations of one list. */
const OPERATIONS_MAXIMUM = 256;

/** The tools of operations. */
const MAKERS = {
  scenario_start: scenarioStart,
  scenario_open_stage: scenarioOpenStage,
  scenario_evaluate_stage: scenarioEvaluateStage,
  scenario_submit: scenarioSubmit,
  scenario_trigger: scenarioTrigger,
} as const;

const OUTCOME = outcomeOf(
  ["creation", "opening", "evaluation", "submitting", "triggering"],
  [...new Set([...START_REFUSALS, ...OPEN_REFUSALS, ...EVALUATE_REFUSALS, ...SUBMIT_REFUSALS, ...STEP_REFUSALS])],
);

/** An error of the protocol, which a call of its own would have had. */
const EDGE_ERROR = closed({
  code: anyInteger,
  message: text,
  data: closed({ kind: text, retryable: boolean, request_id: oneOf(null) }, { path: text, retry_after_ms: anyInteger }),
});

const NOT_ATTEMPTED = closed({ reason: oneOf("earlier_refusal", "answer_limit") }, { operation: anyInteger });

const RESULT = anyOf(
  OUTCOME,
  closed({ error: anyOf(ref("error"), EDGE_ERROR) }),
  closed({ not_attempted: NOT_ATTEMPTED }),
);

/** The tool `scenario_apply`. */
export const scenarioApply: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Apply many operations",
    description:
      "Makes up to 256 calls that start, open, evaluate, submit and trigger in one, in order for each run. A refusal ends " +
      "the rest of its run. Repeat a list unchanged to retry: nothing is done twice.",
    details: "Makes many calls of scenario_start, scenario_open_stage, scenario_evaluate_stage, scenario_submit and " +
      "scenario_trigger in one, with one commit between two queries of providers. Each operation has its own operation " +
      "identity, receipt, roles and audit lines, and its result is what the call alone would have answered. " +
      '{"operation": INDEX} (from 0) may stand for run_id, expected_head and scope.stage_open_record_id: what an earlier ' +
      "operation came to. Operations run in order for each run. A refusal ends the rest of that run (not_attempted, " +
      "earlier_refusal), not of others. What would make the answer larger than 1 MiB is not_attempted too (answer_limit). " +
      "Repeat the list, or any operation alone, to get a lost answer: what has a receipt answers from it, and the rest is " +
      "made.",
    hints: WRITES_AND_ACQUIRES,
    input: table({
      operations: listOf(
        table({
          tool: oneOf(...Object.keys(MAKERS) as (keyof typeof MAKERS)[]),
          arguments: jsonObject({
            description:
              "Of that tool; run_id, expected_head and scope.stage_open_record_id may be {operation: INDEX}: " +
              "what an earlier operation came to",
          }),
        }),
        OPERATIONS_MAXIMUM,
        1,
      ),
    }),
    output: closed({ results: arrayOf(RESULT) }),
    namespaced: false,
    admit: ({ operations }) => refuseReferences(operations),
    act: ({ operations }, _raw, call) => applyOperations(services, MAKERS, operations, call),
  });

/** The error of a list with references to operations that are not earlier ones, or open no stage. */
function refuseReferences(operations: readonly Operation[]): ToolError | null {
  const issues = operations.flatMap((operation, index) =>
    REFERENCES.flatMap((place) => {
      const given = argumentAt(operation.arguments, place);
      const at = referenceIn(given);
      if (at === undefined || given === undefined) return [];
      const expected = place.length === 1 ? "an earlier operation" : "an earlier operation that opens a stage";
      const isAlone = Object.keys(given as object).length === 1;
      const earlier = typeof at === "number" ? operations.slice(0, index)[at] : undefined;
      const fits = earlier !== undefined && (place.length === 1 || earlier.tool === "scenario_open_stage");
      if (isAlone && fits) return [];
      const path = `$.operations[${index}].arguments.${place.join(".")}`;
      return [{ path, message: `Expected the index of ${expected}`, expected: `{operation: INDEX} of ${expected}` }];
    })
  );
  const [first] = issues;
  if (first === undefined) return null;
  return toolError("invalid_input", `Cannot read arguments: ${first.path}: ${first.message}`, {
    issues: issues.slice(0, ISSUES_MAXIMUM),
  });
}
