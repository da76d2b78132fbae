/**
 * The types of heads, attempts, evidence and records in results. Each is written once and closed.
 *
 * @module
 */

import { type JsonObject, member } from "../../canonical/json.ts";
import { CHANNELS } from "../../law/decode_policy.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";
import { PREDICATE_NAMES } from "../../law/value/predicates.ts";
import { DISQUALIFICATION_REASONS } from "../../run/types.ts";
import {
  BOOLEAN,
  closed,
  IDENTITY,
  INTEGER,
  KLEENE,
  listOf,
  type Members,
  OBJECT,
  oneOfNames,
  orNull,
  ref,
  SHORT_IDENTITY,
  TEXT,
  TEXTS,
  variants,
} from "./output.ts";

/** The types of specs that results have too: domains, targets, typed values. */
const SPEC_TYPES = member(SPEC_SCHEMA, "$defs") as JsonObject;
const POLICY = member(member(SPEC_TYPES, "policy") as JsonObject, "properties") as Members;

/** The states of a stage. */
export const CLASSIFICATION: JsonObject = oneOfNames("blocked", "ready_unopened", "open_incomplete", "complete");
/** The states of a run. */
export const RUN_STATUS: JsonObject = oneOfNames("active", "complete");
/** The trust lanes of evidence. */
export const LANE: JsonObject = oneOfNames("verified", "asserted");
/** The members that name a run. */
export const RUN_MEMBERS: Members = { namespace_id: INTEGER, run_id: SHORT_IDENTITY };

/** Names, heads, and the time and origin of acceptance. */
const RECORD_PARTS: JsonObject = {
  head: closed({ record_id: IDENTITY, revision: INTEGER }),
  archived: closed({ runpack_identity: IDENTITY, archived_instant: INTEGER }),
  run_key: closed(RUN_MEMBERS),
  hash: closed({ algorithm: { const: "sha256" }, value: IDENTITY }),
  acceptance_time: closed({
    accepted_audit_instant: INTEGER,
    authority_revision: TEXT,
    source_material_identity: IDENTITY,
    time_authority_id: TEXT,
  }),
  admission: closed({
    kind: oneOfNames("local", "bearer", "mtls", "derived"),
    profile_id: IDENTITY,
    request_provenance_digest: ref("hash"),
  }),
  correlation: variants(closed({ kind: { const: "unset" } }), closed({ kind: { const: "set" }, correlation_id: TEXT })),
  genesis: variants(
    closed({ kind: { const: "empty" } }),
    closed({ kind: { const: "declared" }, payload_identity: IDENTITY, content_hash: ref("hash") }),
    closed({ kind: { const: "parameters" }, parameters: listOf(ref("parameter")) }),
  ),
  parameter: closed({ parameter_id: TEXT, value: ref("typed") }),
  operation: closed({
    family: oneOfNames("create_run", "open_stage", "evaluate_stage", "submit"),
    identity: SHORT_IDENTITY,
  }),
  scope: variants(
    closed({ kind: { const: "run_wide" } }),
    closed({ kind: { const: "stage_open" }, stage_id: TEXT, stage_open_record_id: IDENTITY }),
  ),
  time: closed({ kind: oneOfNames("unix_millis", "logical"), value: INTEGER }),
  next: {
    ...listOf(closed({ tool: TEXT, arguments_hint: OBJECT, why: TEXT })),
    description: "Calls that help, with the arguments that are known",
  },
};

const TRACE_MEMBERS: Members = { path: TEXT, condition_id: TEXT, value: KLEENE };
const TRACE_REASON: Members = {
  reason: oneOfNames("no_evidence", "disagreement", "unqualified", "type_mismatch", "error", "parameter_missing"),
};
const EVIDENCE_MEMBERS: Members = {
  item_id: TEXT,
  condition_id: TEXT,
  channel: oneOfNames(...CHANNELS),
  qualified: BOOLEAN,
};
const EVIDENCE_DETAILS: Members = {
  provider_id: TEXT,
  binding_id: TEXT,
  value_identity: IDENTITY,
  reason: oneOfNames(...DISQUALIFICATION_REASONS),
  error: ref("observed_error"),
};
const ATTEMPT_MEMBERS: Members = {
  attempt_number: INTEGER,
  record_id: IDENTITY,
  stage_id: TEXT,
  outcome: KLEENE,
  completed: BOOLEAN,
};
const ATTEMPT_DETAILS: Members = {
  causes: listOf(ref("unmet_cause")),
  missing: listOf(ref("stage_missing")),
  trace_left_out: INTEGER,
  evidence_left_out: INTEGER,
  causes_left_out: INTEGER,
};
const SETS: Members = { sets: listOf(listOf(ref("needed"))), complete: BOOLEAN };

