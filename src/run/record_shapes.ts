/**
 * The shape of the records of every known procedure (docs/format/records.md): closed objects, each member of its type.
 * The types in the code, the reader of runpacks and the schemas of results of tools follow from it. The claims check
 * how members relate to each other.
 */

import { words } from "../canonical/words.ts";
import {
  anyInteger,
  anything,
  boolean,
  type Closed,
  closed,
  identity,
  integer,
  listOf,
  matching,
  named,
  object,
  oneOf,
  operationIdentity,
  orNull,
  type Read,
  type Reader,
  shape,
  text,
  variant,
} from "../canonical/shape.ts";
import { CHANNELS } from "../law/decode_policy.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { VALUE_TYPES } from "../law/value/types.ts";

/** The kernel procedures, the oldest first. A record names the one that made it, and every replay uses that one. */
export const PROCEDURES = ["gate-kernel-1", "gate-kernel-2"] as const;

/** Why an item does not count (the closed list of docs/format/records.md). */
export const DISQUALIFICATION_REASONS = words(
  "channel authorization lane not_fresh not_independent integrity assurance scope",
);

/** A correlation id: 1 to 128 token characters (RFC 9110, 5.6.2). */
export const CORRELATION_ID = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Most evidence items of one call. */
export const ITEMS_PER_CALL = 4096;
/** Most statements of an opening: the newest of each key for each condition. */
export const STATEMENTS_PER_STAGE = 4096;

/** Maximum items: those of a caller, those that waited, and those that acquisition adds. */
const EVIDENCE_ITEMS = ITEMS_PER_CALL + STATEMENTS_PER_STAGE + SPEC_LIMITS.acquisitionBindings;
/** Lines of a trace: at most one for each node of the requirement. */
const TRACE_LINES = SPEC_LIMITS.requirementNodes;
const INTENTS = SPEC_LIMITS.entryPackets * SPEC_LIMITS.packetSet;
/** Maximum roles or tenants of one caller. */
const ROLES = 4096;

/** A shape that results of tools describe as a string. */
function asText<T>(read: Reader<T>): Reader<T> {
  return shape(read, () => ({ type: "string" }));
}

/** Milliseconds since 1970, or before. */
const millis = anyInteger;
const kleene = oneOf("true", "false", "unknown");
const verdict = oneOf("valid", "invalid");
const valueType = asText(oneOf(...VALUE_TYPES));
const lane = oneOf("verified", "asserted");

/** A plain content hash, without a label. */
export type ContentHash = Read<typeof hash>;
const hash = named("hash", closed({ algorithm: oneOf("sha256"), value: identity }));

const time = named("time", closed({ kind: oneOf("unix_millis", "logical"), value: millis }));

const target = named(
  "target",
  variant("kind", {
    agent: closed({ kind: oneOf("agent"), agent_id: text }),
    session: closed({ kind: oneOf("session"), session_id: text }),
    external: closed({ kind: oneOf("external"), system: text, target: text }),
    channel: closed({ kind: oneOf("channel"), channel: text }),
  }),
);

/** The accepted head of a run: its last record. */
export type Head = Read<typeof head>;
const head = named("head", closed({ record_id: identity, revision: integer(1) }));

/** Names a run. `run_id` is 32 lower-case hex digits. */
export type RunKey = Read<typeof runKey>;
const runKey = named("run_key", closed({ namespace_id: integer(1), run_id: operationIdentity }));

/** The identity that the caller gave a mutation. With it the caller can ask again for an answer that was lost. */
export type OperationId = Read<typeof operation>;
/** The members of an operation's name. */
export const OPERATION = {
  family: oneOf("create_run", "open_stage", "evaluate_stage", "submit"),
  identity: operationIdentity,
};
const operation = named("operation", closed(OPERATION));
/** Operation families; an operation identity is unique within a run and family. `create_run` is keyed by namespace. */
export type OperationFamily = OperationId["family"];

/** A reading of the time authority, before clamping. The record body retains it as `time_source`. */
export type TimeSource = Read<typeof timeSource>;
const timeSource = named(
  "time_source",
  closed({
    time_authority_id: text,
    authority_revision: text,
    /** The time that the authority read, Unix milliseconds; may be before an earlier record. */
    reading_unix_millis: millis,
  }),
);

