/**
 * The published schema of a scenario specification, closed down to conditions and stages: enough to write one without
 * other documents. What it only hints at, such as which predicate suits which domain, the law room checks, with a code
 * and a path for each fault.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { ASSURANCES, CHANNELS } from "../../law/decode_policy.ts";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { PREDICATE_NAMES } from "../../law/value/predicates.ts";

const ID: JsonObject = { type: "string" };

function object(
  required: Readonly<Record<string, JsonValue>>,
  optional: Readonly<Record<string, JsonValue>> = {},
): JsonObject {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

function list(items: JsonValue, description?: string): JsonObject {
  return description === undefined ? { type: "array", items } : { type: "array", items, description };
}

/** One of several objects, told apart by a member; `description` names the other members. */
function variant(name: string, values: readonly string[], description: string): JsonObject {
  return { properties: { [name]: { enum: values } }, required: [name], description };
}

const CONDITION: JsonObject = object({
  condition_id: ID,
  observation_domain: variant(
    "domain",
    VALUE_TYPES,
    "String: minimum_bytes, maximum_bytes. Integer, Decimal: minimum?, maximum? (Decimal as strings). " +
      'Digest: algorithm "sha256". Json: maximum_bytes, schema? {schema_id, version}',
  ),
  predicate: variant(
    "predicate",
    PREDICATE_NAMES,
    "expected: {value, value_type}, value_type being the domain; InSet: an array of them; Exists, NotExists: none",
  ),
  evidence_use_policy: object({
    allowed_channels: list({ enum: CHANNELS }),
    authorization: { enum: ["embedding_authority", "signature"] },
    combination: variant("combination", ["AllQualifyingAgree", "AnyQualifying", "Quorum"], "Quorum: minimum"),
    freshness: variant("freshness", ["NotRequired", "MaximumAge"], "MaximumAge: maximum_age_millis"),
    independence: { enum: ["distinct_acquisition", "distinct_provider", "not_required"] },
    integrity: { enum: ["canonical_content_only", "anchored_content", "signed_content"] },
    replay: { enum: ["full_semantic", "digest_only"] },
    required_assurance: list({ enum: ASSURANCES }),
    retention: { enum: ["retain_canonical_value", "retain_digest_only"] },
    scope: { const: "exact_condition" },
  }, { authorized_key_ids: list(ID) }),
});

const STAGE: JsonObject = object({
  stage_id: ID,
  prerequisite: variant("kind", ["root", "requires"], "requires: requirement over stage ids, without Not"),
  completion_requirement: { type: "object", description: "Over condition ids" },
}, {
  entry_packets: list(
    { type: "object" },
    "Disclosed once when the stage is opened: {packet_id, schema_id, content_type, payload, targets?, " +
      "visibility_labels?, policy_tags?, expiry?}",
  ),
});

/** The schema of `spec`. */
export const SPEC_SCHEMA: JsonObject = object({
  spec_version: { const: "dag-v3" },
  scenario_id: ID,
  namespace_id: { type: "integer", minimum: 1 },
  stages: list(STAGE),
  completion_requirement: {
    type: "object",
    description:
      "When the run is complete: a requirement over stage ids. A requirement is {Condition: id}, {And: [..]}, " +
      "{Or: [..]}, {Not: r} or {RequireGroup: {min, reqs: [..]}}",
  },
}, {
  conditions: list(CONDITION),
  acquisition_bindings: list(
    { type: "object" },
    "Checks that gather evidence: {binding_id, condition_id, channel, provider_id, check_id, params?}",
  ),
  policies: list(object({ policy_id: ID }, { description: { type: "string" } })),
  schemas: list(object({ schema_id: ID, version: ID }), "Registered schemas"),
  value_limits: variant(
    "selection",
    ["InheritOperator", "Explicit"],
    "Explicit: maximum_value_bytes, maximum_payload_bytes",
  ),
});