/** Evaluations: their trace and evidence, and what is missing. */
const EVALUATION_PARTS: JsonObject = {
  observed_error: closed({ code: TEXT, message: TEXT }, { details: {} }),
  trace_item: closed(TRACE_MEMBERS, TRACE_REASON),
  explained_item: closed(TRACE_MEMBERS, {
    ...TRACE_REASON,
    error: ref("observed_error"),
    assumptions: listOf(
      oneOfNames("acquired", "anchored", "signed", "fresh", "lane_not_tested", "signature_not_bound"),
    ),
  }),
  stage_trace_item: closed({ path: TEXT, stage_id: TEXT, value: oneOfNames("true", "false") }),
  evidence_item: closed(EVIDENCE_MEMBERS, EVIDENCE_DETAILS),
  attempt: closed(
    { ...ATTEMPT_MEMBERS, trace: listOf(ref("trace_item")), evidence: listOf(ref("evidence_item")) },
    ATTEMPT_DETAILS,
  ),
  shown_attempt: closed(ATTEMPT_MEMBERS, {
    trace: listOf(ref("trace_item")),
    evidence: listOf(ref("shown_item")),
    withheld: { const: true },
    ...ATTEMPT_DETAILS,
  }),
  unmet_cause: closed({ condition_id: TEXT, value: KLEENE }, {
    ...TRACE_REASON,
    cause: TEXTS,
    counts: closed({ holds: INTEGER, fails: INTEGER, needed: INTEGER }),
  }),
  shown_item: closed({ ...EVIDENCE_MEMBERS, lane: LANE }, { ...EVIDENCE_DETAILS, value: ref("typed") }),
  needed: closed({ condition_id: TEXT, needed: BOOLEAN }),
  stage_missing: closed({ stage_id: TEXT, ...SETS, evidence: listOf(ref("counting_evidence")) }, {
    evidence_left_out: INTEGER,
    classification: CLASSIFICATION,
    waits_for: closed({ sets: listOf(TEXTS), complete: BOOLEAN }),
  }),
  counting_evidence: closed({
    condition_id: TEXT,
    channels: listOf(oneOfNames(...CHANNELS)),
    domain: ref("domain"),
    predicate: closed({ predicate: oneOfNames(...PREDICATE_NAMES) }, {
      expected: variants(ref("member"), listOf(ref("member")), ref("relative")),
    }),
    retention: oneOfNames("RetainCanonicalValue", "RetainDigestOnly"),
    policy: closed({}, {
      authorization: POLICY["authorization"] ?? {},
      authorized_key_ids: TEXTS,
      authorized_key_ids_left_out: INTEGER,
      combination: POLICY["combination"] ?? {},
      freshness: POLICY["freshness"] ?? {},
      independence: POLICY["independence"] ?? {},
      integrity: POLICY["integrity"] ?? {},
      required_assurance: POLICY["required_assurance"] ?? {},
      requires_all_bindings: { const: true },
    }),
  }, {
    minimum_lane: { const: "verified" },
    bindings: listOf(closed({ binding_id: TEXT, provider_id: TEXT, check_id: TEXT })),
  }),
};

/** The retained members of a submission. */
export const SUBMISSION_MEMBERS: Members = {
  content_type: TEXT,
  scope: ref("scope"),
  payload_identity: IDENTITY,
  content_hash: ref("hash"),
};
/** The retained members of a submission of evidence that waits. */
export const SUBMISSION_EVIDENCE: Members = { evidence: ref("submitted_evidence") };
/** The retained members of an intent. */
export const INTENT_MEMBERS: Members = {
  intent_id: IDENTITY,
  packet_id: TEXT,
  target: orNull(ref("target")),
  content_hash: ref("hash"),
  content_type: TEXT,
  visibility_labels: TEXTS,
  policy_tags: TEXTS,
  expiry: orNull(ref("time")),
};