/** When a record was accepted, and by the time of which authority. */
export type AcceptanceTime = Read<typeof acceptanceTime>;
const acceptanceTime = named(
  "acceptance_time",
  closed({
    /** Unix milliseconds, never below that of the previous record. */
    accepted_audit_instant: millis,
    authority_revision: text,
    /** Identity of kind `time-source` over the {@link TimeSource}. */
    source_material_identity: identity,
    time_authority_id: text,
  }),
);

/** How a mutation was admitted, and under which profile. */
export type Admission = Read<typeof admission>;
const admission = named(
  "admission",
  closed({
    kind: oneOf("local", "bearer", "mtls", "derived"),
    /** Identity of the operator profile. */
    profile_id: identity,
    /** SHA-256 over the canonical bytes of `{attribution, invocation_identity}`. */
    request_provenance_digest: hash,
  }),
);

/** The caller of a mutation. A token appears as its fingerprint only. */
export type Attribution = Read<typeof attribution>;
const attribution = named(
  "attribution",
  closed({
    principal: text,
    auth_method: oneOf("local", "bearer_token", "mtls"),
    roles_matched: listOf(text, ROLES),
    policy_class: orNull(text),
    /** Tenants of the caller; null means every tenant. */
    tenants: orNull(listOf(integer(1), ROLES)),
  }),
);

/** The caller's correlation of a run. */
export type Correlation = Read<typeof correlation>;
const isCorrelationId = (value: unknown): value is string => typeof value === "string" && CORRELATION_ID.test(value);
const correlation = named(
  "correlation",
  variant("kind", {
    unset: closed({ kind: oneOf("unset") }),
    set: closed({
      kind: oneOf("set"),
      correlation_id: matching("a correlation id", isCorrelationId, { type: "string" }),
    }),
  }),
);

const genesis = named(
  "genesis",
  variant("kind", {
    empty: closed({ kind: oneOf("empty") }),
    declared: closed({ kind: oneOf("declared"), payload_identity: identity, content_hash: hash }),
    parameters: closed({
      kind: oneOf("parameters"),
      /** The values of all parameters of the law, sorted by id. */
      parameters: listOf(
        named(
          "parameter",
          closed({
            parameter_id: text,
            value: named("typed", closed({ value: anything, value_type: oneOf(...VALUE_TYPES) })),
          }),
        ),
        SPEC_LIMITS.parameters,
      ),
    }),
  }),
);

/** The scope of a submission: the run, or one opening of a stage. */
export type SubmissionScope = Read<typeof scope>;
const scope = named(
  "scope",
  variant("kind", {
    run_wide: closed({ kind: oneOf("run_wide") }),
    stage_open: closed({ kind: oneOf("stage_open"), stage_id: text, stage_open_record_id: identity }),
  }),
);

/** One line of a prerequisite or scenario-requirement trace. */
export type StageTraceItem = Read<typeof stageTraceItem>;
const stageTraceItem = named(
  "stage_trace_item",
  closed({ path: text, stage_id: text, value: oneOf("true", "false") }),
);

/** One line of an evaluation trace: the visit of one leaf. */
export interface TraceItem extends Omit<Read<typeof traceItem>, "reason"> {
  /** A parameter is missing only where evidence is tried without a run. */
  readonly reason?: Read<typeof traceReason> | "parameter_missing";
}
const traceReason = oneOf("no_evidence", "disagreement", "unqualified", "type_mismatch", "error");
const traceItem = named(
  "trace_item",
  closed({
    /** JSON path of the leaf in the requirement, whose root is `$`. */
    path: text,
    condition_id: text,
    value: kleene,
  }, { reason: traceReason }),
);

/** An error recorded with an acquired item. It makes the condition Unknown. */
export type ObservedError = Read<typeof observedError>;
const observedError = named("observed_error", closed({ code: text, message: text }, { details: anything }));

/** Signature over an evidence statement (docs/format/evidence_statement.md): base64 of 64 bytes. */
export type EvidenceSignature = Read<typeof signature>;
const signature = named("signature", closed({ scheme: oneOf("ed25519"), key_id: text, signature: text }));

