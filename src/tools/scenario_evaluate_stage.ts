/**
 * The tool `scenario_evaluate_stage`.
 *
 * @module
 */

import { z } from "zod";
import type { Acquisition } from "../evidence/acquisition/acquire.ts";
import { selectBindings, type SelectedBinding } from "../evidence/acquisition/select.ts";
import { type Decision, type EvaluateCommand, runKeyOf, type Stamps } from "../run/command.ts";
import type { CompiledLaw, CompiledStage } from "../run/compile.ts";
import { decideEvaluate, refuseEvaluation } from "../run/decide_evaluate.ts";
import { maximumValueBytes } from "../run/evidence.ts";
import { refusal } from "../run/refusal.ts";
import type { RunState } from "../run/types.ts";
import { boundContracts, boundSchemas } from "./bound_run.ts";
import { callerEvidence, expectedHead, name, operationId, runMembers, timestamp } from "./input.ts";
import { runMutation } from "./mutation.ts";
import { nextAfterMutation } from "./next_steps.ts";
import { outcomeAnswer } from "./outcome.ts";
import { acceptedMutation, ATTEMPT, outcomeOf, STAGE_IDS, TEXT } from "./output.ts";
import { judgeSchemas, type VerdictFailure } from "./schema_verdicts.ts";
import type { Services } from "./services.ts";
import { makeTool, WRITES_AND_ACQUIRES } from "./tool.ts";
import type { Call, Tool } from "./types.ts";

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
  return makeTool(services, {
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
          const gathered = await gather(services, { law, state, input, command, call, mint });
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

/** An evaluation before its decision. */
interface Evaluating {
  readonly law: CompiledLaw;
  readonly state: RunState;
  readonly input: Input;
  readonly command: EvaluateCommand;
  readonly call: Call;
  readonly mint: () => Stamps;
}

/** What the decision needs of the outside world: schema verdicts and acquired evidence. A refusal where it is not reached. */
async function gather(services: Services, evaluating: Evaluating): Promise<EvaluateCommand | Decision> {
  const { law, state, input, command } = evaluating;
  const stage = law.stages[law.stageIndex.get(input.stage_id) ?? -1];
  if (stage === undefined || !needsTheOutside(stage, input)) return command;
  // Nothing is run for a call that is refused anyway.
  const admitted = refuseEvaluation(law, state, command, services.surroundings);
  if ("outcome" in admitted) return admitted;
  const selection = selectBindings(stage, input.local_acquisition);
  if (!selection.ok) {
    return refusal("evidence_rejected", { stage_id: input.stage_id, rejections: selection.rejections });
  }
  const find = boundSchemas(services, state.run_key);
  const verdicts = await judgeSchemas(services, law, stage, command.caller_evidence, find);
  if ("length" in verdicts) {
    return refusal("acquisition_failed", { stage_id: input.stage_id, failures: verdicts.map(describeFailure) });
  }
  const { acquired, failures } = await acquire(services, evaluating, selection.bindings);
  return { ...command, schema_verdicts: verdicts, acquired, acquisition_failures: failures };
}

/** Asks the providers. The trigger time is a stamp minted before, never behind what the run has accepted. */
async function acquire(
  services: Services,
  { law, state, input, command, call, mint }: Evaluating,
  bindings: readonly SelectedBinding[],
): Promise<Acquisition> {
  if (bindings.length === 0) return { acquired: [], failures: [] };
  const stamp = Math.max(mint().time.reading_unix_millis, state.accepted_audit_instant);
  const { namespace_id, run_id } = state.run_key;
  return await services.acquirer.acquire({
    law,
    bindings,
    context: {
      namespace_id,
      scenario_id: state.scenario_id,
      scenario_law_identity: state.scenario_law_identity,
      run_id,
      stage_id: input.stage_id,
      operation_id: command.operation_id,
      trigger_time: { kind: "unix_millis", value: stamp },
      ...call.correlationId === null ? {} : { correlation_id: call.correlationId },
    },
    boundContracts: await boundContracts(services, state.run_key),
    maximumValueBytes: maximumValueBytes(law, services.surroundings.profile),
    findSchema: boundSchemas(services, state.run_key),
    signal: call.signal,
  });
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
