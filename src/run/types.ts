/**
 * Records of a run and the state they fold to (docs/format/records.md). Every type here has exactly the members of its
 * JSON form, so a value of it can be canonicalised, hashed and stored as it is.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { Channel, Target, Timestamp } from "../law/types.ts";

/** The kernel procedures, the oldest first. A record names the one that made it and is always judged by that one. */
export const PROCEDURES = ["gate-kernel-1", "gate-kernel-2"] as const;

/** The name of a kernel procedure. */
export type ProcedureName = typeof PROCEDURES[number];

/** The procedure of every new record. */
export const PROCEDURE: ProcedureName = "gate-kernel-2";

/** The exact accepted head of a run: its last record. */
export interface Head {
  readonly record_id: Identity;
  readonly revision: number;
}

/** What names a run. `run_id` is 32 lower-case hex digits. */
export interface RunKey {
  readonly namespace_id: number;
  readonly run_id: string;
}

/** Operation families; an operation identity is unique within a run and family. `create_run` is keyed by namespace. */
export type OperationFamily = "create_run" | "open_stage" | "evaluate_stage" | "submit";

/** The identity that the caller gave a mutation, so that a lost answer can be asked for again. */
export interface OperationId {
  readonly family: OperationFamily;
  /** 32 lower-case hex digits. */
  readonly identity: string;
}

/** A reading of the time authority, before clamping; retained in the record body as `time_source`. */
export interface TimeSource {
  readonly time_authority_id: string;
  readonly authority_revision: string;
  /** What the authority read, Unix milliseconds; may be behind an earlier record. */
  readonly reading_unix_millis: number;
}

/** When a record was accepted, by which authority. */
export interface AcceptanceTime {
  /** Unix milliseconds, never below that of the record before. */
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

/** Under which profile, and how, a mutation was admitted. */
export interface Admission {
  readonly kind: "local" | "bearer" | "mtls" | "derived";
  /** Identity of the operator profile. */
  readonly profile_id: Identity;
  /** SHA-256 over the canonical bytes of `{attribution, invocation_identity}`. */
  readonly request_provenance_digest: ContentHash;
}

/** Who asked; tokens only by fingerprint. */
export interface Attribution {
  readonly principal: string;
  readonly auth_method: "local" | "bearer_token" | "mtls";
  readonly roles_matched: readonly string[];
  readonly policy_class: string | null;
  /** Tenants of the caller; null = every tenant. */
  readonly tenants: readonly number[] | null;
}

/** Caller's correlation of a run. */
export type Correlation = { readonly kind: "unset" } | { readonly kind: "set"; readonly correlation_id: string };

/** One line of an evaluation trace: a leaf visit. */
export interface TraceItem {
  /** JSON path of the leaf inside the requirement, `$` being its root. */
  readonly path: string;
  readonly condition_id: string;
  readonly value: "true" | "false" | "unknown";
  readonly reason?: "no_evidence" | "disagreement" | "unqualified" | "type_mismatch" | "error";
}

/** One line of a prerequisite or scenario-requirement trace. */
export interface StageTraceItem {
  readonly path: string;
  readonly stage_id: string;
  readonly value: "true" | "false";
}

/** Why an item does not count (the closed list of docs/format/records.md). */
export type DisqualificationReason =
  | "channel"
  | "authorization"
  | "lane"
  | "not_fresh"
  | "not_independent"
  | "integrity"
  | "assurance"
  | "scope";

/** Error recorded with an acquired item: observed, so the condition is Unknown. */
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

/** Where a value came from, as its source says. */
export interface EvidenceAnchor {
  readonly anchor_type: string;
  readonly anchor_value: string;
}

/** The part of an acquisition that replay needs, retained with an acquired item. */
export interface AcquisitionWitness {
  readonly binding_id: string;
  readonly provider_id: string;
  readonly check_id: string;
  /** Identity of the provider's contract, equal to the one bound in `run_created`. */
  readonly contract_identity: Identity;
  readonly trigger_time: Timestamp;
  /** True where the caller gave the trigger time; absent where it is the time authority's stamp. */
  readonly trigger_time_given?: true;
  /** Unix milliseconds when the provider answered. */
  readonly acquired_at: number;
  readonly lane: "verified" | "asserted";
  readonly evidence_ref: string | null;
  readonly content_type: string | null;
  /**
   * The whole provider result as received, its `value` replaced by `{kind, content_hash, value_identity}`: the plain hash of the
   * value as the source gave it, and the identity of what it was fitted to, null where it fits nowhere. Null = nothing found.
   */
  readonly provider_result: JsonObject;
  /** The grant in force: root id, host names, environment names, program base name; never a path. */
  readonly grant: JsonObject;
}

/** An evidence item as a record retains it: all that qualification read. */
export interface RecordedEvidence extends EvidenceItem {
  readonly lane: "verified" | "asserted";
  readonly retention: "RetainCanonicalValue" | "RetainDigestOnly";
  readonly value_type?: string;
  /** Plain hash of the value's canonical bytes; a signed statement may name it, and a value that is not retained has no other. */
  readonly content_hash?: ContentHash;
  /** False where the source's own hash of the value does not recompute; absent where it does, or gave none. */
  readonly hash_recomputes?: false;
  /** True where acquisition succeeded and found nothing. */
  readonly found_nothing?: true;
  /** Unix milliseconds, from the caller or the signed statement. */
  readonly observed_at?: number;
  readonly signature?: EvidenceSignature;
  readonly anchor?: EvidenceAnchor;
  /** Verdict of the condition's `Json.schema` on the value, where it has one. */
  readonly schema_verdict?: "valid" | "invalid";
  readonly acquisition?: AcquisitionWitness;
}

/** One evaluation of a stage. */
export interface Attempt {
  readonly attempt_number: number;
  readonly record_id: Identity;
  readonly stage_id: string;
  readonly outcome: "true" | "false" | "unknown";
  readonly completed: boolean;
  readonly trace: readonly TraceItem[];
  readonly evidence: readonly EvidenceItem[];
}

/** What opening a stage proposes, once. */
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
  /** Index of the static rule that decided; null = the engine's default. */
  readonly matched_rule: number | null;
}

