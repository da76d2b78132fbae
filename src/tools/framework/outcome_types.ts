/** The types of outcomes: the results of accepted calls and of refusals. Each is written once and closed. */

import { FEEDBACK_LEVELS } from "../../config/feedback_levels.ts";
import {
  anyInteger,
  anyOf,
  boolean,
  closed,
  identity,
  oneOf,
  operationIdentity,
  orNull,
  text,
} from "../../canonical/shape.ts";
import { arrayOf, type Output, type Outputs, ref, texts } from "./output.ts";
import { INTENT, OPERATION, SUBMISSION, SUBMISSION_EVIDENCE } from "../../run/record_shapes.ts";
import { CLASSIFICATION, RUN_MEMBERS, RUN_STATUS } from "./record_types.ts";

const ADMITTED: Outputs = {
  invocation_identity: identity,
  acceptance_time: ref("acceptance_time"),
  admission: ref("admission"),
};

/** The result of an accepted mutation. */
function acceptedMutation(own: Outputs, optional: Outputs = {}): Output {
  return closed({ accepted_head: ref("head"), operation_id: ref("operation"), ...ADMITTED, ...own }, optional);
}

/** The result of an accepted call of several steps. */
function acceptedSteps(own: Outputs, optional: Outputs): Output {
  const head = { accepted_head: ref("head"), ...ADMITTED };
  const operations = arrayOf(closed({ ...OPERATION, record_id: identity }));
  return closed({ ...head, operations, ...own, ready_frontier: texts, run_status: RUN_STATUS }, {
    ...optional,
    feedback: ref("feedback"),
  });
}

/** The accepted results of mutations. */
const ACCEPTED: Outputs = {
  creation: closed({
    acceptance_time: ref("acceptance_time"),
    admission: ref("admission"),
    correlation: ref("correlation"),
    creation_request_id: operationIdentity,
    genesis: ref("genesis"),
    head: ref("head"),
    invocation_identity: identity,
    run_key: ref("run_key"),
    scenario_law_identity: identity,
  }),
  opening: acceptedMutation({
    stage_id: text,
    stage_open_record_id: identity,
    entry_intents: arrayOf(ref("disclosed_intent")),
    ready_frontier: texts,
  }, { entry_intents_left_out: anyInteger }),
  evaluation: acceptedMutation({
    stage_id: text,
    attempt: ref("attempt"),
    ready_frontier: texts,
    run_status: RUN_STATUS,
  }),
  submitting: acceptedMutation({ submission: ref("submission") }),
  next_step: acceptedSteps({ decision: ref("decision") }, {
    opened: closed({ stage_open_record_id: identity, entry_intents: arrayOf(ref("disclosed_intent")) }, {
      entry_intents_left_out: anyInteger,
    }),
  }),
  unrecorded_step: closed({
    accepted_head: ref("head"),
    recorded: oneOf(false),
    decision: ref("decision"),
    ready_frontier: texts,
    run_status: RUN_STATUS,
  }, { feedback: ref("feedback") }),
  triggering: acceptedSteps({ decisions: arrayOf(ref("decision")) }, { submission: ref("submission") }),
  submission: closed({ record_id: identity, ...SUBMISSION }, SUBMISSION_EVIDENCE),
  disclosed_intent: closed(INTENT, { payload: ref("payload"), payload_left_out: oneOf(true) }),
  decision: closed({ kind: oneOf("advance", "hold", "complete"), stage_id: text, unmet: texts }, {
    sentences: texts,
    unmet_left_out: anyInteger,
    sentences_left_out: anyInteger,
  }),
  feedback: closed({ level: oneOf(...FEEDBACK_LEVELS) }, {
    denied_reason: text,
    attempts: arrayOf(ref("shown_attempt")),
    left_out: anyInteger,
  }),
};

const FAILURE_MEMBERS: Outputs = { code: text, message: text, retryable: boolean };
const USED_BY: Outputs = { invocation_identity: identity, accepted_invocation_identity: identity };
const PAYLOAD_REASONS = ["base64_invalid", "payload_too_large"];
const PAYLOAD_REJECTED: Outputs = { reason: oneOf(...PAYLOAD_REASONS) };
const PAYLOAD_BOUNDS: Outputs = { expected: text, maximum_bytes: anyInteger, bytes: anyInteger };

function refused(required: Outputs, optional: Outputs = {}): Output {
  return closed({ ...required, next: ref("next") }, optional);
}

