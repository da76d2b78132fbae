import { words } from "../canonical/words.ts";
import { oneOf, text, variant } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { createRun } from "./mutation/creation.ts";
import { briefly, genesis, givenIdentity, name, namespaceId, operationId } from "./framework/input.ts";
import { nextAfterCreation } from "./next_steps/after_refusal.ts";
import { outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { type MakeTool, makeTool, WRITES } from "./make_tool.ts";

const NAMED = { name: "scenario_start", group: "Run", audit: "mutation" } as const;

/** The refusals of the tool. */
export const START_REFUSALS = words(
  "creation_conflict scenario_not_found law_not_found genesis_rejected correlation_rejected",
  "authority_unavailable",
);

/** The tool `scenario_start`. */
export const scenarioStart: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Start a run",
    description:
      "Starts a run of one exact law and mints its run_id. creation_request_id is fresh and random; the same call again returns " +
      "the same run. head is the first expected_head. Next: scenario_status, then scenario_open_stage.",
    details: "Starts a run of one exact scenario law. run_id and acceptance time are minted here; no stage is opened " +
      "yet. Pick a fresh random creation_request_id: the same call again gives the same run and the same answer, so a lost " +
      "answer is returned again by repeating it. The answer's head is the expected_head of your first mutation. Next: " +
      "scenario_status for the ready frontier, then scenario_open_stage.",
    hints: WRITES,
    input: table({
      namespace_id: namespaceId,
      scenario_id: name,
      scenario_law_identity: givenIdentity,
      creation_request_id: operationId,
      correlation: briefly(
        variant("kind", {
          unset: table({ kind: oneOf("unset") }),
          set: table({ kind: oneOf("set"), correlation_id: text }),
        }),
        "{kind: unset} | {kind: set, correlation_id}",
      ),
      genesis,
    }),
    output: outcomeOf(["creation"], START_REFUSALS),
    act: async (input, raw, call) => {
      const outcome = await createRun(services, { tool: NAMED.name, input: raw, ...input }, call);
      return outcomeAnswer(outcome, () => nextAfterCreation(raw, outcome));
    },
  });
