/**
 * The types of outcomes: the results of accepted calls and of refusals. Each is written once and closed.
 *
 * @module
 */

import { type JsonObject, member } from "../../canonical/json.ts";
import { FEEDBACK_LEVELS } from "../../config/feedback_levels.ts";
import {
  BOOLEAN,
  closed,
  IDENTITY,
  INTEGER,
  listOf,
  type Members,
  oneOfNames,
  orNull,
  ref,
  SHORT_IDENTITY,
  TEXT,
  TEXTS,
  variants,
} from "./output.ts";
import {
  CLASSIFICATION,
  INTENT_MEMBERS,
  RECORD_TYPES,
  RUN_MEMBERS,
  RUN_STATUS,
  SUBMISSION_EVIDENCE,
  SUBMISSION_MEMBERS,
} from "./record_types.ts";

/** The result of an accepted mutation. */
function acceptedMutation(own: Members, optional: Members = {}): JsonObject {
  return closed({
    accepted_head: ref("head"),
    operation_id: ref("operation"),
    invocation_identity: IDENTITY,
    acceptance_time: ref("acceptance_time"),
    admission: ref("admission"),
    ...own,
  }, optional);
}

/** The result of an accepted call of several steps. */
function acceptedSteps(own: Members, optional: Members): JsonObject {
  const { operation_id: _, ...shared } = member(acceptedMutation({}), "properties") as Members;
  const step = closed({
    ...member(RECORD_TYPES["operation"] as JsonObject, "properties") as Members,
    record_id: IDENTITY,
  });
  return closed({ ...shared, operations: listOf(step), ...own, ready_frontier: TEXTS, run_status: RUN_STATUS }, {
    ...optional,
    feedback: ref("feedback"),
  });
}

/** The accepted results of mutations. */
const ACCEPTED: JsonObject = {
  creation: closed({
    acceptance_time: ref("acceptance_time"),
    admission: ref("admission"),
    correlation: ref("correlation"),
    creation_request_id: SHORT_IDENTITY,
    genesis: ref("genesis"),
    head: ref("head"),
    invocation_identity: IDENTITY,
    run_key: ref("run_key"),
    scenario_law_identity: IDENTITY,
  }),
  opening: acceptedMutation({
    stage_id: TEXT,
    stage_open_record_id: IDENTITY,
    entry_intents: listOf(ref("disclosed_intent")),
    ready_frontier: TEXTS,
  }, { entry_intents_left_out: INTEGER }),
  evaluation: acceptedMutation({
    stage_id: TEXT,
    attempt: ref("attempt"),
    ready_frontier: TEXTS,
    run_status: RUN_STATUS,
  }),
  submitting: acceptedMutation({ submission: ref("submission") }),
  next_step: acceptedSteps({ decision: ref("decision") }, {
    opened: closed({ stage_open_record_id: IDENTITY, entry_intents: listOf(ref("disclosed_intent")) }, {
      entry_intents_left_out: INTEGER,
    }),
  }),
  unrecorded_step: closed({
    accepted_head: ref("head"),
    recorded: { const: false },
    decision: ref("decision"),
    ready_frontier: TEXTS,
    run_status: RUN_STATUS,
  }, { feedback: ref("feedback") }),
  triggering: acceptedSteps({ decisions: listOf(ref("decision")) }, { submission: ref("submission") }),
  submission: closed({ record_id: IDENTITY, ...SUBMISSION_MEMBERS }, SUBMISSION_EVIDENCE),
  disclosed_intent: closed(INTENT_MEMBERS, { payload: ref("payload"), payload_left_out: { const: true } }),
  decision: closed({ kind: oneOfNames("advance", "hold", "complete"), stage_id: TEXT, unmet: TEXTS }, {
    unmet_left_out: INTEGER,
  }),
  feedback: closed({ level: oneOfNames(...FEEDBACK_LEVELS) }, {
    denied_reason: TEXT,
    attempts: listOf(ref("shown_attempt")),
    left_out: INTEGER,
  }),
};

const FAILURE_MEMBERS: Members = { code: TEXT, message: TEXT, retryable: BOOLEAN };
const USED_BY: Members = { invocation_identity: IDENTITY, accepted_invocation_identity: IDENTITY };
const PAYLOAD_REASONS = ["base64_invalid", "payload_too_large"];
const PAYLOAD_REJECTED: Members = { reason: oneOfNames(...PAYLOAD_REASONS) };
const PAYLOAD_BOUNDS: Members = { expected: TEXT, maximum_bytes: INTEGER, bytes: INTEGER };

function refused(required: Members, optional: Members = {}): JsonObject {
  return closed({ ...required, next: ref("next") }, optional);
}