/** Where a value came from, according to its source. */
export type EvidenceAnchor = Read<typeof anchor>;
const anchor = named("anchor", closed({ anchor_type: text, anchor_value: text }));

/** The part of an acquisition that a replay needs. A record retains it with the acquired item. */
export type AcquisitionWitness = Read<typeof witness>;
const witness = named(
  "witness",
  closed({
    binding_id: text,
    provider_id: text,
    check_id: text,
    /** Identity of the provider's contract, equal to the one bound in `run_created`. */
    contract_identity: identity,
    trigger_time: time,
    /** Unix milliseconds when the provider answered. */
    acquired_at: millis,
    lane,
    evidence_ref: orNull(text),
    content_type: orNull(text),
    /**
     * The whole provider result as received, its `value` replaced by `{kind, content_hash, value_identity}`.
     * `content_hash` is the plain hash of the value as the source gave it. `value_identity` names the value of the
     * domain that was read from it, null if the value does not fit the domain. A `value` of null means that the check
     * found nothing.
     */
    provider_result: object,
    /** The grant in force: root id, host names, names of environment variables, program base name; never a path. */
    grant: object,
  }, {
    /** The params with the values of the run; absent if the law has them as they are. */
    params: anything,
    /** True if the caller gave the trigger time; absent if it is the stamp of the time authority. */
    trigger_time_given: oneOf(true),
  }),
);

/** The members of an item that every answer shows. */
export const ITEM = { item_id: text, condition_id: text, channel: oneOf(...CHANNELS), qualified: boolean };
/** Those that not every item has. */
export const ITEM_DETAILS = {
  provider_id: text,
  binding_id: text,
  value_identity: identity,
  reason: oneOf(...DISQUALIFICATION_REASONS),
  error: observedError,
};

/** An evidence item as answers show it. */
export type EvidenceItem = Closed<typeof ITEM, typeof ITEM_DETAILS>;

/** An evidence item as a record retains it, with everything that qualification reads. */
export type RecordedEvidence = Read<typeof recordedItem>;
const recordedItem = named(
  "recorded_item",
  closed({ ...ITEM, lane, retention: oneOf("RetainCanonicalValue", "RetainDigestOnly") }, {
    ...ITEM_DETAILS,
    /** Exactly for an item of the channel `accepted_submission`: the record of the submission. */
    submission_record_id: identity,
    value_type: valueType,
    /**
     * Plain hash of the value's canonical bytes. A signed statement may name it; for a value not retained it is the
     * only hash.
     */
    content_hash: hash,
    /** False if the hash that the source gave does not recompute; absent if it does, or if the source gave no hash. */
    hash_recomputes: oneOf(false),
    /** True if acquisition succeeded and found nothing. */
    found_nothing: oneOf(true),
    /** Unix milliseconds, from the caller or the signed statement. */
    observed_at: millis,
    signature,
    anchor,
    /** Verdict of the condition's `Json.schema` on the value; absent without such a schema. */
    schema_verdict: verdict,
    acquisition: witness,
  }),
);

/** The contract that a run is bound to for one provider. */
export type BoundContract = Read<typeof boundContract>;
const boundContract = closed({ provider_id: text, contract_identity: identity }, {
  /** Kind `provider-version`; absent for a provider that is not typed. */
  provider_version_identity: identity,
});

/** Body of the first record of a run. */
export type RunCreatedBody = Read<typeof runCreated>;
const runCreated = named(
  "run_created",
  closed({
    scenario_id: text,
    scenario_law_identity: identity,
    graph_identity: identity,
    correlation,
    genesis,
    run_allocation: closed({ authority_id: text }),
    contracts: listOf(boundContract, SPEC_LIMITS.acquisitionBindings),
    schemas: listOf(closed({ schema_id: text, version: text, schema_identity: identity }), SPEC_LIMITS.schemas),
    time_source: timeSource,
  }),
);

/** Verdict of the disclosure policy on one intent, in (packet, target) order. */
export type Disclosure = Read<typeof disclosure>;
const disclosure = closed({
  packet_id: text,
  target: orNull(target),
  verdict: oneOf("permit"),
  /** Index of the static rule that decided; null for the default of the engine. */
  matched_rule: orNull(integer(0)),
});

