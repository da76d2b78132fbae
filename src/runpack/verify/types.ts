/**
 * The request, the primitives and the report of a verification (docs/format/runpack.md, "Verification").
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Primitives } from "../../run/primitives.ts";
import type { HashStream } from "../format/types.ts";
import type { ClaimName } from "./claims.ts";

/** The verifier procedure of this program. */
export const VERIFIER_PROCEDURE = "gate-verifier-2";
/** The only material resolution: the caller supplies everything. */
export const MATERIAL_RESOLUTION = "supplied_offline_material_v1";

/** The profiles; the first one is the default. */
export const PROFILES = ["integrity_only_v1", "full_replay_v1"] as const;
/** The extent of a verification. */
export type VerificationProfile = typeof PROFILES[number];

/** Why a claim is unavailable. The first reason of this list is reported where several apply. */
export const UNAVAILABLE_REASONS = [
  "manifest_unavailable",
  "manifest_invalid",
  "budget_exhausted",
  "material_not_intact",
  "law_not_constructed",
  "history_broken",
  "value_withheld",
  "value_not_retained",
  "no_trusted_keys",
  "no_evidence",
  "unsigned_evidence",
  "needs_current_head",
  "needs_external_checkpoint",
  "needs_dispatch_log",
  "needs_effect_observation",
  "needs_deployment_evidence",
  "needs_build_provenance",
] as const;
/** Why a claim is unavailable. */
export type UnavailableReason = typeof UNAVAILABLE_REASONS[number];

/** The codes of contradictions; the list is closed and documented in docs/format/runpack.md. */
export type ViolationCode =
  // manifest and objects
  | "manifest_missing"
  | "manifest_unreadable"
  | "manifest_too_large"
  | "manifest_not_canonical"
  | "format_unsupported"
  | "manifest_invalid"
  | "identity_mismatch"
  | "archive_invalid"
  | "object_missing"
  | "object_unreadable"
  | "object_size_mismatch"
  | "object_identity_mismatch"
  | "node_invalid"
  | "tree_shape_invalid"
  | "artifacts_invalid"
  | "object_unreferenced"
  // law
  | "law_invalid"
  | "law_identity_mismatch"
  | "graph_identity_mismatch"
  | "scenario_mismatch"
  | "parameters_mismatch"
  // run and history
  | "run_created_missing"
  | "run_created_unexpected"
  | "run_authority_missing"
  | "run_key_mismatch"
  | "schema_missing"
  | "schema_repeated"
  | "schema_unexpected"
  | "artifact_missing"
  | "artifact_unexpected"
  | "artifact_invalid"
  | "record_invalid"
  | "record_missing"
  | "record_unexpected"
  | "chain_broken"
  | "procedure_unsupported"
  | "procedure_downgraded"
  | "record_tree_mismatch"
  | "head_mismatch"
  | "state_mismatch"
  | "receipt_missing"
  | "receipt_unexpected"
  | "receipt_invalid"
  | "receipt_mismatch"
  | "result_mismatch"
  | "family_mismatch"
  | "operation_repeated"
  // decisions
  | "stage_missing"
  | "stage_state_mismatch"
  | "prerequisite_trace_mismatch"
  | "attempt_number_mismatch"
  | "completed_mismatch"
  | "narrowed_bindings_mismatch"
  | "binding_required"
  | "scenario_trace_mismatch"
  | "run_status_mismatch"
  | "trace_mismatch"
  | "outcome_mismatch"
  | "scope_mismatch"
  | "content_type_invalid"
  | "payload_missing"
  | "payload_invalid"
  | "payload_mismatch"
  | "content_hash_mismatch"
  | "evidence_mismatch"
  | "seen_head_mismatch"
  | "statement_time_invalid"
  | "disclosure_mismatch"
  | "intent_mismatch"
  | "decision_mismatch"
  // evidence
  | "condition_missing"
  | "condition_mismatch"
  | "item_invalid"
  | "item_repeated"
  | "items_unexpected"
  | "submission_missing"
  | "submission_unexpected"
  | "submission_mismatch"
  | "retention_mismatch"
  | "schema_verdict_mismatch"
  | "value_invalid"
  | "value_missing"
  | "value_unexpected"
  | "value_mismatch"
  | "value_type_mismatch"
  | "lane_mismatch"
  | "qualification_mismatch"
  | "witness_missing"
  | "witness_unexpected"
  | "witness_invalid"
  | "binding_mismatch"
  | "params_mismatch"
  | "contract_missing"
  | "contract_repeated"
  | "contract_mismatch"
  | "provider_version_mismatch"
  | "trigger_time_mismatch"
  | "provider_result_mismatch"
  | "signature_invalid"
  // who and when
  | "profile_missing"
  | "profile_mismatch"
  | "profile_invalid"
  | "provenance_mismatch"
  | "auth_method_mismatch"
  | "time_source_mismatch"
  | "acceptance_time_mismatch";