/** The results of refusals, by outcome: an outcome has a result of the same type in every tool. */
const REFUSALS: JsonObject = {
  creation_conflict: refused({ creation_request_id: SHORT_IDENTITY, ...USED_BY }),
  scenario_not_found: refused({ namespace_id: INTEGER, scenario_id: TEXT }),
  law_not_found: refused({ namespace_id: INTEGER, scenario_id: TEXT, scenario_law_identity: IDENTITY }),
  genesis_rejected: refused({}, {
    ...PAYLOAD_REJECTED,
    ...PAYLOAD_BOUNDS,
    faults: listOf(closed({ code: TEXT, path: TEXT, message: TEXT }, { parameter_id: TEXT })),
  }),
  correlation_rejected: refused({ reason: { const: "correlation_id_invalid" }, expected: TEXT }),
  authority_unavailable: refused({ authority: oneOfNames("run_id", "time"), retryable: { const: true } }),
  operation_conflict: refused({ operation_id: ref("operation"), ...USED_BY }),
  run_not_found: refused(RUN_MEMBERS),
  stage_not_found: refused({ stage_id: TEXT, stages: TEXTS, stage_count: INTEGER }, { nearest: TEXTS }),
  stage_not_ready: refused({ reason: oneOfNames("run_complete", "prerequisite", "no_stage") }, {
    stage_id: TEXT,
    classification: CLASSIFICATION,
    prerequisite_trace: listOf(ref("stage_trace_item")),
    prerequisite_trace_left_out: INTEGER,
    ready_frontier: TEXTS,
  }),
  stage_already_opened: refused({ stage_id: TEXT, classification: CLASSIFICATION, stage_open_record_id: IDENTITY }),
  stage_not_open: refused({}, {
    stage_id: TEXT,
    classification: CLASSIFICATION,
    reason: oneOfNames("run_complete", "stage_not_found", "no_open_stage_with_binding"),
    ready_frontier: TEXTS,
  }),
  policy_denied: refused({
    reason: oneOfNames("denied", "rule_error", "packet_expired"),
    packet_id: TEXT,
    target: orNull(ref("target")),
    stage_id: TEXT,
    ready_frontier: TEXTS,
  }, { error_message: TEXT }),
  evidence_rejected: refused({ rejections: listOf(closed({ code: TEXT, path: TEXT, message: TEXT })) }, {
    stage_id: TEXT,
    rejections_left_out: INTEGER,
  }),
  acquisition_failed: refused({
    failures: listOf(variants(
      closed({ binding_id: TEXT, ...FAILURE_MEMBERS }, { stage_id: TEXT }),
      closed({ condition_id: TEXT, item_id: TEXT, ...FAILURE_MEMBERS }, { stage_id: TEXT }),
    )),
  }, { stage_id: TEXT, failures_left_out: INTEGER }),
  stage_open_mismatch: refused({ stage_id: TEXT, stage_open_record_id: IDENTITY }),
  content_type_rejected: refused({
    content_type: TEXT,
    reason: oneOfNames("not_a_media_type", "payload_mismatch"),
    expected: TEXT,
  }),
  payload_rejected: refused({ reason: oneOfNames(...PAYLOAD_REASONS, "evidence_invalid", "run_archived") }, {
    ...PAYLOAD_BOUNDS,
    code: TEXT,
    path: TEXT,
    message: TEXT,
    runpack_identity: IDENTITY,
  }),
  run_complete: refused({ accepted_head: ref("head"), run_status: { const: "complete" } }),
  known_unaccepted: refused({ reason: { const: "no_accepted_receipt" } }),
  invocation_mismatch: refused(USED_BY),
  unauthorized: refused({ reason: TEXT, message: TEXT }),
  indeterminate: refused({ reason: { const: "in_flight" }, retryable: { const: true } }),
  limit_exceeded: refused({ message: TEXT }),
  integrity_failure: refused({ message: TEXT }),
  repository_unavailable: refused({ message: TEXT, retryable: { const: true } }, { runpack_identity: IDENTITY }),
};

/** The types of this module, by name. */
export const OUTCOME_TYPES: JsonObject = { ...ACCEPTED, ...REFUSALS };

/** The variant of a refusal. The result of `stale` is the head alone, so its next steps stand beside it. */
function refusalOf(outcome: string): JsonObject {
  if (outcome === "stale") return closed({ outcome: { const: outcome }, result: ref("head"), next: ref("next") });
  if (member(REFUSALS, outcome) === undefined) throw new RangeError(`Cannot publish outcome "${outcome}": no type`);
  return closed({ outcome: { const: outcome }, result: ref(outcome) });
}

/** The variants of refusals. */
export function refusalsOf(outcomes: readonly string[]): JsonObject[] {
  return outcomes.map(refusalOf);
}

/** An outcome envelope: the accepted variant, whose result is a type or one of several, and the refusals. */
export function outcomeOf(accepted: readonly string[], refusals: readonly string[]): JsonObject {
  const [first = "", ...others] = accepted;
  const result = others.length === 0 ? ref(first) : variants(...accepted.map(ref));
  return closed({
    outcome: variants(closed({ outcome: { const: "accepted" }, result }), ...refusalsOf(refusals)),
  });
}
