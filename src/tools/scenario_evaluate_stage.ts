/**
 * The tool `scenario_evaluate_stage`.
 *
 * @module
 */

import { z } from "zod";
import { formatPath } from "../canonical/path.ts";
import { type AcquisitionFailure, type Decision, type EvaluateCommand, runKeyOf } from "../run/command.ts";
import type { CompiledLaw, CompiledStage } from "../run/compile.ts";
import { decideEvaluate, refuseEvaluation } from "../run/decide_evaluate.ts";
import { refusal } from "../run/refusal.ts";
import type { RunState } from "../run/types.ts";
import { callerEvidence, expectedHead, name, operationId, runMembers, timestamp } from "./input.ts";
import { runMutation } from "./mutation.ts";
import { nextAfterMutation } from "./next_steps.ts";
import { outcomeAnswer } from "./outcome.ts";
import { acceptedMutation, ATTEMPT, outcomeOf, STAGE_IDS, TEXT } from "./output.ts";
import { boundSchemas, judgeSchemas, type VerdictFailure } from "./schema_verdicts.ts";
import type { Services } from "./services.ts";
import { makeTool, refuseNamespace, WRITES_AND_ACQUIRES } from "./tool.ts";
import type { Tool } from "./types.ts";

const NAMED = { name: "scenario_evaluate_stage", group: "Run" } as const;
const FAMILY = "evaluate_stage";

const REFUSALS = [
  "stale",
  "operation_conflict",
  "run_not_found",
  "stage_not_found",
  "stage_not_open",
  "evidence_rejected",
  "acquisition_failed",
];

const input = z.strictObject({
  ...runMembers,
  stage_id: name,
  expected_head: expectedHead,
  operation_id: operationId,
  caller_evidence: callerEvidence.exactOptional()
    .describe("What you observed, one item a condition or more; value_type is the condition's domain"),
  local_acquisition: z.array(z.strictObject({ binding_id: name, trigger_time: timestamp.exactOptional() }))
    .exactOptional().describe("Which of the stage's acquisition bindings to run: left out = all, [] = none"),
});

type Input = z.output<typeof input>;

/** The tool `scenario_evaluate_stage`. */
export function scenarioEvaluateStage(services: Services): Tool {
  return makeTool({
    ...NAMED,
    title: "Evaluate a stage",
    description:
      "Evaluates an open stage with the evidence of this call and records the attempt. attempt.outcome true " +
      "completes the stage; false or unknown leaves it open to be evaluated again with other evidence. Missing, " +
      "unqualified or disagreeing evidence is unknown, never true: attempt.trace says why for each condition. Evidence of " +
      "earlier calls does not count. expected_head must be the run's current head, else the outcome is stale and its " +
      "result is the current head. Retry a lost answer with the same operation_id and arguments. Next: open a stage of " +
      "ready_frontier, until run_status is complete. scenario_precheck_stage tries evidence without recording.",
    hints: WRITES_AND_ACQUIRES,
    input,
    output: outcomeOf(
      acceptedMutation({ stage_id: TEXT, attempt: ATTEMPT, ready_frontier: STAGE_IDS, run_status: TEXT }),
      REFUSALS,
    ),
    act: async (input, raw, call) => {
      const { namespace_id, scenario_id, run_id, stage_id, expected_head, operation_id } = input;
      const refused = refuseNamespace(services, NAMED, call, namespace_id);
      if (refused !== null) return { ok: false, error: refused };
      const outcome = await runMutation(services, {
        tool: NAMED.name,
        family: FAMILY,
        input: raw,
        run_key: runKeyOf(namespace_id, run_id),
        scenario_id,
        operation_id,
        receiptBeforeDecision: true,
        decide: async (law, state, request, mint) => {
          const command = commandOf(input, request);
          const gathered = await gather(services, law, state, input, command);
          if ("outcome" in gathered) return gathered;
          return decideEvaluate(law, state, gathered, mint(), services.surroundings);
        },
      }, call);
      const run = { namespace_id, scenario_id, run_id };
      return outcomeAnswer(
        outcome,
        () =>
          nextAfterMutation({ tool: NAMED.name, family: FAMILY, run, operation_id, expected_head, stage_id }, outcome),
      );
    },
  });
}

