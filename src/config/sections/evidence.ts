/**
 * The sections `anchors`, `evidence`, `trust` and `provider_discovery`: their schemas, and the rules over several of
 * their members.
 */

import { boolean, integer, listOf, oneOf, orNull, type Read } from "../../canonical/shape.ts";
import { described, table, union, withDefault } from "../../canonical/table_shape.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import { filled, name, path, strings } from "../primitives.ts";
import type { Report } from "../problems.ts";
import { uniqueMembers } from "../rules.ts";

const { evidence, trust, provider_discovery: discovery } = DEFAULT_SETTINGS;

const anchorRequirement = table({
  provider_id: described(name(), "Name of the provider."),
  anchor_type: described(filled(), "Type that its anchors must have."),
  required_fields: described(listOf(name(), undefined, 1), "Members that its anchors must have."),
});

/** The shape of `anchors`. */
export const anchorsSchema = table({
  providers: withDefault(listOf(anchorRequirement), [], "Requirements on the anchors of each provider."),
}, "Requirements on evidence anchors.");

/** `anchors`. */
export type AnchorsConfig = Read<typeof anchorsSchema>;

/** The shape of `evidence`. */
export const evidenceSchema = table({
  allow_raw_values: withDefault(
    boolean,
    evidence.allow_raw_values,
    "Allow tools to disclose raw values. A runpack has those that the law retains, whatever this says.",
  ),
  require_provider_opt_in: withDefault(
    boolean,
    evidence.require_provider_opt_in,
    "Require allow_raw = true of the provider too.",
  ),
}, "Disclosure of raw evidence values.");

/** `evidence`. */
export type EvidenceConfig = Read<typeof evidenceSchema>;

/** The shape of `trust.default_policy` and of `providers[].trust`. */
export const trustPolicySchema = union(
  'must be "audit" or { require_signature = { keys = [...] } }',
  oneOf("audit"),
  table({
    require_signature: table({
      keys: described(
        listOf(path(), undefined, 1),
        "Files of Ed25519 public keys; the path as written is the key's id.",
      ),
    }, "Evidence must be signed by one of these keys."),
  }),
);

/** Whether evidence must be signed. */
export type TrustPolicy = Read<typeof trustPolicySchema>;

/** The shape of `trust`. */
export const trustSchema = table({
  default_policy: withDefault(trustPolicySchema, "audit", "Whether evidence from providers must be signed."),
  min_lane: withDefault(oneOf("verified", "asserted"), trust.min_lane, "Lowest lane that qualifies."),
  evidence_keys: withDefault(
    orNull(path()),
    null,
    "Folder of the public keys of people: NAME.pub is key NAME. Null for the folder evidence-keys beside the file, if it is there.",
  ),
}, "Evidence signatures and lanes.");

/** `trust`. */
export type TrustConfig = Read<typeof trustSchema>;

/** The shape of `provider_discovery`. */
export const providerDiscoverySchema = table({
  allowlist: strings(filled(), "Providers whose contracts may be shown; empty for all."),
  denylist: strings(filled(), "Providers whose contracts may not be shown; wins over the allowlist."),
  max_response_bytes: withDefault(integer(1), discovery.max_response_bytes, "Bytes of one response."),
}, "Which provider contracts may be disclosed.");

/** `provider_discovery`. */
export type ProviderDiscoveryConfig = Read<typeof providerDiscoverySchema>;

/** Reports repeated providers in `anchors`, which no rule over members can express. */
export function anchorChecks(tree: unknown, report: Report): void {
  uniqueMembers(tree, ["anchors", "providers"], "provider_id", report);
}
