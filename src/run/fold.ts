/** The pure fold: the state of a run follows from its records alone. */

import { identify, type Identity, type Sha256 } from "../canonical/identity.ts";
import type { CompiledLaw } from "./compile.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "./frontier.ts";
import { asJson } from "./primitives.ts";
import { withSubmission } from "./submitted_evidence.ts";
import type { Attempt, EvidenceItem, RecordedEvidence, RunRecord, RunState, StageState } from "./types.ts";

/** How many attempts a state keeps for `scenario_status`. */
export const RECENT_ATTEMPTS = 20;

/** A record does not follow the state that it is folded into: the chain is broken. */
export class FoldError extends Error {
  override readonly name = "FoldError";
}

/** The members of a recorded evidence item that answers show. */
function shownEvidence(item: RecordedEvidence): EvidenceItem {
  return {
    item_id: item.item_id,
    condition_id: item.condition_id,
    channel: item.channel,
    ...item.provider_id === undefined ? {} : { provider_id: item.provider_id },
    ...item.binding_id === undefined ? {} : { binding_id: item.binding_id },
    ...item.value_identity === undefined ? {} : { value_identity: item.value_identity },
    qualified: item.qualified,
    ...item.reason === undefined ? {} : { reason: item.reason },
    ...item.error === undefined ? {} : { error: item.error },
  };
}

/** The attempt of a `stage_evaluated` record. */
export function attemptOf(
  record: Extract<RunRecord, { record_kind: "stage_evaluated" }>,
  recordId: Identity,
): Attempt {
  const { attempt_number, stage_id, outcome, completed, trace, evidence } = record.body;
  return {
    attempt_number,
    record_id: recordId,
    stage_id,
    outcome,
    completed,
    trace,
    evidence: evidence.map(shownEvidence),
  };
}

function checkFollows(state: RunState, record: RunRecord): void {
  const { namespace_id, run_id } = record.run_key;
  if (namespace_id !== state.run_key.namespace_id || run_id !== state.run_key.run_id) {
    throw new FoldError(`Cannot fold record: it belongs to run "${run_id}", not "${state.run_key.run_id}"`);
  }
  if (record.revision !== state.head.revision + 1 || record.previous_record_id !== state.head.record_id) {
    throw new FoldError(`Cannot fold record: revision ${record.revision} does not follow ${state.head.revision}`);
  }
  if (record.acceptance_time.accepted_audit_instant < state.accepted_audit_instant) {
    throw new FoldError(`Cannot fold record: revision ${record.revision} was accepted before the one it follows`);
  }
}

function created(law: CompiledLaw, record: RunRecord, recordId: Identity): RunState {
  if (record.record_kind !== "run_created" || record.revision !== 1 || record.previous_record_id !== null) {
    throw new FoldError("Cannot fold record: the first record of a run is run_created at revision 1");
  }
  if (record.body.scenario_law_identity !== law.scenario_law_identity) {
    throw new FoldError(`Cannot fold record: the run is bound to law "${record.body.scenario_law_identity}"`);
  }
  const { genesis } = record.body;
  return {
    run_key: record.run_key,
    scenario_id: record.body.scenario_id,
    scenario_law_identity: record.body.scenario_law_identity,
    ...genesis.kind === "parameters" ? { parameters: genesis.parameters } : {},
    head: { record_id: recordId, revision: 1 },
    status: "active",
    accepted_audit_instant: record.acceptance_time.accepted_audit_instant,
    stages: initialStages(law),
    committed_intent_count: 0,
    submission_count: 0,
    attempt_count: 0,
    recent_attempts: [],
  };
}

function stageAt(law: CompiledLaw, state: RunState, stageId: string): { index: number; stage: StageState } {
  const index = law.stageIndex.get(stageId);
  const stage = index === undefined ? undefined : state.stages[index];
  if (index === undefined || stage === undefined) {
    throw new FoldError(`Cannot fold record: stage "${stageId}" is not in the law`);
  }
  return { index, stage };
}

function opened(
  law: CompiledLaw,
  state: RunState,
  record: Extract<RunRecord, { record_kind: "stage_opened" }>,
  recordId: Identity,
): Partial<RunState> {
  const { index, stage } = stageAt(law, state, record.body.stage_id);
  if (stage.classification !== "ready_unopened") {
    throw new FoldError(`Cannot fold record: stage "${stage.stage_id}" is ${stage.classification}, not ready_unopened`);
  }
  const stages = [...state.stages];
  stages[index] = {
    ...stage,
    classification: "open_incomplete",
    stage_open_record_id: recordId,
    ...law.stages[index]?.acceptsSubmissions === true ? { stage_open_revision: record.revision } : {},
  };
  return { stages, committed_intent_count: state.committed_intent_count + record.body.intents.length };
}