/** Where a submission belongs. */
export type SubmissionScope =
  | { readonly kind: "run_wide" }
  | { readonly kind: "stage_open"; readonly stage_id: string; readonly stage_open_record_id: Identity };

/** Body of the first record. */
export interface RunCreatedBody {
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  readonly correlation: Correlation;
  readonly genesis: { readonly kind: "empty" } | {
    readonly kind: "declared";
    readonly payload_identity: Identity;
    readonly content_hash: ContentHash;
  };
  readonly run_allocation: { readonly authority_id: string };
  readonly contracts: readonly { readonly provider_id: string; readonly contract_identity: Identity }[];
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
  /** Bindings of the stage that the call left out of its acquisition, in binding id order. */
  readonly narrowed_bindings: readonly string[];
  /** Present when this evaluation completed a stage: the scenario requirement over the stages as they then stood. */
  readonly scenario_trace?: readonly StageTraceItem[];
  readonly run_status: RunStatus;
  readonly time_source: TimeSource;
}

/** Body of a submission. */
export interface ArtifactSubmittedBody {
  readonly content_type: string;
  readonly scope: SubmissionScope;
  readonly payload_identity: Identity;
  readonly content_hash: ContentHash;
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

/** Where a stage stands. */
export type StageClassification = "blocked" | "ready_unopened" | "open_incomplete" | "complete";

/** Where a run stands; a complete run takes submissions only. */
export type RunStatus = "active" | "complete";

/** A stage within a run's state. */
export interface StageState {
  readonly stage_id: string;
  readonly classification: StageClassification;
  readonly stage_open_record_id: Identity | null;
  readonly completion_record_id: Identity | null;
  readonly attempt_count: number;
}

/** The pure fold of a run's records. Its identity is of kind `run-state`. Stages stand in the order of the law. */
export interface RunState {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly head: Head;
  readonly status: RunStatus;
  readonly accepted_audit_instant: number;
  readonly stages: readonly StageState[];
  readonly committed_intent_count: number;
  readonly submission_count: number;
  readonly attempt_count: number;
  /** The last 20 attempts, oldest first. */
  readonly recent_attempts: readonly Attempt[];
}

/** An object that a record names by identity and that replay needs: a value or a payload. `body` is what the identity is over. */
export interface Material {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
  readonly body: JsonValue;
}
