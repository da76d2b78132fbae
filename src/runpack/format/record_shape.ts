/**
 * The shape of the records of every known procedure (docs/format/records.md): closed objects, each member of its type.
 * The claims check how members relate to each other.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import { CHANNELS } from "../../law/decode_policy.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { CORRELATION_ID } from "../../run/decide/decide_create.ts";
import { ITEMS_PER_CALL } from "../../run/evidence.ts";
import { STATEMENTS_PER_STAGE } from "../../run/submitted_evidence.ts";
import { DISQUALIFICATION_REASONS, PROCEDURES, type RunRecord } from "../../run/types.ts";
import {
  anything,
  boolean,
  closed,
  contentHash,
  identity,
  integer,
  listOf,
  matches,
  matching,
  object,
  oneOf,
  operationIdentity,
  orNull,
  type Reader,
  text,
  variant,
} from "../../canonical/shape.ts";

/** Maximum items: those of a caller, those that waited, and those that acquisition adds. */
const EVIDENCE_ITEMS = ITEMS_PER_CALL + STATEMENTS_PER_STAGE + SPEC_LIMITS.acquisitionBindings;
/** Lines of a trace: at most one for each node of the requirement. */
const TRACE_LINES = SPEC_LIMITS.requirementNodes;
const INTENTS = SPEC_LIMITS.entryPackets * SPEC_LIMITS.packetSet;
/** Maximum roles or tenants of one caller. */
const ROLES = 4096;

/** Milliseconds since 1970, or before. */
const millis = integer(Number.MIN_SAFE_INTEGER);
const kleene = oneOf("true", "false", "unknown");
const timestamp = closed({ kind: oneOf("unix_millis", "logical"), value: millis });
const target = variant("kind", {
  agent: closed({ kind: text, agent_id: text }),
  session: closed({ kind: text, session_id: text }),
  external: closed({ kind: text, system: text, target: text }),
  channel: closed({ kind: text, channel: text }),
});
const timeSource = closed({ time_authority_id: text, authority_revision: text, reading_unix_millis: millis });
const correlationId = matching(
  "a correlation id",
  (value): value is string => typeof value === "string" && CORRELATION_ID.test(value),
);
const correlation = variant("kind", {
  unset: closed({ kind: text }),
  set: closed({ kind: text, correlation_id: correlationId }),
});
const genesis = variant("kind", {
  empty: closed({ kind: text }),
  declared: closed({ kind: text, payload_identity: identity, content_hash: contentHash }),
  parameters: closed({
    kind: text,
    parameters: listOf(
      closed({ parameter_id: text, value: closed({ value: anything, value_type: oneOf(...VALUE_TYPES) }) }),
      SPEC_LIMITS.parameters,
    ),
  }),
});
const scope = variant("kind", {
  run_wide: closed({ kind: text }),
  stage_open: closed({ kind: text, stage_id: text, stage_open_record_id: identity }),
});
const stageTrace = listOf(closed({ path: text, stage_id: text, value: oneOf("true", "false") }), TRACE_LINES);
const trace = listOf(
  closed({ path: text, condition_id: text, value: kleene }, {
    reason: oneOf("no_evidence", "disagreement", "unqualified", "type_mismatch", "error"),
  }),
  TRACE_LINES,
);
const witness = closed({
  binding_id: text,
  provider_id: text,
  check_id: text,
  contract_identity: identity,
  trigger_time: timestamp,
  acquired_at: millis,
  lane: oneOf("verified", "asserted"),
  evidence_ref: orNull(text),
  content_type: orNull(text),
  provider_result: object,
  grant: object,
}, { params: anything, trigger_time_given: oneOf(true) });
const signature = closed({ scheme: oneOf("ed25519"), key_id: text, signature: text });
const evidence = closed({
  item_id: text,
  condition_id: text,
  channel: oneOf(...CHANNELS),
  qualified: boolean,
  lane: oneOf("verified", "asserted"),
  retention: oneOf("RetainCanonicalValue", "RetainDigestOnly"),
}, {
  submission_record_id: identity,
  provider_id: text,
  binding_id: text,
  value_identity: identity,
  reason: oneOf(...DISQUALIFICATION_REASONS),
  error: closed({ code: text, message: text }, { details: anything }),
  value_type: oneOf(...VALUE_TYPES),
  content_hash: contentHash,
  hash_recomputes: oneOf(false),
  found_nothing: oneOf(true),
  observed_at: millis,
  signature,
  anchor: closed({ anchor_type: text, anchor_value: text }),
  schema_verdict: oneOf("valid", "invalid"),
  acquisition: witness,
});