function evaluated(
  law: CompiledLaw,
  state: RunState,
  record: Extract<RunRecord, { record_kind: "stage_evaluated" }>,
  recordId: Identity,
): Partial<RunState> {
  const { body } = record;
  const { index, stage } = stageAt(law, state, body.stage_id);
  if (stage.classification !== "open_incomplete") {
    throw new FoldError(
      `Cannot fold record: stage "${stage.stage_id}" is ${stage.classification}, not open_incomplete`,
    );
  }
  const completed = body.outcome === "true";
  const stages = [...state.stages];
  stages[index] = {
    ...stage,
    classification: completed ? "complete" : "open_incomplete",
    completion_record_id: completed ? recordId : null,
    attempt_count: stage.attempt_count + 1,
  };
  const after = completed ? stagesAfterCompletion(law, stages, index) : stages;
  const status = completed && stagesSatisfy(law.completion, law.completionStages, after) ? "complete" : state.status;
  const attempt_count = state.attempt_count + 1;
  if (body.completed !== completed || body.run_status !== status || body.attempt_number !== attempt_count) {
    throw new FoldError(`Cannot fold record: revision ${record.revision} does not say what follows from its outcome`);
  }
  return {
    stages: after,
    status,
    attempt_count,
    recent_attempts: [...state.recent_attempts.slice(1 - RECENT_ATTEMPTS), attemptOf(record, recordId)],
  };
}

function submitted(
  law: CompiledLaw,
  state: RunState,
  { body, revision }: Extract<RunRecord, { record_kind: "artifact_submitted" }>,
  recordId: Identity,
): Pick<RunState, "submission_count" | "submitted_evidence"> {
  const submission_count = state.submission_count + 1;
  const { evidence, scope } = body;
  if (evidence === undefined) return { submission_count };
  const stage = scope.kind === "stage_open" ? stageAt(law, state, scope.stage_id).stage : null;
  if (stage?.classification !== "open_incomplete") {
    throw new FoldError(`Cannot fold record: revision ${revision} is evidence for a stage that is not open`);
  }
  const { seen_head: _head, comment_hash: _comment, ...kept } = evidence;
  const waiting = {
    ...kept,
    stage_id: stage.stage_id,
    record_id: recordId,
    revision,
    submitted_at: body.time_source.reading_unix_millis,
  };
  return { submission_count, submitted_evidence: withSubmission(state.submitted_evidence ?? [], waiting) };
}

/** The state without the evidence that waited for a stage that is complete now. */
function withoutWaiting(state: RunState, stageId: string): RunState {
  const { submitted_evidence, ...rest } = state;
  const left = submitted_evidence?.filter(({ stage_id }) => stage_id !== stageId) ?? [];
  return left.length === 0 ? rest : { ...rest, submitted_evidence: left };
}

/**
 * The state after one more record. Pure: neither state nor record is changed.
 *
 * @param state The state before the record; null for the first record
 * @param recordId Identity of kind `run-record` over the record's canonical bytes
 * @throws {FoldError} If the record does not follow that state
 */
export function fold(law: CompiledLaw, state: RunState | null, record: RunRecord, recordId: Identity): RunState {
  if (state === null) return created(law, record, recordId);
  checkFollows(state, record);
  const next = {
    ...state,
    head: { record_id: recordId, revision: record.revision },
    accepted_audit_instant: record.acceptance_time.accepted_audit_instant,
  };
  switch (record.record_kind) {
    case "run_created":
      throw new FoldError(`Cannot fold record: run_created stands at revision ${record.revision}`);
    case "stage_opened":
      return { ...next, ...opened(law, state, record, recordId) };
    case "stage_evaluated":
      return record.body.completed && state.submitted_evidence !== undefined
        ? { ...withoutWaiting(next, record.body.stage_id), ...evaluated(law, state, record, recordId) }
        : { ...next, ...evaluated(law, state, record, recordId) };
    case "artifact_submitted":
      return { ...next, ...submitted(law, state, record, recordId) };
  }
}

/**
 * Identity of a state, of kind `run-state`. It is the same for everyone who folds the same records under the same law.
 */
export function stateIdentity(sha256: Sha256, state: RunState): Identity {
  return identify(sha256, "run-state", asJson(state));
}
