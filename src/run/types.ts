/**
 * Records of a run, and the state that they fold to (docs/format/records.md). Every type has exactly the members of its
 * JSON form, so its values are canonicalised, hashed and stored without a conversion.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { Channel, ParameterValue, Target, Timestamp } from "../law/types.ts";

/** The kernel procedures, the oldest first. A record names the one that made it, and every replay uses that one. */
export const PROCEDURES = ["gate-kernel-1", "gate-kernel-2"] as const;

/** The name of a kernel procedure. */
export type ProcedureName = typeof PROCEDURES[number];

/** The procedure of every new record. */
export const PROCEDURE: ProcedureName = "gate-kernel-2";

/** The accepted head of a run: its last record. */
export interface Head {
  readonly record_id: Identity;
  readonly revision: number;
}

/** Names a run. `run_id` is 32 lower-case hex digits. */
export interface RunKey {
  readonly namespace_id: number;
  readonly run_id: string;
}

/** Operation families; an operation identity is unique within a run and family. `create_run` is keyed by namespace. */
export type OperationFamily = "create_run" | "open_stage" | "evaluate_stage" | "submit";

/** The identity that the caller gave a mutation. With it the caller can ask again for an answer that was lost. */
export interface OperationId {
  readonly family: OperationFamily;
  /** 32 lower-case hex digits. */
  readonly identity: string;
}

/** A reading of the time authority, before clamping. The record body retains it as `time_source`. */
export interface TimeSource {
  readonly time_authority_id: string;
  readonly authority_revision: string;
  /** The time that the authority read, Unix milliseconds; may be before an earlier record. */
  readonly reading_unix_millis: number;
}

/** When a record was accepted, and by the time of which authority. */
export interface AcceptanceTime {
  /** Unix milliseconds, never below that of the previous record. */
  readonly accepted_audit_instant: number;
  readonly authority_revision: string;
  /** Identity of kind `time-source` over the {@link TimeSource}. */
  readonly source_material_identity: Identity;
  readonly time_authority_id: string;
}

/** A plain content hash, without a label. */
export interface ContentHash {
  readonly algorithm: "sha256";
  readonly value: string;
}

/** How a mutation was admitted, and under which profile. */
export interface Admission {
  readonly kind: "local" | "bearer" | "mtls" | "derived";
  /** Identity of the operator profile. */
  readonly profile_id: Identity;
  /** SHA-256 over the canonical bytes of `{attribution, invocation_identity}`. */
  readonly request_provenance_digest: ContentHash;
}

/** The caller of a mutation. A token appears as its fingerprint only. */
export interface Attribution {
  readonly principal: string;
  readonly auth_method: "local" | "bearer_token" | "mtls";
  readonly roles_matched: readonly string[];
  readonly policy_class: string | null;
  /** Tenants of the caller; null means every tenant. */
  readonly tenants: readonly number[] | null;
}

/** The caller's correlation of a run. */
export type Correlation = { readonly kind: "unset" } | { readonly kind: "set"; readonly correlation_id: string };

/** One line of an evaluation trace: the visit of one leaf. */
export interface TraceItem {
  /** JSON path of the leaf in the requirement, whose root is `$`. */
  readonly path: string;
  readonly condition_id: string;
  readonly value: "true" | "false" | "unknown";
  readonly reason?: "no_evidence" | "disagreement" | "unqualified" | "type_mismatch" | "error" | "parameter_missing";
}

/** One line of a prerequisite or scenario-requirement trace. */
export interface StageTraceItem {
  readonly path: string;
  readonly stage_id: string;
  readonly value: "true" | "false";
}

/** Why an item does not count (the closed list of docs/format/records.md). */
export const DISQUALIFICATION_REASONS = [
  "channel",
  "authorization",
  "lane",
  "not_fresh",
  "not_independent",
  "integrity",
  "assurance",
  "scope",
] as const;

/** One of {@link DISQUALIFICATION_REASONS}. */
export type DisqualificationReason = typeof DISQUALIFICATION_REASONS[number];

/** An error recorded with an acquired item. It makes the condition Unknown. */
export interface ObservedError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonValue;
}

/** An evidence item as answers show it. */
export interface EvidenceItem {
  readonly item_id: string;
  readonly condition_id: string;
  readonly channel: Channel;
  readonly provider_id?: string;
  readonly binding_id?: string;
  readonly value_identity?: Identity;
  readonly qualified: boolean;
  readonly reason?: DisqualificationReason;
  readonly error?: ObservedError;
}

/** Signature over an evidence statement (docs/format/evidence_statement.md). */
export interface EvidenceSignature {
  readonly scheme: "ed25519";
  readonly key_id: string;
  /** Base64 of 64 bytes. */
  readonly signature: string;
}

/** Where a value came from, according to its source. */
export interface EvidenceAnchor {
  readonly anchor_type: string;
  readonly anchor_value: string;
}

