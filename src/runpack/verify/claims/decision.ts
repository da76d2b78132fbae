/**
 * The claims about the decision of a record. They hold where the kernel decides the record again byte for byte, and are
 * checked one by one where it does not.
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import type { Identity } from "../../../canonical/identity.ts";
import type { JsonValue } from "../../../canonical/json.ts";
import { isJsonContentType, isMediaType } from "../../../law/content_type.ts";
import { TRI, type Tri, triName, UNKNOWN } from "../../../law/value/truth.ts";
import type { Environment } from "../../../run/command.ts";
import type { CompiledLaw, CompiledStage } from "../../../run/compile.ts";
import { decide } from "../../../run/decide/decide.ts";
import { completionAfter, narrowedBindings } from "../../../run/decide/decide_evaluate.ts";
import { submitsEvidence } from "../../../run/decide/decide_submit.ts";
import { maximumPayloadBytes, rejectLeftOut } from "../../../run/evidence.ts";
import { traceStages } from "../../../run/frontier.ts";
import { hashPayload } from "../../../run/payload.ts";
import { asJson } from "../../../run/primitives.ts";
import { runProgram } from "../../../run/program.ts";
import { checkSubmitted } from "../../../run/submitted_evidence.ts";
import type { ContentHash, RunRecord, RunState, StageEvaluatedBody, TraceItem } from "../../../run/types.ts";
import { sameJson } from "../../format/canonical_text.ts";
import type { ClaimOf, ViolationCode } from "../claims.ts";
import { submitCommandOf } from "../decide_again.ts";
import { atRevision, violation } from "../findings.ts";
import { requestOf } from "../procedure_request.ts";
import { qualificationOf, requalify } from "../requalify.ts";
import { gapsOf, type RecordCheck, type Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** The check of each claim about a decision. */
export const DECISION_CHECKS: Readonly<Record<ClaimOf<"decision">, RecordCheck>> = {
  stage_open_consistency: checkOpening,
  evaluation_attempt_consistency: checkAttempt,
  submission_consistency: checkSubmission,
  intent_consistency: checkIntents,
  pure_semantic_replay: checkDecision,
};

/** Checks that the stage was ready, and that its prerequisite holds. */
function checkOpening({ record, before, law }: Step): Violation | null {
  if (record.record_kind !== "stage_opened") return null;
  const place = atRevision(record.revision);
  const index = law.stageIndex.get(record.body.stage_id) ?? -1;
  const compiled = law.stages[index];
  const stage = before?.stages[index];
  if (compiled === undefined || stage === undefined || before === null) return violation("stage_missing", place);
  if (stage.classification !== "ready_unopened" || before.status !== "active") {
    return violation("stage_state_mismatch", place);
  }
  const trace = compiled.prerequisite === null
    ? []
    : traceStages(compiled.prerequisite, compiled.prerequisiteStages, before.stages);
  return sameJson(trace, record.body.prerequisite_trace) ? null : violation("prerequisite_trace_mismatch", place);
}

/** Derives the outcome of an attempt from its trace. */
function checkAttempt(step: Step): Violation | null {
  if (step.record.record_kind !== "stage_evaluated") return null;
  const code = attemptFault(step, step.record.body);
  return code === null ? null : violation(code, atRevision(step.record.revision));
}