type RequestMembers = Pick<
  EvaluateCommand,
  "operation_id" | "invocation_identity" | "attribution" | "admission_kind"
>;

function commandOf(input: Input, request: RequestMembers): EvaluateCommand {
  return {
    kind: "evaluate",
    ...request,
    expected_head: input.expected_head,
    stage_id: input.stage_id,
    caller_evidence: input.caller_evidence ?? [],
    schema_verdicts: new Map(),
    acquired: [],
    acquisition_failures: [],
  };
}

/** What the decision needs of the outside world: schema verdicts and acquired evidence. A refusal where it is not reached. */
async function gather(
  services: Services,
  law: CompiledLaw,
  state: RunState,
  input: Input,
  command: EvaluateCommand,
): Promise<EvaluateCommand | Decision> {
  const stage = law.stages[law.stageIndex.get(input.stage_id) ?? -1];
  if (stage === undefined || !needsTheOutside(stage, input)) return command;
  // Nothing is run for a call that is refused anyway.
  const admitted = refuseEvaluation(law, state, command, services.surroundings);
  if ("outcome" in admitted) return admitted;
  const unknown = unknownBindings(stage, input);
  if (unknown !== null) return unknown;
  const find = boundSchemas(services, state.run_key);
  const verdicts = await judgeSchemas(services, law, stage, command.caller_evidence, find);
  if ("length" in verdicts) {
    return refusal("acquisition_failed", { stage_id: input.stage_id, failures: verdicts.map(describeFailure) });
  }
  return { ...command, schema_verdicts: verdicts, acquisition_failures: acquisitionFailures(stage, input) };
}

function needsTheOutside(stage: CompiledStage, input: Input): boolean {
  if ((input.local_acquisition?.length ?? stage.bindings.length) > 0) return true;
  return stage.conditions.some(({ condition: { observation_domain: domain } }) =>
    domain.domain === "Json" && domain.schema !== undefined
  );
}

function describeFailure({ index, condition_id, error }: VerdictFailure): object {
  const retryable = error.code === "worker_failed" || error.code === "overloaded" || error.code === "closed";
  return { condition_id, item_id: `caller:${index}`, code: `schema_${error.code}`, message: error.message, retryable };
}

/** The refusal of bindings that the stage does not have; null when it has them all. */
function unknownBindings(stage: CompiledStage, input: Input): Decision | null {
  const known = new Set(stage.bindings.map(({ binding_id }) => binding_id));
  const seen = new Set<string>();
  const rejections = (input.local_acquisition ?? []).flatMap(({ binding_id }, index) => {
    const path = formatPath(["local_acquisition", index, "binding_id"]);
    const quoted = JSON.stringify(binding_id);
    if (!known.has(binding_id)) {
      const message = `Binding ${quoted} does not serve stage ${JSON.stringify(input.stage_id)}`;
      return [{ code: "binding_not_found", path, message }];
    }
    if (!seen.has(binding_id)) {
      seen.add(binding_id);
      return [];
    }
    return [{ code: "binding_duplicate", path, message: `Binding ${quoted} is named twice` }];
  });
  return rejections.length === 0 ? null : refusal("evidence_rejected", { stage_id: input.stage_id, rejections });
}

/** Bindings that would have to be run, yet whose provider is not configured: nothing passes by absence. */
function acquisitionFailures(stage: CompiledStage, input: Input): AcquisitionFailure[] {
  const named = input.local_acquisition?.map(({ binding_id }) => binding_id);
  return stage.bindings
    .filter(({ binding_id }) => named === undefined || named.includes(binding_id))
    .map(({ binding_id, provider_id }) => ({
      binding_id,
      code: "provider_not_configured",
      message: `Provider "${provider_id}" is not configured`,
      retryable: false,
    }));
}