const runCreated = closed({
  scenario_id: text,
  scenario_law_identity: identity,
  graph_identity: identity,
  correlation,
  genesis,
  run_allocation: closed({ authority_id: text }),
  contracts: listOf(
    closed({ provider_id: text, contract_identity: identity }, { provider_version_identity: identity }),
    SPEC_LIMITS.acquisitionBindings,
  ),
  schemas: listOf(closed({ schema_id: text, version: text, schema_identity: identity }), SPEC_LIMITS.schemas),
  time_source: timeSource,
});
const disclosure = closed({
  packet_id: text,
  target: orNull(target),
  verdict: oneOf("permit"),
  matched_rule: orNull(integer(0)),
});
const intent = closed({
  intent_id: identity,
  packet_id: text,
  target: orNull(target),
  content_hash: contentHash,
  content_type: text,
  visibility_labels: listOf(text, SPEC_LIMITS.packetSet),
  policy_tags: listOf(text, SPEC_LIMITS.packetSet),
  expiry: orNull(timestamp),
});
const stageOpened = closed({
  stage_id: text,
  prerequisite_trace: stageTrace,
  disclosures: listOf(disclosure, INTENTS),
  intents: listOf(intent, INTENTS),
  time_source: timeSource,
});
const stageEvaluated = closed({
  stage_id: text,
  attempt_number: integer(1),
  outcome: kleene,
  completed: boolean,
  trace,
  evidence: listOf(evidence, EVIDENCE_ITEMS),
  narrowed_bindings: listOf(text, SPEC_LIMITS.acquisitionBindings),
  run_status: oneOf("active", "complete"),
  time_source: timeSource,
}, { scenario_trace: stageTrace });
const artifactSubmitted = closed({
  content_type: text,
  scope,
  payload_identity: identity,
  content_hash: contentHash,
  time_source: timeSource,
}, {
  evidence: closed({
    condition_id: text,
    value_identity: orNull(identity),
    observed_at: millis,
    seen_head: closed({ record_id: identity, revision: integer(1) }),
    public_key: text,
    signature,
  }, {
    value_type: oneOf(...VALUE_TYPES),
    content_hash: contentHash,
    schema_verdict: oneOf("valid", "invalid"),
    valid_until: millis,
    comment_hash: contentHash,
  }),
});

function record(body: Reader<unknown>): Reader<unknown> {
  return closed({
    record_kind: text,
    revision: integer(1),
    previous_record_id: orNull(identity),
    run_key: closed({ namespace_id: integer(1), run_id: operationIdentity }),
    procedure: oneOf(...PROCEDURES),
    operation: closed({
      family: oneOf("create_run", "open_stage", "evaluate_stage", "submit"),
      identity: operationIdentity,
    }),
    invocation_identity: identity,
    acceptance_time: closed({
      accepted_audit_instant: millis,
      authority_revision: text,
      source_material_identity: identity,
      time_authority_id: text,
    }),
    admission: closed({
      kind: oneOf("local", "bearer", "mtls", "derived"),
      profile_id: identity,
      request_provenance_digest: contentHash,
    }),
    attribution: closed({
      principal: text,
      auth_method: oneOf("local", "bearer_token", "mtls"),
      roles_matched: listOf(text, ROLES),
      policy_class: orNull(text),
      tenants: orNull(listOf(integer(1), ROLES)),
    }),
    operator_profile: identity,
    body,
  });
}

const recordShape = variant("record_kind", {
  run_created: record(runCreated),
  stage_opened: record(stageOpened),
  stage_evaluated: record(stageEvaluated),
  artifact_submitted: record(artifactSubmitted),
});

/** Reads a value as a record; null where it has another shape. */
export function readRecord(value: JsonValue): RunRecord | null {
  return matches(recordShape, value) ? value as unknown as RunRecord : null;
}