function attemptFault({ before, law }: Step, body: StageEvaluatedBody): ViolationCode | null {
  const index = law.stageIndex.get(body.stage_id) ?? -1;
  const compiled = law.stages[index];
  const stage = before?.stages[index];
  if (compiled === undefined || stage === undefined || before === null) return "stage_missing";
  if (stage.classification !== "open_incomplete" || before.status !== "active") return "stage_state_mismatch";
  if (body.attempt_number !== before.attempt_count + 1) return "attempt_number_mismatch";
  if (body.completed !== (body.outcome === "true")) return "completed_mismatch";
  const outcome = outcomeOf(compiled, body.trace);
  if (outcome === null) return "trace_mismatch";
  if (triName(outcome) !== body.outcome) return "outcome_mismatch";
  if (!sameJson(narrowedBindings(compiled, body.evidence), body.narrowed_bindings)) return "narrowed_bindings_mismatch";
  const narrowed = new Set(body.narrowed_bindings);
  if (rejectLeftOut(compiled, (bindingId) => !narrowed.has(bindingId)).length > 0) return "binding_required";
  const completion = body.completed ? completionAfter(law, before, body.stage_id) : null;
  if (!sameJson(completion?.scenario_trace ?? null, body.scenario_trace ?? null)) return "scenario_trace_mismatch";
  return body.run_status === (completion?.complete ? "complete" : before.status) ? null : "run_status_mismatch";
}

/** The truth of the requirement over the lines of the trace; null where they are not the lines of its leaves. */
function outcomeOf({ completion }: CompiledStage, trace: readonly TraceItem[]): Tri | null {
  if (trace.length !== completion.paths.length) return null;
  const values = new Uint8Array(completion.slots.length).fill(UNKNOWN);
  const seen = new Map<number, TraceItem>();
  for (const [visit, line] of trace.entries()) {
    const slot = completion.visits[visit] ?? -1;
    if (line.path !== completion.paths[visit] || line.condition_id !== completion.slots[slot]) return null;
    const earlier = seen.get(slot);
    // A condition has one truth, however often a requirement names it.
    if (earlier !== undefined && (earlier.value !== line.value || earlier.reason !== line.reason)) return null;
    seen.set(slot, line);
    if ((line.value === "unknown") !== (line.reason !== undefined)) return null;
    values[slot] = TRI[line.value];
  }
  return runProgram(completion, values);
}

/** Checks the payload, its content type and its scope; of evidence that waits also its statement. */
function checkSubmission(step: Step): Violation | null {
  const code = submissionFault(step);
  return code === null ? null : violation(code, atRevision(step.record.revision));
}

function submissionFault(step: Step): ViolationCode | null {
  const { record } = step;
  if (record.record_kind === "run_created") {
    return record.body.genesis.kind === "declared" ? payloadFault(step, record.body.genesis) : null;
  }
  if (record.record_kind !== "artifact_submitted") return null;
  return payloadFault(step, record.body) ?? placeFault(step, record);
}

function payloadFault(
  { values: { payload }, law, environment }: Step,
  named: { readonly payload_identity: Identity; readonly content_hash: ContentHash },
): ViolationCode | null {
  if (payload === "value_withheld") return null;
  if (payload === null) return "payload_missing";
  const hashed = hashPayload(environment.primitives.sha256, payload);
  if (hashed === null) return "payload_invalid";
  if (hashed.identity !== named.payload_identity) return "payload_mismatch";
  if (hashed.content_hash.value !== named.content_hash.value) return "content_hash_mismatch";
  return hashed.bytes > maximumPayloadBytes(law, environment.profile) ? "payload_invalid" : null;
}

type Submission = Extract<RunRecord, { record_kind: "artifact_submitted" }>;

/** The violation of scope, content type or statement that the kernel finds. */
function placeFault(
  { before, law, environment, values, seenRecordId }: Step,
  record: Submission,
): ViolationCode | null {
  const { payload } = values;
  if (before === null || payload === null) return null;
  if (payload === "value_withheld") return withheldFault(law, before, environment, record, seenRecordId);
  const command = submitCommandOf(record, before, payload, seenRecordId);
  const { outcome, records, result } = decide(law, before, command, { time: record.body.time_source }, environment);
  switch (outcome) {
    case "accepted":
      return isDecidedEvidence(record, records[0]?.record) ? null : "evidence_mismatch";
    case "content_type_rejected":
      return "content_type_invalid";
    case "payload_rejected":
      return codeOf(result["code"]);
    default:
      return "scope_mismatch";
  }
}

