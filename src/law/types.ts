/**
 * The scenario law in normal form, which `scenario_define` hashes, stores and compiles (docs/format/scenario_law.md).
 * Member names are those of the JSON form.
 */

import type { WordOf } from "../canonical/words.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { DomainSchema, JsonDomain, ObservationDomain, Predicate, TypedValue } from "./value/types.ts";

/** A requirement expression tree. A leaf names a condition in a stage's completion requirement, else a stage. */
export type Requirement =
  | { readonly Condition: string }
  | { readonly And: readonly Requirement[] }
  | { readonly Or: readonly Requirement[] }
  | { readonly Not: Requirement }
  | { readonly RequireGroup: { readonly min: number; readonly reqs: readonly Requirement[] } };

/** The requirement for the opening of a stage. */
export type Prerequisite =
  | { readonly kind: "root" }
  | { readonly kind: "requires"; readonly requirement: Requirement };

/** The channel by which an evidence item reached gate. */
export type Channel = "caller_submission" | "accepted_submission" | "local_acquisition" | "provider_acquisition";

/** Assurances that an item must have, each tested by itself. */
export type Assurance = "content_integrity" | "scope" | "schema_compatibility" | "source_anchor" | "source_signature";

/** How the qualifying items of one condition become one truth value. */
export type Combination =
  | { readonly combination: "AllQualifyingAgree" }
  | { readonly combination: "AnyQualifying" }
  | { readonly combination: "Quorum"; readonly minimum: number };

/** How old an item may be when it is accepted. */
export type Freshness =
  | { readonly freshness: "NotRequired" }
  | { readonly freshness: "MaximumAge"; readonly maximum_age_millis: number };

/** Which evidence counts for a condition, and how (docs/format/scenario_law.md, "Policies on evidence"). */
export interface EvidenceUsePolicy {
  readonly allowed_channels: readonly Channel[];
  readonly authorization: "embedding_authority" | "signature";
  /** Only with `authorization: "signature"`: the keys that may sign; absent means any trusted key. */
  readonly authorized_key_ids?: readonly string[];
  /** Pins the authorized keys: the base64 of each, by its id. Absent where the operator says who an id is. */
  readonly authorized_public_keys?: { readonly [keyId: string]: string };
  readonly combination: Combination;
  readonly freshness: Freshness;
  readonly independence: "distinct_acquisition" | "distinct_provider" | "not_required";
  readonly integrity: "canonical_content_only" | "anchored_content" | "signed_content";
  readonly replay: "full_semantic" | "digest_only";
  readonly required_assurance: readonly Assurance[];
  /** Rejects a call that leaves out a binding of the condition; absent means that a call may leave out any. */
  readonly requires_all_bindings?: true;
  readonly retention: "retain_canonical_value" | "retain_digest_only";
  readonly scope: "exact_condition";
}

/** A named test of evidence. */
export interface Condition {
  readonly condition_id: string;
  readonly observation_domain: ObservationDomain;
  readonly predicate: Predicate;
  readonly evidence_use_policy: EvidenceUsePolicy;
}

/** The recipient of an entry packet. */
export type Target =
  | { readonly kind: "agent"; readonly agent_id: string }
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "external"; readonly system: string; readonly target: string }
  | { readonly kind: "channel"; readonly channel: string };

/** A point in time as callers write it. */
export type Timestamp =
  | { readonly kind: "unix_millis"; readonly value: number }
  | { readonly kind: "logical"; readonly value: number };

/** The content of an entry packet, a submission or a declared genesis. */
export type Payload =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "bytes"; readonly base64: string }
  | {
    readonly kind: "external";
    readonly content_ref: {
      readonly uri: string;
      readonly content_hash: { readonly algorithm: "sha256"; readonly value: string };
      readonly encryption?: string;
    };
  };

/** Content that the opening of a stage discloses, once, to its targets. */
export interface EntryPacket {
  readonly packet_id: string;
  readonly schema_id: string;
  readonly content_type: string;
  readonly visibility_labels: readonly string[];
  readonly policy_tags: readonly string[];
  readonly targets: readonly Target[];
  /** Null means that it never expires. */
  readonly expiry: Timestamp | null;
  readonly payload: Payload;
}

/** A node of the stage graph. */
export interface Stage {
  readonly stage_id: string;
  readonly prerequisite: Prerequisite;
  readonly completion_requirement: Requirement;
  readonly entry_packets: readonly EntryPacket[];
}

/** The check of a provider that acquires evidence for a condition. */
export interface AcquisitionBinding {
  readonly binding_id: string;
  readonly condition_id: string;
  readonly channel: "local_acquisition" | "provider_acquisition";
  readonly provider_id: string;
  readonly check_id: string;
  readonly params?: JsonValue;
}

/** A rule of the organization, for readers of the law. Gate decides by requirements alone. */
export interface Policy {
  readonly policy_id: string;
  readonly description?: string;
}

