/** Decides an evaluation. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { DecidedRecord, Decision, Environment, EvaluateCommand, Refused, Stamps } from "../command.ts";
import { admitAcquired } from "../acquired.ts";
import { attemptAt, CLOCK_BEHIND_RUN } from "../attempt.ts";
import type { CompiledLaw, CompiledStage } from "../compile.ts";
import { evaluateEvidence } from "../evaluate.ts";
import { presentCallerEvidence, type PresentedEvidence, rejectLeftOut, valueMaterial } from "../evidence.ts";
import { stagesAfterCompletion, stagesSatisfy, traceStages } from "../frontier.ts";
import type { QualificationEnvironment, QualifiedEvidence } from "../qualify.ts";
import { acceptanceTime, buildRecord } from "../record.ts";
import { checkHead, findStage, refusal } from "../refusal.ts";
import { accept } from "./accept.ts";
import { presentSubmitted } from "../submitted_evidence.ts";
import type { RecordedEvidence, RunState, StageTraceItem } from "../types.ts";

const NO_VALUES: NonNullable<EvaluateCommand["submitted_values"]> = new Map();

/** Whether an item has an observation: a value or `found_nothing`, even if the clock is no basis to judge it now. */
function hasObserved({ error }: PresentedEvidence): boolean {
  return error === undefined || error === CLOCK_BEHIND_RUN;
}

/** An item as the record retains it. */
export function recordEvidence({ item, lane, reason }: QualifiedEvidence): RecordedEvidence {
  return {
    item_id: item.item_id,
    condition_id: item.condition_id,
    channel: item.channel,
    ...item.submission === undefined ? {} : { submission_record_id: item.submission.record_id },
    ...item.provider_id === undefined ? {} : { provider_id: item.provider_id },
    ...item.binding_id === undefined ? {} : { binding_id: item.binding_id },
    ...item.value_identity === undefined ? {} : { value_identity: item.value_identity },
    qualified: reason === null && item.error === undefined,
    ...reason === null ? {} : { reason },
    ...item.error === undefined ? {} : { error: item.error },
    lane,
    retention: item.retention,
    ...item.value === null ? {} : { value_type: item.value.value_type },
    ...item.content_hash === undefined ? {} : { content_hash: item.content_hash },
    ...item.hash_recomputes ? {} : { hash_recomputes: false as const },
    ...item.value === null && hasObserved(item) ? { found_nothing: true as const } : {},
    ...item.observed_at === undefined ? {} : { observed_at: item.observed_at },
    ...item.signature === undefined ? {} : { signature: item.signature },
    ...item.anchor === undefined ? {} : { anchor: item.anchor },
    ...item.schema_verdict === undefined ? {} : { schema_verdict: item.schema_verdict },
    ...item.acquisition === undefined ? {} : { acquisition: item.acquisition },
  };
}

function materialOf(items: readonly PresentedEvidence[]): DecidedRecord["material"] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const material = valueMaterial(item);
    if (material === null || seen.has(material.identity)) return [];
    seen.add(material.identity);
    return [{ kind: material.kind, identity: material.identity, body: canonicalize(material.body) }];
  });
}

/**
 * Checks a command before anything is acquired: the caller's items, or the refusal `stale`, `stage_not_found`,
 * `stage_not_open` or `evidence_rejected`.
 */
export function admitEvaluation(
  law: CompiledLaw,
  state: RunState,
  command: Pick<EvaluateCommand, "expected_head" | "stage_id" | "caller_evidence" | "schema_verdicts">,
  environment: Environment,
): Refused | { readonly compiled: CompiledStage; readonly items: readonly PresentedEvidence[] } {
  const stale = checkHead(state, command.expected_head);
  if (stale !== null) return stale;
  const found = findStage(law, state, command.stage_id);
  if ("outcome" in found) return found;
  const { stage_id, classification } = found.stage;
  if (state.status === "complete") {
    return refusal("stage_not_open", { stage_id, classification, reason: "run_complete" });
  }
  if (classification !== "open_incomplete") return refusal("stage_not_open", { stage_id, classification });
  const presentation = presentCallerEvidence(
    environment.primitives.sha256,
    law,
    found.compiled,
    environment.profile,
    command.caller_evidence,
    command.schema_verdicts,
  );
  if (!presentation.ok) return refusal("evidence_rejected", { stage_id, rejections: presentation.rejections });
  return { compiled: found.compiled, items: presentation.items };
}