function isDecidedEvidence({ body }: Submission, decided: RunRecord | undefined): boolean {
  if (decided?.record_kind !== "artifact_submitted") return false;
  return sameJson(asJson(decided.body.evidence ?? {}), asJson(body.evidence ?? {}));
}

/** The statement of a withheld payload: everything but the value is in the record. */
function withheldFault(
  law: CompiledLaw,
  before: RunState,
  environment: Environment,
  { body: { content_type, scope, evidence, time_source } }: Submission,
  seenRecordId: Identity | undefined,
): ViolationCode | null {
  const stage = scope.kind === "stage_open" ? before.stages[law.stageIndex.get(scope.stage_id) ?? -1] : undefined;
  const isOpen = stage?.classification === "open_incomplete" && before.status === "active";
  if (scope.kind !== "stage_open" || !isOpen || stage.stage_open_record_id !== scope.stage_open_record_id) {
    return "scope_mismatch";
  }
  if (!isMediaType(content_type) || !isJsonContentType(content_type)) return "content_type_invalid";
  if (evidence === undefined || !submitsEvidence({ content_type }, environment)) return "evidence_mismatch";
  const reading = time_source.reading_unix_millis;
  const fault = checkSubmitted(law, before, environment, scope, evidence, seenRecordId, reading);
  return fault === null ? null : codeOf(fault.code);
}

/** The code of a rejected statement. A rejected payload of another kind has none. */
function codeOf(code: JsonValue | undefined): ViolationCode {
  switch (code) {
    case "signature_invalid":
      return "signature_invalid";
    case "seen_head_unknown":
      return "seen_head_mismatch";
    case "statement_not_newer":
    case "statement_in_future":
    case "statement_expired":
      return "statement_time_invalid";
    default:
      return "payload_invalid";
  }
}

/** Compares the intents and disclosures of an opened stage with those that the kernel decides. */
function checkIntents({ record, before, law, environment }: Step): Violation | null {
  if (record.record_kind !== "stage_opened" || before === null) return null;
  const { stage_id, time_source } = record.body;
  const command = { kind: "open", ...requestOf(record), expected_head: before.head, stage_id } as const;
  const decision = decide(law, before, command, { time: time_source }, environment);
  const place = atRevision(record.revision);
  // Another claim reports a stage that could not be opened. Where the policy denies, no intent can have been proposed.
  if (decision.outcome === "policy_denied") return violation("disclosure_mismatch", place);
  const decided = decision.outcome === "accepted" ? decision.records[0]?.record : undefined;
  if (decided?.record_kind !== "stage_opened") return null;
  if (!sameJson(decided.body.disclosures, record.body.disclosures)) return violation("disclosure_mismatch", place);
  return sameJson(decided.body.intents, record.body.intents) ? null : violation("intent_mismatch", place);
}

/** Decides the operation again, and compares the record. */
function checkDecision(step: Step): Violation | null {
  const { values } = step;
  const isAbsent = gapsOf(values).length > 0 || values.payload === "value_withheld";
  const holds = isAbsent ? isTraceable(step) : isDecided(step);
  return holds ? null : violation("decision_mismatch", atRevision(step.record.revision));
}

/** Whether the repeated decision yields exactly this record. */
function isDecided({ record, decision }: Pick<Step, "record" | "decision">): boolean {
  const decided = decision?.outcome === "accepted" ? decision.records[0] : undefined;
  return decided !== undefined && decided.text === canonicalize(asJson(record));
}

/** Whether an attempt with absent values has the trace lines that do not need them. */
function isTraceable(step: Step): boolean {
  const qualification = qualificationOf(step);
  if (qualification === null || step.record.record_kind !== "stage_evaluated") return true;
  const anew = requalify(step, qualification);
  if (anew === null) return false;
  return step.record.body.trace.every(({ condition_id, value, reason }) => {
    const judgement = anew.judgements.get(condition_id);
    return judgement === undefined || triName(judgement.value) === value && judgement.reason === reason;
  });
}