/** The part of an acquisition that a replay needs. A record retains it with the acquired item. */
export interface AcquisitionWitness {
  readonly binding_id: string;
  readonly provider_id: string;
  readonly check_id: string;
  /** Identity of the provider's contract, equal to the one bound in `run_created`. */
  readonly contract_identity: Identity;
  /** The params with the values of the run; absent if the law has them as they are. */
  readonly params?: JsonValue;
  readonly trigger_time: Timestamp;
  /** True if the caller gave the trigger time; absent if it is the stamp of the time authority. */
  readonly trigger_time_given?: true;
  /** Unix milliseconds when the provider answered. */
  readonly acquired_at: number;
  readonly lane: "verified" | "asserted";
  readonly evidence_ref: string | null;
  readonly content_type: string | null;
  /**
   * The whole provider result as received, its `value` replaced by `{kind, content_hash, value_identity}`.
   * `content_hash` is the plain hash of the value as the source gave it. `value_identity` names the value of the domain
   * that was read from it, null if the value does not fit the domain. A `value` of null means that the check found
   * nothing.
   */
  readonly provider_result: JsonObject;
  /** The grant in force: root id, host names, names of environment variables, program base name; never a path. */
  readonly grant: JsonObject;
}

/** An evidence item as a record retains it, with everything that qualification reads. */
export interface RecordedEvidence extends EvidenceItem {
  /** Exactly for an item of the channel `accepted_submission`: the record of the submission. */
  readonly submission_record_id?: Identity;
  readonly lane: "verified" | "asserted";
  readonly retention: "RetainCanonicalValue" | "RetainDigestOnly";
  readonly value_type?: string;
  /**
   * Plain hash of the value's canonical bytes. A signed statement may name it; for a value not retained it is the only
   * hash.
   */
  readonly content_hash?: ContentHash;
  /** False if the hash that the source gave does not recompute; absent if it does, or if the source gave no hash. */
  readonly hash_recomputes?: false;
  /** True if acquisition succeeded and found nothing. */
  readonly found_nothing?: true;
  /** Unix milliseconds, from the caller or the signed statement. */
  readonly observed_at?: number;
  readonly signature?: EvidenceSignature;
  readonly anchor?: EvidenceAnchor;
  /** Verdict of the condition's `Json.schema` on the value; absent without such a schema. */
  readonly schema_verdict?: "valid" | "invalid";
  readonly acquisition?: AcquisitionWitness;
}

/** One evaluation of a stage. */
export interface Attempt
  extends Pick<StageEvaluatedBody, "attempt_number" | "stage_id" | "outcome" | "completed" | "trace"> {
  readonly record_id: Identity;
  readonly evidence: readonly EvidenceItem[];
}

/** One disclosure that the opening of a stage proposes, once. */
export interface Intent {
  readonly intent_id: Identity;
  readonly packet_id: string;
  readonly target: Target | null;
  readonly content_hash: ContentHash;
  readonly content_type: string;
  readonly visibility_labels: readonly string[];
  readonly policy_tags: readonly string[];
  readonly expiry: Timestamp | null;
}

/** Verdict of the disclosure policy on one intent, in (packet, target) order. */
export interface Disclosure {
  readonly packet_id: string;
  readonly target: Target | null;
  readonly verdict: "permit";
  /** Index of the static rule that decided; null for the default of the engine. */
  readonly matched_rule: number | null;
}

/** The scope of a submission: the run, or one opening of a stage. */
export type SubmissionScope =
  | { readonly kind: "run_wide" }
  | { readonly kind: "stage_open"; readonly stage_id: string; readonly stage_open_record_id: Identity };

/** The contract that a run is bound to for one provider. */
export interface BoundContract {
  readonly provider_id: string;
  readonly contract_identity: Identity;
  /** Kind `provider-version`; absent for a provider that is not typed. */
  readonly provider_version_identity?: Identity;
}

/** Body of the first record of a run. */
export interface RunCreatedBody {
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  readonly correlation: Correlation;
  readonly genesis:
    | { readonly kind: "empty" }
    | { readonly kind: "declared"; readonly payload_identity: Identity; readonly content_hash: ContentHash }
    /** The values of all parameters of the law, sorted by id. */
    | { readonly kind: "parameters"; readonly parameters: readonly ParameterValue[] };
  readonly run_allocation: { readonly authority_id: string };
  readonly contracts: readonly BoundContract[];
  readonly schemas: readonly {
    readonly schema_id: string;
    readonly version: string;
    readonly schema_identity: Identity;
  }[];
  readonly time_source: TimeSource;
}

/** Body of a stage opening. */
export interface StageOpenedBody {
  readonly stage_id: string;
  readonly prerequisite_trace: readonly StageTraceItem[];
  readonly disclosures: readonly Disclosure[];
  readonly intents: readonly Intent[];
  readonly time_source: TimeSource;
}

