/** The shape of an operator profile, as packs retain it (docs/format/records.md). */

import type { JsonValue } from "../../canonical/json.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import { anyOf, boolean, closed, integer, listOf, matches, oneOf, text, variant } from "../../canonical/shape.ts";

/** Maximum entries of each list of a profile. */
const ENTRIES = 4096;

const names = listOf(text, ENTRIES);
const trustedKeys = listOf(closed({ key_id: text, public_key: text }), ENTRIES);
const trustPolicy = anyOf(oneOf("audit"), closed({ require_signature: closed({ keys: trustedKeys }) }));
const targetKind = oneOf("agent", "session", "external", "channel");
const plainSelector = closed({ target_kind: text }, { target_id: text });
const selector = variant("target_kind", {
  agent: plainSelector,
  session: plainSelector,
  channel: plainSelector,
  external: closed({ target_kind: text }, { system: text, target: text }),
});
const rule = closed({ effect: oneOf("permit", "deny", "error") }, {
  error_message: text,
  content_types: names,
  packet_ids: names,
  scenario_ids: names,
  schema_ids: names,
  stage_ids: names,
  require_labels: names,
  forbid_labels: names,
  require_policy_tags: names,
  forbid_policy_tags: names,
  target_kinds: listOf(targetKind, ENTRIES),
  targets: listOf(selector, ENTRIES),
});
const policy = variant("engine", {
  permit_all: closed({ engine: text }),
  deny_all: closed({ engine: text }),
  static: closed({ engine: text, default: oneOf("permit", "deny"), rules: listOf(rule, ENTRIES) }),
});
const profileShape = closed({
  value_limits: closed({ maximum_value_bytes: integer(0), maximum_payload_bytes: integer(0) }),
  validation: closed({
    strict: boolean,
    profile: text,
    allow_permissive: boolean,
    enable_lexicographic: boolean,
    enable_deep_equals: boolean,
  }),
  trust: closed({
    min_lane: oneOf("asserted", "verified"),
    default_policy: trustPolicy,
    providers: listOf(closed({ provider_id: text, policy: trustPolicy }), ENTRIES),
  }),
  anchors: listOf(closed({ provider_id: text, anchor_type: text, required_fields: names }), ENTRIES),
  permissive: closed({ enabled: boolean, exempt_providers: names }),
  policy,
  proof_budget: integer(0),
}, { evidence_keys: trustedKeys });

/** Reads a value as an operator profile; null where it has another shape. */
export function readProfile(value: JsonValue): OperatorProfile | null {
  return matches(profileShape, value) ? value as OperatorProfile : null;
}