/** Records, as the history returns them. */
const RECORDED: JsonObject = {
  time_source: closed({ time_authority_id: TEXT, authority_revision: TEXT, reading_unix_millis: INTEGER }),
  attribution: closed({
    principal: TEXT,
    auth_method: oneOfNames("local", "bearer_token", "mtls"),
    roles_matched: TEXTS,
    policy_class: orNull(TEXT),
    tenants: { oneOf: [listOf(INTEGER), { type: "null" }] },
  }),
  signature: closed({ scheme: { const: "ed25519" }, key_id: TEXT, signature: TEXT }),
  submitted_evidence: closed({
    condition_id: TEXT,
    value_identity: orNull(IDENTITY),
    observed_at: INTEGER,
    seen_head: ref("head"),
    public_key: TEXT,
    signature: ref("signature"),
  }, {
    value_type: TEXT,
    content_hash: ref("hash"),
    schema_verdict: oneOfNames("valid", "invalid"),
    valid_until: INTEGER,
    comment_hash: ref("hash"),
  }),
  anchor: closed({ anchor_type: TEXT, anchor_value: TEXT }),
  witness: closed({
    binding_id: TEXT,
    provider_id: TEXT,
    check_id: TEXT,
    contract_identity: IDENTITY,
    trigger_time: ref("time"),
    acquired_at: INTEGER,
    lane: LANE,
    evidence_ref: orNull(TEXT),
    content_type: orNull(TEXT),
    provider_result: OBJECT,
    grant: OBJECT,
  }, { params: {}, trigger_time_given: { const: true } }),
  recorded_item: closed({
    ...EVIDENCE_MEMBERS,
    lane: LANE,
    retention: oneOfNames("RetainCanonicalValue", "RetainDigestOnly"),
  }, {
    ...EVIDENCE_DETAILS,
    submission_record_id: IDENTITY,
    value_type: TEXT,
    content_hash: ref("hash"),
    hash_recomputes: { const: false },
    found_nothing: { const: true },
    observed_at: INTEGER,
    signature: ref("signature"),
    anchor: ref("anchor"),
    schema_verdict: oneOfNames("valid", "invalid"),
    acquisition: ref("witness"),
  }),
  run_created: closed({
    scenario_id: TEXT,
    scenario_law_identity: IDENTITY,
    graph_identity: IDENTITY,
    correlation: ref("correlation"),
    genesis: ref("genesis"),
    run_allocation: closed({ authority_id: TEXT }),
    contracts: listOf(closed({ provider_id: TEXT, contract_identity: IDENTITY })),
    schemas: listOf(closed({ schema_id: TEXT, version: TEXT, schema_identity: IDENTITY })),
    time_source: ref("time_source"),
  }),
  stage_opened: closed({
    stage_id: TEXT,
    prerequisite_trace: listOf(ref("stage_trace_item")),
    disclosures: listOf(closed({
      packet_id: TEXT,
      target: orNull(ref("target")),
      verdict: { const: "permit" },
      matched_rule: orNull(INTEGER),
    })),
    intents: listOf(closed(INTENT_MEMBERS)),
    time_source: ref("time_source"),
  }),
  stage_evaluated: closed({
    stage_id: TEXT,
    attempt_number: INTEGER,
    outcome: KLEENE,
    completed: BOOLEAN,
    trace: listOf(ref("trace_item")),
    evidence: listOf(ref("recorded_item")),
    narrowed_bindings: TEXTS,
    run_status: RUN_STATUS,
    time_source: ref("time_source"),
  }, { scenario_trace: listOf(ref("stage_trace_item")) }),
  artifact_submitted: closed({ ...SUBMISSION_MEMBERS, time_source: ref("time_source") }, SUBMISSION_EVIDENCE),
  record: variants(
    ...["run_created", "stage_opened", "stage_evaluated", "artifact_submitted"].map((record_kind) =>
      closed({
        record_kind: { const: record_kind },
        revision: INTEGER,
        previous_record_id: orNull(IDENTITY),
        run_key: ref("run_key"),
        procedure: TEXT,
        operation: ref("operation"),
        invocation_identity: IDENTITY,
        acceptance_time: ref("acceptance_time"),
        admission: ref("admission"),
        attribution: ref("attribution"),
        operator_profile: IDENTITY,
        body: ref(record_kind),
      })
    ),
  ),
};

/** The types of this module, and those of specs, by name. */
export const RECORD_TYPES: JsonObject = { ...SPEC_TYPES, ...RECORD_PARTS, ...EVALUATION_PARTS, ...RECORDED };
