/**
 * What a verifier is asked, handed, and answers (docs/format/runpack.md, "Verification").
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Primitives } from "../../run/primitives.ts";
import type { HashStream } from "../format/types.ts";
import type { ClaimName } from "./claims.ts";

/** The procedure that this program verifies by. */
export const VERIFIER_PROCEDURE = "gate-verifier-2";
/** The only way in which material is found: it is handed over. */
export const MATERIAL_RESOLUTION = "supplied_offline_material_v1";

/** The profiles; the first is the one of a request that names none. */
export const PROFILES = ["integrity_only_v1", "full_replay_v1"] as const;
/** How much is verified. */
export type VerificationProfile = typeof PROFILES[number];

/** Why a claim is not settled; where several apply, the first of this list is told. */
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
/** Why a claim is not settled. */
export type UnavailableReason = typeof UNAVAILABLE_REASONS[number];

/** What contradicts a claim; the list is closed and documented in docs/guide/runpacks.md. */
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
  | "disclosure_mismatch"
  | "intent_mismatch"
  | "decision_mismatch"
  // evidence
  | "condition_missing"
  | "condition_mismatch"
  | "item_invalid"
  | "item_repeated"
  | "items_unexpected"
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
  | "contract_missing"
  | "contract_repeated"
  | "contract_mismatch"
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

/** A contradiction: what it is, and where, as docs/format/runpack.md "Reasons" has it. */
export interface Violation {
  readonly code: ViolationCode;
  readonly place: string | null;
}

/**
 * What a verification says of one claim. `reason` of a violation is its code, then where a place is known a colon, a
 * space and the place.
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
/** What a verification took. */
export type Budget = { readonly [Member in BudgetMember]: number };
/** What a verification may take: any of the six members, integers from 0. */
export type BudgetLimits = { readonly [Member in BudgetMember]?: number };

/** A public key that a verification trusts: the 32 bytes of Ed25519. */
export type TrustedPublicKey = Uint8Array;

/** What is asked of the verifier. */
export interface VerificationRequest {
  /** The identity that the pack has to have; null = whichever it has. */
  readonly runpack_identity: Identity | null;
  readonly profile: VerificationProfile;
  /** Limits; null = {@link import("./budget.ts").DEFAULT_LIMITS}. */
  readonly budget: BudgetLimits | null;
  /**
   * Keys whose signatures settle `source_authenticity` and are looked for beside the pack; null = none were supplied.
   */
  readonly trusted_keys: readonly TrustedPublicKey[] | null;
  /**
   * Signature files that lie beside the pack, in any order; they are no part of the pack, nor of the request's
   * identity.
   */
  readonly signatures?: readonly Uint8Array[];
}

/**
 * Verdict of a JSON Schema on a value; null where no validator can run the schema. Rejects where it could not be run here
 * and now, for want of time above all: a verification then ends without a report, since what a report says depends on
 * nothing but the pack and the request.
 */
export type ValidateSchema = (
  identity: Identity,
  schema: JsonValue,
  value: JsonValue,
) => Promise<"valid" | "invalid" | null>;

/** What the pure verifier is handed. All of it gives the same answers everywhere. */
export interface VerificationPrimitives extends Primitives {
  readonly hashStream: () => HashStream;
  readonly validateSchema?: ValidateSchema;
  /** Called every few records, so that a host may let others have their turn. */
  readonly pause?: () => Promise<void>;
}

/** The report. Deterministic: the same pack, request and primitives give the same bytes. */
export interface VerificationReport {
  /** What was taken as it stands; sorted. */
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
  /** That of the manifest that was read; null where there was none. */
  readonly runpack_identity: Identity | null;
  /** What the answer rests on; sorted. */
  readonly trusted_bases: readonly string[];
  readonly verifier_procedure: typeof VERIFIER_PROCEDURE;
}