/** The results of refusals, by outcome: an outcome has a result of the same type in every tool. */
const REFUSALS: Outputs = {
  creation_conflict: refused({ creation_request_id: operationIdentity, ...USED_BY }),
  scenario_not_found: refused({ namespace_id: anyInteger, scenario_id: text }),
  law_not_found: refused({ namespace_id: anyInteger, scenario_id: text, scenario_law_identity: identity }),
  genesis_rejected: refused({}, {
    ...PAYLOAD_REJECTED,
    ...PAYLOAD_BOUNDS,
    faults: arrayOf(closed({ code: text, path: text, message: text }, { parameter_id: text })),
  }),
  correlation_rejected: refused({ reason: oneOf("correlation_id_invalid"), expected: text }),
  authority_unavailable: refused({ authority: oneOf("run_id", "time"), retryable: oneOf(true) }),
  operation_conflict: refused({ operation_id: ref("operation"), ...USED_BY }),
  run_not_found: refused(RUN_MEMBERS),
  stage_not_found: refused({ stage_id: text, stages: texts, stage_count: anyInteger }, { nearest: texts }),
  stage_not_ready: refused({ reason: oneOf("run_complete", "prerequisite", "no_stage") }, {
    stage_id: text,
    classification: CLASSIFICATION,
    prerequisite_trace: arrayOf(ref("stage_trace_item")),
    prerequisite_trace_left_out: anyInteger,
    ready_frontier: texts,
  }),
  stage_already_opened: refused({ stage_id: text, classification: CLASSIFICATION, stage_open_record_id: identity }),
  stage_not_open: refused({}, {
    stage_id: text,
    classification: CLASSIFICATION,
    reason: oneOf("run_complete", "stage_not_found", "no_open_stage_with_binding"),
    ready_frontier: texts,
  }),
  policy_denied: refused({
    reason: oneOf("denied", "rule_error", "packet_expired"),
    packet_id: text,
    target: orNull(ref("target")),
    stage_id: text,
    ready_frontier: texts,
  }, { error_message: text }),
  evidence_rejected: refused({ rejections: arrayOf(closed({ code: text, path: text, message: text })) }, {
    stage_id: text,
    rejections_left_out: anyInteger,
  }),
  acquisition_failed: refused({
    failures: arrayOf(anyOf(
      closed({ binding_id: text, ...FAILURE_MEMBERS }, { stage_id: text }),
      closed({ condition_id: text, item_id: text, ...FAILURE_MEMBERS }, { stage_id: text }),
    )),
  }, { stage_id: text, failures_left_out: anyInteger }),
  stage_open_mismatch: refused({ stage_id: text, stage_open_record_id: identity }),
  content_type_rejected: refused({
    content_type: text,
    reason: oneOf("not_a_media_type", "payload_mismatch"),
    expected: text,
  }),
  payload_rejected: refused({ reason: oneOf(...PAYLOAD_REASONS, "evidence_invalid", "run_archived") }, {
    ...PAYLOAD_BOUNDS,
    code: text,
    path: text,
    message: text,
    runpack_identity: identity,
  }),
  run_complete: refused({ accepted_head: ref("head"), run_status: oneOf("complete") }),
  known_unaccepted: refused({ reason: oneOf("no_accepted_receipt") }),
  invocation_mismatch: refused(USED_BY),
  unauthorized: refused({ reason: text, message: text }),
  indeterminate: refused({ reason: oneOf("in_flight"), retryable: oneOf(true) }),
  limit_exceeded: refused({ message: text }),
  integrity_failure: refused({ message: text }),
  repository_unavailable: refused({ message: text, retryable: oneOf(true) }, { runpack_identity: identity }),
};

/** The types of this module, by name. */
export const OUTCOME_TYPES: Outputs = { ...ACCEPTED, ...REFUSALS };

/** The variant of a refusal. The result of `stale` is the head alone, so its next steps stand beside it. */
function refusalOf(outcome: string): Output {
  if (outcome === "stale") return closed({ outcome: oneOf(outcome), result: ref("head"), next: ref("next") });
  if (!Object.hasOwn(REFUSALS, outcome)) throw new RangeError(`Cannot publish outcome "${outcome}": no type`);
  return closed({ outcome: oneOf(outcome), result: ref(outcome) });
}

/** The anyOf of refusals. */
export function refusalsOf(outcomes: readonly string[]): Output[] {
  return outcomes.map(refusalOf);
}

/** An outcome envelope: the accepted variant, whose result is a type or one of several, and the refusals. */
export function outcomeOf(accepted: readonly string[], refusals: readonly string[]): Output {
  const [first = "", ...others] = accepted;
  const result = others.length === 0 ? ref(first) : anyOf(...accepted.map(ref));
  return closed({ outcome: anyOf(closed({ outcome: oneOf("accepted"), result }), ...refusalsOf(refusals)) });
}