/**
 * The bindings of a stage that the call did not ask. Every binding that it asked has an item, which may be an error.
 */
export function narrowedBindings(
  compiled: CompiledStage,
  acquired: readonly { readonly binding_id?: string }[],
): string[] {
  const asked = new Set(acquired.map(({ binding_id }) => binding_id));
  return compiled.bindings.map(({ binding_id }) => binding_id).filter((bindingId) => !asked.has(bindingId));
}

/** The trace and truth of the requirement of the scenario after a stage was completed. */
export function completionAfter(
  law: CompiledLaw,
  state: RunState,
  stageId: string,
): { scenario_trace: StageTraceItem[]; complete: boolean } {
  const index = law.stageIndex.get(stageId) ?? -1;
  const stages = state.stages.map((stage, at) =>
    at === index ? { ...stage, classification: "complete" as const } : stage
  );
  const after = stagesAfterCompletion(law, stages, index);
  return {
    scenario_trace: traceStages(law.completion, law.completionStages, after),
    complete: stagesSatisfy(law.completion, law.completionStages, after),
  };
}

/**
 * Decides an evaluation: outcomes `accepted`, `stale`, `stage_not_found`, `stage_not_open`, `evidence_rejected`,
 * `acquisition_failed`.
 */
export function decideEvaluate(
  law: CompiledLaw,
  state: RunState,
  command: EvaluateCommand,
  stamps: Stamps,
  environment: Environment,
): Decision {
  const admitted = admitEvaluation(law, state, command, environment);
  if ("outcome" in admitted) return admitted;
  const { stage_id } = command;
  if (command.acquisition_failures.length > 0) {
    return refusal("acquisition_failed", { stage_id, failures: command.acquisition_failures });
  }
  const { compiled } = admitted;
  const asked = new Set(command.acquired.map(({ binding_id }) => binding_id));
  const rejections = rejectLeftOut(compiled, (bindingId) => asked.has(bindingId));
  if (rejections.length > 0) return refusal("evidence_rejected", { stage_id, rejections });
  const scope = { run_id: state.run_key.run_id, stage_id, expected_head: command.expected_head };
  const attempt = attemptAt(environment.procedure, scope, {
    ...acceptanceTime(environment, state, stamps.time),
    ...stamps.time,
    last_audit_instant: state.accepted_audit_instant,
  });
  const qualification: QualificationEnvironment = { ...environment, law, attempt };
  const items = [
    ...admitted.items,
    ...presentSubmitted(state, stage_id, command.submitted_values ?? NO_VALUES),
    ...admitAcquired(qualification, attempt, command.acquired),
  ];
  const evaluation = evaluateEvidence(compiled, items, qualification);
  const completed = evaluation.outcome === "true";
  const completion = completed ? completionAfter(law, state, stage_id) : null;
  const decided = buildRecord(environment, state, state.run_key, command, stamps, "stage_evaluated", {
    stage_id,
    attempt_number: state.attempt_count + 1,
    outcome: evaluation.outcome,
    completed,
    trace: evaluation.trace,
    evidence: evaluation.evidence.map(recordEvidence),
    narrowed_bindings: narrowedBindings(compiled, command.acquired),
    ...completion === null ? {} : { scenario_trace: completion.scenario_trace },
    run_status: completion?.complete ? "complete" : state.status,
  }, materialOf(items));
  return accept(law, state, decided);
}
