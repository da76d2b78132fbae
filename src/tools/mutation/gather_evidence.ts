/**
 * Gathers the external inputs of an evaluation before its decision: verdicts of JSON Schemas and answers of providers.
 */

import type { Acquisition } from "../../evidence/acquisition/acquire.ts";
import { type RequestedBinding, selectBindings, type SelectedBinding } from "../../evidence/acquisition/select.ts";
import { schemaFailure } from "../../evidence/sandbox/schema_sandbox.ts";
import type { EvaluateCommand, Refused, Request, Stamps } from "../../run/command.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import { admitEvaluation } from "../../run/decide/decide_evaluate.ts";
import { type CallerEvidence, maximumValueBytes } from "../../run/evidence.ts";
import { refusal } from "../../run/refusal.ts";
import type { Head, RunState } from "../../run/types.ts";
import { boundSchemas, runContracts } from "./bound_run.ts";
import { withWaitingValues } from "./submitted_evidence.ts";
import { judgeSchemas, type VerdictFailure } from "./schema_verdicts.ts";
import type { Services } from "../services/services.ts";
import type { Call } from "../framework/types.ts";

/** An evaluation that is not decided yet. */
export interface PendingEvaluation {
  readonly law: CompiledLaw;
  readonly state: RunState;
  /** The command, without acquired evidence. */
  readonly command: EvaluateCommand;
  /** Which bindings to run; undefined = all of the stage. */
  readonly requested: readonly RequestedBinding[] | undefined;
  readonly call: Call;
  readonly mint: () => Stamps;
}

/** The command of an evaluation with the caller's evidence alone. */
export function evaluationOf(
  request: Request,
  expected_head: Head,
  stage_id: string,
  caller_evidence: readonly CallerEvidence[] = [],
): EvaluateCommand {
  return {
    kind: "evaluate",
    ...request,
    expected_head,
    stage_id,
    caller_evidence,
    schema_verdicts: new Map(),
    acquired: [],
    acquisition_failures: [],
  };
}

/**
 * Gathers the verdicts and the evidence of a command.
 *
 * @returns The command with schema verdicts and acquired evidence; or the refusal, before any provider is queried
 */
export async function gatherEvidence(
  services: Services,
  pending: PendingEvaluation,
): Promise<EvaluateCommand | Refused> {
  const { law, state, requested } = pending;
  const command = await withWaitingValues(services, state, pending.command);
  const { stage_id } = command;
  const stage = law.stages[law.stageIndex.get(stage_id) ?? -1];
  if (stage === undefined || !needsGathering(stage, requested)) return command;
  const admitted = admitEvaluation(law, state, command, services.environment);
  if ("outcome" in admitted) return admitted;
  const selection = selectBindings(stage, requested);
  if (!selection.ok) {
    return refusal("evidence_rejected", { stage_id, rejections: selection.rejections });
  }
  const find = boundSchemas(services, state.run_key);
  const verdicts = await judgeSchemas(services, law, stage, command.caller_evidence, find);
  if ("length" in verdicts) {
    return refusal("acquisition_failed", { stage_id, failures: verdicts.map(describeFailure) });
  }
  const acquisition = await acquire(services, pending, selection.bindings);
  auditQueries(pending.call, selection.bindings, acquisition);
  const { acquired, failures } = acquisition;
  return { ...command, schema_verdicts: verdicts, acquired, acquisition_failures: failures };
}

/** Queries the providers. The trigger time is a reading of the time authority before the queries. */
async function acquire(
  services: Services,
  { law, state, command, call, mint }: PendingEvaluation,
  bindings: readonly SelectedBinding[],
): Promise<Acquisition> {
  if (bindings.length === 0) return { acquired: [], failures: [] };
  const { namespace_id, run_id } = state.run_key;
  return await services.acquirer.acquire({
    law,
    bindings,
    context: {
      namespace_id,
      scenario_id: state.scenario_id,
      scenario_law_identity: state.scenario_law_identity,
      run_id,
      stage_id: command.stage_id,
      operation_id: command.operation_id,
      trigger_time: { kind: "unix_millis", value: mint().time.reading_unix_millis },
      ...call.correlationId === null ? {} : { correlation_id: call.correlationId },
    },
    ...await runContracts(services, state.run_key),
    maximumValueBytes: maximumValueBytes(law, services.environment.profile),
    findSchema: boundSchemas(services, state.run_key),
    caller: call.principal.subject,
    signal: call.signal,
  });
}

function auditQueries(
  { auditor }: Call,
  bindings: readonly SelectedBinding[],
  { acquired, failures }: Acquisition,
): void {
  if (auditor === undefined) return;
  for (const { binding: { binding_id, provider_id, check_id } } of bindings) {
    const failure = failures.find((one) => one.binding_id === binding_id);
    const item = acquired.find((one) => one.binding_id === binding_id);
    const reason = failure?.code ?? item?.error?.code ?? "answered";
    auditor.acquired({ binding_id, provider_id, check_id, reason, failed: failure !== undefined });
  }
}

function needsGathering(stage: CompiledStage, requested: readonly RequestedBinding[] | undefined): boolean {
  if ((requested?.length ?? stage.bindings.length) > 0) return true;
  return stage.conditions.some(({ condition: { observation_domain: domain } }) =>
    domain.domain === "Json" && domain.schema !== undefined
  );
}

function describeFailure({ index, condition_id, error }: VerdictFailure): object {
  return { condition_id, item_id: `caller:${index}`, ...schemaFailure(error) };
}
