/** The request, the primitives and the report of a verification (docs/format/runpack.md, "Verification"). */

import { words } from "../../canonical/words.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Primitives } from "../../run/primitives.ts";
import type { HashStream } from "../format/types.ts";
import type { ClaimName, ViolationCode } from "./claims.ts";

/** The verifier procedure of this program. */
export const VERIFIER_PROCEDURE = "gate-verifier-2";
/** The only material resolution: the caller supplies everything. */
export const MATERIAL_RESOLUTION = "supplied_offline_material_v1";

/** The profiles; the first one is the default. */
export const PROFILES = ["integrity_only_v1", "full_replay_v1"] as const;
/** The extent of a verification. */
export type VerificationProfile = typeof PROFILES[number];

/** Why a claim is unavailable. The first reason of this list is reported where several apply. */
export const UNAVAILABLE_REASONS = words(
  "manifest_unavailable manifest_invalid budget_exhausted material_not_intact law_not_constructed",
  "history_broken value_withheld value_not_retained no_trusted_keys no_evidence unsigned_evidence",
  "needs_current_head needs_external_checkpoint needs_dispatch_log needs_effect_observation",
  "needs_deployment_evidence needs_build_provenance",
);
/** Why a claim is unavailable. */
export type UnavailableReason = typeof UNAVAILABLE_REASONS[number];

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
export const BUDGET_MEMBERS = words("bytes_read canonical_work_bytes hashing_workers objects records tree_nodes");
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
