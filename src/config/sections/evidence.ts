/**
 * The sections `anchors`, `evidence`, `trust` and `provider_discovery`: their schemas, and the rules over several of
 * their members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { integer, name, path, strings, text } from "../primitives.ts";
import type { Report } from "../problems.ts";
import { uniqueMembers } from "../rules.ts";

const { evidence, trust, provider_discovery: discovery } = DEFAULT_SETTINGS;

const anchorRequirement = z.strictObject({
  provider_id: name().describe("Name of the provider."),
  anchor_type: text().describe("Type that its anchors must have."),
  required_fields: z.array(name()).min(1).describe("Members that its anchors must have."),
});

/** The shape of `anchors`. */
export const anchorsSchema = z.strictObject({
  providers: z.array(anchorRequirement).default([]).describe("Requirements on the anchors of each provider."),
}).describe("Requirements on evidence anchors.");

/** `anchors`. */
export type AnchorsConfig = DeepReadonly<z.output<typeof anchorsSchema>>;

/** The shape of `evidence`. */
export const evidenceSchema = z.strictObject({
  allow_raw_values: z.boolean().default(evidence.allow_raw_values).describe("Allow raw values to be disclosed."),
  require_provider_opt_in: z.boolean().default(evidence.require_provider_opt_in)
    .describe("Require allow_raw = true of the provider too."),
}).describe("Disclosure of raw evidence values.");

/** `evidence`. */
export type EvidenceConfig = DeepReadonly<z.output<typeof evidenceSchema>>;

/** The shape of `trust.default_policy` and of `providers[].trust`. */
export const trustPolicySchema = z.union([
  z.literal("audit"),
  z.strictObject({
    require_signature: z.strictObject({
      keys: z.array(path()).min(1).describe("Files of Ed25519 public keys; the path as written is the key's id."),
    }).describe("Evidence must be signed by one of these keys."),
  }),
], 'must be "audit" or { require_signature = { keys = [...] } }');

/** Whether evidence must be signed. */
export type TrustPolicy = DeepReadonly<z.output<typeof trustPolicySchema>>;

/** The shape of `trust`. */
export const trustSchema = z.strictObject({
  default_policy: trustPolicySchema.default("audit").describe("Whether evidence from providers must be signed."),
  min_lane: z.enum(["verified", "asserted"]).default(trust.min_lane).describe("Lowest lane that qualifies."),
  evidence_keys: path().nullable().default(null).describe(
    "Folder of the public keys of people: NAME.pub is key NAME. Null for the folder evidence-keys beside the file, if it is there.",
  ),
}).describe("Evidence signatures and lanes.");

/** `trust`. */
export type TrustConfig = DeepReadonly<z.output<typeof trustSchema>>;

/** The shape of `provider_discovery`. */
export const providerDiscoverySchema = z.strictObject({
  allowlist: strings(text()).describe("Providers whose contracts may be shown; empty for all."),
  denylist: strings(text()).describe("Providers whose contracts may not be shown; wins over the allowlist."),
  max_response_bytes: integer(1).default(discovery.max_response_bytes).describe("Bytes of one response."),
}).describe("Which provider contracts may be disclosed.");

/** `provider_discovery`. */
export type ProviderDiscoveryConfig = DeepReadonly<z.output<typeof providerDiscoverySchema>>;

/** Reports repeated providers in `anchors`, which no rule over members can express. */
export function anchorChecks(tree: unknown, report: Report): void {
  uniqueMembers(tree, ["anchors", "providers"], "provider_id", report);
}
