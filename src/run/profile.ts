/**
 * The operator profile: every setting of the operator that a decision reads. Every record names it by identity, so a
 * replay decides under the same rules. It has neither secrets nor paths (docs/format/records.md, "Operator profile").
 */

import { identify, type Identity, type Sha256 } from "../canonical/identity.ts";
import type { Target } from "../law/types.ts";
import { asJson } from "./primitives.ts";

/** A public key that may sign evidence. */
export interface TrustedKey {
  readonly key_id: string;
  /** Base64 of the 32 bytes. */
  readonly public_key: string;
}

/** The trust in a provider: `audit` notes signatures, `require_signature` requires one by a listed key. */
export type TrustPolicy = "audit" | { readonly require_signature: { readonly keys: readonly TrustedKey[] } };

/** Trust lanes, the lower one first. */
export type Lane = "asserted" | "verified";

/** The fields that an anchor of a provider's item must have. */
export interface AnchorRequirement {
  readonly provider_id: string;
  readonly anchor_type: string;
  /** Sorted, without duplicates. */
  readonly required_fields: readonly string[];
}

/** Matches one disclosure target; an omitted member matches any. */
export type TargetSelector =
  | { readonly target_kind: "agent" | "session" | "channel"; readonly target_id?: string }
  | { readonly target_kind: "external"; readonly system?: string; readonly target?: string };

/** A static disclosure rule. Every selector that is present and not empty must match. */
export interface DisclosureRule {
  readonly effect: "permit" | "deny" | "error";
  readonly error_message?: string;
  readonly content_types?: readonly string[];
  readonly packet_ids?: readonly string[];
  readonly scenario_ids?: readonly string[];
  readonly schema_ids?: readonly string[];
  readonly stage_ids?: readonly string[];
  readonly require_labels?: readonly string[];
  readonly forbid_labels?: readonly string[];
  readonly require_policy_tags?: readonly string[];
  readonly forbid_policy_tags?: readonly string[];
  readonly target_kinds?: readonly Target["kind"][];
  readonly targets?: readonly TargetSelector[];
}

/** The disclosure policy. */
export type DisclosurePolicy =
  | { readonly engine: "permit_all" | "deny_all" }
  | { readonly engine: "static"; readonly default: "permit" | "deny"; readonly rules: readonly DisclosureRule[] };

/** The whole profile. */
export interface OperatorProfile {
  readonly value_limits: { readonly maximum_value_bytes: number; readonly maximum_payload_bytes: number };
  readonly validation: {
    readonly strict: boolean;
    readonly profile: string;
    readonly allow_permissive: boolean;
    readonly enable_lexicographic: boolean;
    readonly enable_deep_equals: boolean;
  };
  readonly trust: {
    readonly min_lane: Lane;
    readonly default_policy: TrustPolicy;
    /** Providers whose policy differs from the default, by provider id. */
    readonly providers: readonly { readonly provider_id: string; readonly policy: TrustPolicy }[];
  };
  /** Keys of people that may sign evidence, by key id; absent when empty. They change nothing for providers. */
  readonly evidence_keys?: readonly TrustedKey[];
  readonly anchors: readonly AnchorRequirement[];
  /** The permissive relaxation of lanes; `enabled` is false after its time has run out. */
  readonly permissive: { readonly enabled: boolean; readonly exempt_providers: readonly string[] };
  readonly policy: DisclosurePolicy;
  readonly proof_budget: number;
}

/** Identity of a profile, kind `operator-profile`. */
export function profileIdentity(sha256: Sha256, profile: OperatorProfile): Identity {
  return identify(sha256, "operator-profile", asJson(profile));
}

/** Every key of the profile by key id. Of several keys with one id the first counts. */
export function trustedKeys(profile: OperatorProfile): Map<string, TrustedKey> {
  const keys = new Map<string, TrustedKey>();
  for (const policy of [profile.trust.default_policy, ...profile.trust.providers.map((entry) => entry.policy)]) {
    if (policy === "audit") continue;
    for (const key of policy.require_signature.keys) if (!keys.has(key.key_id)) keys.set(key.key_id, key);
  }
  for (const key of profile.evidence_keys ?? []) if (!keys.has(key.key_id)) keys.set(key.key_id, key);
  return keys;
}

/** The lowest lane that counts for an item of a provider; null stands for a caller. */
export function minimumLane(profile: OperatorProfile, providerId: string | null): Lane {
  const relaxed = profile.permissive.enabled &&
    (providerId === null || !profile.permissive.exempt_providers.includes(providerId));
  return relaxed ? "asserted" : profile.trust.min_lane;
}