/** Size limits of the law: the operator's, or lower ones of its own. */
export type ValueLimits =
  | { readonly selection: "InheritOperator" }
  | { readonly selection: "Explicit"; readonly maximum_value_bytes: number; readonly maximum_payload_bytes: number };

/** The values that a parameter may have: a domain of one JSON scalar. */
export type ParameterDomain = Exclude<ObservationDomain, JsonDomain>;

/** A value that each run of the law gives at its start. */
export interface Parameter {
  readonly parameter_id: string;
  readonly domain: ParameterDomain;
  readonly description?: string;
}

/** The value of a parameter in one run. */
export interface ParameterValue {
  readonly parameter_id: string;
  readonly value: TypedValue;
}

/** A scenario law in normal form: sorted, defaults filled in, every rule of docs/format/scenario_law.md proved. */
export interface ScenarioLaw {
  readonly spec_version: "dag-v3";
  readonly scenario_id: string;
  readonly namespace_id: number;
  readonly value_limits: ValueLimits;
  /** Absent in a law without parameters. */
  readonly parameters?: readonly Parameter[];
  readonly conditions: readonly Condition[];
  readonly policies: readonly Policy[];
  readonly schemas: readonly DomainSchema[];
  readonly acquisition_bindings: readonly AcquisitionBinding[];
  readonly stages: readonly Stage[];
  readonly completion_requirement: Requirement;
}

/** One reason why a spec is not a law. */
export interface Refusal {
  readonly code: RefusalCode;
  /** JSON path into the spec; `$` is the spec. */
  readonly path: string;
  readonly message: string;
}

/** The codes of refusals. The list is closed and documented in the authoring guide. */
export type RefusalCode =
  // shape
  | WordOf<"member_missing member_unknown type_invalid value_invalid identifier_invalid too_many too_few">
  | WordOf<"spec_version_unsupported duplicate value_limit_exceeds_operator payload_too_large">
  | WordOf<"content_type_invalid payload_content_type_mismatch">
  // references
  | WordOf<"condition_not_found stage_not_found leaf_names_condition parameter_not_found schema_not_found">
  | WordOf<"packet_schema_not_found policy_not_found">
  // requirement proofs
  | WordOf<"requirement_too_deep requirement_too_large requirement_empty group_minimum_invalid">
  | WordOf<"operand_duplicate not_in_monotone_requirement requirement_contradiction requirement_tautology">
  | "proof_budget_exceeded"
  // graph proofs
  | WordOf<"graph_cyclic stage_unreachable completion_unattainable">
  // conditions
  | WordOf<"domain_bounds_invalid predicate_not_allowed predicate_not_enabled expected_invalid">
  | WordOf<"expected_outside_domain policy_conflict">
  // acquisition
  | WordOf<"provider_not_found check_not_found params_invalid comparator_not_allowed result_outside_domain">
  | "channel_not_allowed"
  // report
  | "more_refusals";

/**
 * The operator's limits on laws. They are part of the operator profile, so a replay proves a law under the same rules.
 */
export interface LawLimits {
  readonly maximum_value_bytes: number;
  readonly maximum_payload_bytes: number;
  readonly enable_lexicographic: boolean;
  readonly enable_deep_equals: boolean;
  /** Maximum node visits of the proofs on all requirements of a law together; 2^20 by default. */
  readonly proof_budget: number;
}

/** The facts of a provider check that the checks of bindings need. The evidence module provides them. */
export interface CheckFacts {
  readonly provider_id: string;
  readonly check_id: string;
  /** `builtin` providers acquire on `local_acquisition`, all others on `provider_acquisition`. */
  readonly channel: "local_acquisition" | "provider_acquisition";
  readonly allowed_comparators: readonly string[];
  /** The JSON types that the result schema of the check allows; `any` for a dynamic result. */
  readonly result_types: readonly ("string" | "integer" | "number" | "boolean" | "null" | "object" | "array" | "any")[];
  /** The schema of the params. Params with placeholders are checked against its types until a run resolves them. */
  readonly params_schema: JsonValue;
  /** Checks the params of a binding against the params schema: null if they are valid, else the fault. */
  readonly checkParams: (params: JsonValue | undefined) => string | null;
}

/** Facts outside of the spec that its checks need. They are resolved before the pure checks run. */
export interface LawEnvironment {
  readonly limits: LawLimits;
  /** Whether a schema is registered in the namespace of the law. */
  readonly hasSchema: (schemaId: string, version: string) => boolean;
  /**
   * Whether the namespace has a version of a schema that a packet names; a law with declared schemas must name one of
   * these. Absent for the proof of a stored law: a law that was defined before this rule stays valid.
   */
  readonly hasPacketSchema?: (schemaId: string) => boolean;
  /** The facts of a check; "provider" if the provider is unknown, "check" if it has no such check. */
  readonly findCheck: (providerId: string, checkId: string) => CheckFacts | "provider" | "inactive" | "check";
  /** Names that a refusal may suggest: of providers, or of the checks of one. Absent if the caller may see none. */
  readonly namesShown?: (providerId: string | null) => readonly string[];
}