/** Body of an evaluation. */
export interface StageEvaluatedBody {
  readonly stage_id: string;
  readonly attempt_number: number;
  readonly outcome: "true" | "false" | "unknown";
  readonly completed: boolean;
  readonly trace: readonly TraceItem[];
  readonly evidence: readonly RecordedEvidence[];
  /** Bindings of the stage that the call did not ask, in binding id order. */
  readonly narrowed_bindings: readonly string[];
  /** Present if this evaluation completed the stage: the scenario requirement over the stages after it. */
  readonly scenario_trace?: readonly StageTraceItem[];
  readonly run_status: RunStatus;
  readonly time_source: TimeSource;
}

/** Evidence that waits, as the record of its submission retains it. Times are Unix milliseconds. */
export interface SubmittedEvidence {
  readonly condition_id: string;
  /** Null withdraws the earlier statement of the key. */
  readonly value_identity: Identity | null;
  /** Absent for a withdrawal, as `content_hash`. */
  readonly value_type?: string;
  readonly content_hash?: ContentHash;
  /** Verdict of the condition's `Json.schema` on the value; absent without such a schema. */
  readonly schema_verdict?: "valid" | "invalid";
  readonly observed_at: number;
  /** The head of the run that the signer saw. */
  readonly seen_head: Head;
  readonly valid_until?: number;
  /** Plain SHA-256 over the UTF-8 bytes of the comment. */
  readonly comment_hash?: ContentHash;
  /** Base64 of the 32 bytes of the key. */
  readonly public_key: string;
  readonly signature: EvidenceSignature;
}

/** Body of a submission. */
export interface ArtifactSubmittedBody {
  readonly content_type: string;
  readonly scope: SubmissionScope;
  readonly payload_identity: Identity;
  readonly content_hash: ContentHash;
  /** Present for evidence that waits. */
  readonly evidence?: SubmittedEvidence;
  readonly time_source: TimeSource;
}

interface RecordEnvelope {
  readonly revision: number;
  readonly previous_record_id: Identity | null;
  readonly run_key: RunKey;
  readonly procedure: ProcedureName;
  readonly operation: OperationId;
  readonly invocation_identity: Identity;
  readonly acceptance_time: AcceptanceTime;
  readonly admission: Admission;
  readonly attribution: Attribution;
  readonly operator_profile: Identity;
}

/** An accepted record. Its identity is of kind `run-record` over its canonical bytes. */
export type RunRecord =
  | RecordEnvelope & { readonly record_kind: "run_created"; readonly body: RunCreatedBody }
  | RecordEnvelope & { readonly record_kind: "stage_opened"; readonly body: StageOpenedBody }
  | RecordEnvelope & { readonly record_kind: "stage_evaluated"; readonly body: StageEvaluatedBody }
  | RecordEnvelope & { readonly record_kind: "artifact_submitted"; readonly body: ArtifactSubmittedBody };

/** The four record kinds. */
export type RecordKind = RunRecord["record_kind"];

/** The status of a stage. */
export type StageClassification = "blocked" | "ready_unopened" | "open_incomplete" | "complete";

/** The status of a run. A complete run accepts submissions only. */
export type RunStatus = "active" | "complete";

/** The state of one stage. */
export interface StageState {
  readonly stage_id: string;
  readonly classification: StageClassification;
  readonly stage_open_record_id: Identity | null;
  readonly completion_record_id: Identity | null;
  readonly attempt_count: number;
  /** The revision of the record that opened the stage; present for an opened stage that evidence can wait for. */
  readonly stage_open_revision?: number;
}

/** The newest statement of one key for one condition of an open stage. */
export interface WaitingEvidence extends Omit<SubmittedEvidence, "seen_head" | "comment_hash"> {
  readonly stage_id: string;
  /** The record of the submission. */
  readonly record_id: Identity;
  readonly revision: number;
  /** The reading of the time authority at the submission, Unix milliseconds. */
  readonly submitted_at: number;
}

/** The pure fold of a run's records. Its identity is of kind `run-state`. Stages are in the order of the law. */
export interface RunState {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** The values of all parameters of the law, sorted by id; absent in a run of a law without parameters. */
  readonly parameters?: readonly ParameterValue[];
  readonly head: Head;
  readonly status: RunStatus;
  readonly accepted_audit_instant: number;
  readonly stages: readonly StageState[];
  readonly committed_intent_count: number;
  readonly submission_count: number;
  readonly attempt_count: number;
  /** The last 20 attempts, oldest first. */
  readonly recent_attempts: readonly Attempt[];
  /** Evidence that waits for open stages, in revision order; absent when empty. */
  readonly submitted_evidence?: readonly WaitingEvidence[];
}

/** A value or payload that a record names by identity and that a replay needs. The identity is over `body`. */
export interface Material {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
  readonly body: JsonValue;
}