/** One disclosure that the opening of a stage proposes, once. */
export type Intent = Read<typeof intent>;
/** The members of an intent. */
export const INTENT = {
  intent_id: identity,
  packet_id: text,
  target: orNull(target),
  content_hash: hash,
  content_type: text,
  visibility_labels: listOf(text, SPEC_LIMITS.packetSet),
  policy_tags: listOf(text, SPEC_LIMITS.packetSet),
  expiry: orNull(time),
};
const intent = closed(INTENT);

/** Body of a stage opening. */
export type StageOpenedBody = Read<typeof stageOpened>;
const stageOpened = named(
  "stage_opened",
  closed({
    stage_id: text,
    prerequisite_trace: listOf(stageTraceItem, TRACE_LINES),
    disclosures: listOf(disclosure, INTENTS),
    intents: listOf(intent, INTENTS),
    time_source: timeSource,
  }),
);

/** Body of an evaluation. */
export type StageEvaluatedBody = Read<typeof stageEvaluated>;
const stageEvaluated = named(
  "stage_evaluated",
  closed({
    stage_id: text,
    attempt_number: integer(1),
    outcome: kleene,
    completed: boolean,
    trace: listOf(traceItem as Reader<TraceItem>, TRACE_LINES),
    evidence: listOf(recordedItem, EVIDENCE_ITEMS),
    /** Bindings of the stage that the call did not ask, in binding id order. */
    narrowed_bindings: listOf(text, SPEC_LIMITS.acquisitionBindings),
    run_status: oneOf("active", "complete"),
    time_source: timeSource,
  }, {
    /** Present if this evaluation completed the stage: the scenario requirement over the stages after it. */
    scenario_trace: listOf(stageTraceItem, TRACE_LINES),
  }),
);

/** Evidence that waits, as the record of its submission retains it. Times are Unix milliseconds. */
export type SubmittedEvidence = Read<typeof submittedEvidence>;
const submittedEvidence = named(
  "submitted_evidence",
  closed({
    condition_id: text,
    /** Null withdraws the earlier statement of the key. */
    value_identity: orNull(identity),
    observed_at: millis,
    /** The head of the run that the signer saw. */
    seen_head: head,
    /** Base64 of the 32 bytes of the key. */
    public_key: text,
    signature,
  }, {
    /** Absent for a withdrawal, as `content_hash`. */
    value_type: valueType,
    content_hash: hash,
    /** Verdict of the condition's `Json.schema` on the value; absent without such a schema. */
    schema_verdict: verdict,
    valid_until: millis,
    /** Plain SHA-256 over the UTF-8 bytes of the comment. */
    comment_hash: hash,
  }),
);

/** The members of a submission that records and answers have. */
export const SUBMISSION = { content_type: text, scope, payload_identity: identity, content_hash: hash };
/** Present for evidence that waits. */
export const SUBMISSION_EVIDENCE = { evidence: submittedEvidence };

/** Body of a submission. */
export type ArtifactSubmittedBody = Read<typeof artifactSubmitted>;
const artifactSubmitted = named(
  "artifact_submitted",
  closed({ ...SUBMISSION, time_source: timeSource }, SUBMISSION_EVIDENCE),
);

const ENVELOPE = {
  revision: integer(1),
  previous_record_id: orNull(identity),
  run_key: runKey,
  procedure: asText(oneOf(...PROCEDURES)),
  operation,
  invocation_identity: identity,
  acceptance_time: acceptanceTime,
  admission,
  attribution,
  operator_profile: identity,
};

/** An accepted record. Its identity is of kind `run-record` over its canonical bytes. */
export type RunRecord = Read<typeof recordShape>;
/** The shape of a record. */
export const recordShape = named(
  "record",
  variant("record_kind", {
    run_created: closed({ record_kind: oneOf("run_created"), ...ENVELOPE, body: runCreated }),
    stage_opened: closed({ record_kind: oneOf("stage_opened"), ...ENVELOPE, body: stageOpened }),
    stage_evaluated: closed({ record_kind: oneOf("stage_evaluated"), ...ENVELOPE, body: stageEvaluated }),
    artifact_submitted: closed({ record_kind: oneOf("artifact_submitted"), ...ENVELOPE, body: artifactSubmitted }),
  }),
);