/** A contradiction: its code and its place (docs/format/runpack.md "Reasons"). */
export interface Violation {
  readonly code: ViolationCode;
  readonly place: string | null;
}

/**
 * The status of one claim. The `reason` of a violation is its code, followed by a colon, a space and the place, if any.
 */
export type ClaimStatus =
  | { readonly status: "satisfied"; readonly method: string }
  | { readonly status: "violated"; readonly method: string; readonly reason: string }
  | { readonly status: "unavailable"; readonly reason: UnavailableReason }
  | { readonly status: "not_requested" };

/** The members of a budget, in the order of the documentation. */
export const BUDGET_MEMBERS = [
  "bytes_read",
  "canonical_work_bytes",
  "hashing_workers",
  "objects",
  "records",
  "tree_nodes",
] as const;
/** A member of a budget. */
export type BudgetMember = typeof BUDGET_MEMBERS[number];
/** The consumption of a verification. */
export type Budget = { readonly [Member in BudgetMember]: number };
/** The limits of a verification: any of the six members, integers from 0. */
export type BudgetLimits = { readonly [Member in BudgetMember]?: number };

/** A trusted public key: the 32 bytes of Ed25519. */
export type TrustedPublicKey = Uint8Array;

/** The request to the verifier. */
export interface VerificationRequest {
  /** The expected identity of the pack; null for any. */
  readonly runpack_identity: Identity | null;
  readonly profile: VerificationProfile;
  /** Limits; null = {@link import("./budget.ts").DEFAULT_LIMITS}. */
  readonly budget: BudgetLimits | null;
  /**
   * The keys that decide `source_authenticity` and verify signatures beside the pack; null where the request supplies
   * none.
   */
  readonly trusted_keys: readonly TrustedPublicKey[] | null;
  /**
   * Signature files beside the pack, in any order. They belong neither to the pack nor to the identity of the request.
   */
  readonly signatures?: readonly Uint8Array[];
}

/**
 * The verdict of a JSON Schema on a value; null where no validator supports the schema. It rejects where the schema
 * could not be run in time. The verification then fails without a report, since a report must depend on the pack and
 * the request alone.
 */
export type ValidateSchema = (
  identity: Identity,
  schema: JsonValue,
  value: JsonValue,
) => Promise<"valid" | "invalid" | null>;

/** The primitives of the pure verifier. They return the same results everywhere. */
export interface VerificationPrimitives extends Primitives {
  readonly hashStream: () => HashStream;
  readonly validateSchema?: ValidateSchema;
  /** Called every few records, so that the host may run other tasks. */
  readonly pause?: () => Promise<void>;
}

/** The report. Deterministic: the same pack, request and primitives give the same bytes. */
export interface VerificationReport {
  /** The assumptions, sorted. */
  readonly assumptions: readonly string[];
  readonly budget: Budget;
  /** All claims, in the order of {@link import("./claims.ts").CLAIMS}. */
  readonly claims: readonly { readonly claim: ClaimName; readonly status: ClaimStatus }[];
  readonly material_resolution: typeof MATERIAL_RESOLUTION;
  readonly profile: VerificationProfile;
  /** Identity of kind `report` over the report without this member. */
  readonly report_identity: Identity;
  /** Identity of kind `request`. */
  readonly request_identity: Identity;
  /** The identity of the manifest that was read; null where none was. */
  readonly runpack_identity: Identity | null;
  /** The bases that the report relies on, sorted. */
  readonly trusted_bases: readonly string[];
  readonly verifier_procedure: typeof VERIFIER_PROCEDURE;
}
