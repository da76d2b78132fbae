/**
 * The published schema of a scenario specification: enough to write one without other documents. What it only hints at,
 * such as which predicate suits which domain, the law room checks, with a code and a path for each fault.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { ASSURANCES, CHANNELS } from "../law/decode_policy.ts";
import { PREDICATE_NAMES, VALUE_TYPES } from "../law/value/types.ts";

const ID: JsonObject = { type: "string", minLength: 1, maxLength: 256 };

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

const CONDITION: JsonObject = object({
  condition_id: ID,
  observation_domain: {
    type: "object",
    properties: { domain: { enum: VALUE_TYPES } },
    required: ["domain"],
    description: "String: minimum_bytes, maximum_bytes. Integer, Decimal: minimum?, maximum? (Decimal as strings). " +
      'Digest: algorithm "sha256". Json: maximum_bytes, schema? {schema_id, version}. Boolean, Timestamp: nothing more',
  },
  predicate: {
    type: "object",
    properties: { predicate: { enum: PREDICATE_NAMES }, expected: {} },
    required: ["predicate"],
    additionalProperties: false,
    description: "expected is {value, value_type}, for InSet an array of them, for Exists and NotExists absent; " +
      "value_type is the domain",
  },
  evidence_use_policy: object({
    allowed_channels: list({ enum: CHANNELS }),
    authorization: { enum: ["embedding_authority", "signature"] },
    combination: {
      type: "object",
      properties: {
        combination: { enum: ["AllQualifyingAgree", "AnyQualifying", "Quorum"] },
        minimum: { type: "integer" },
      },
      required: ["combination"],
    },
    freshness: {
      type: "object",
      properties: { freshness: { enum: ["NotRequired", "MaximumAge"] }, maximum_age_millis: { type: "integer" } },
      required: ["freshness"],
    },
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
  prerequisite: {
    type: "object",
    properties: { kind: { enum: ["root", "requires"] }, requirement: { type: "object" } },
    required: ["kind"],
    description: "requires: a requirement over stage ids, without Not",
  },
  completion_requirement: { type: "object", description: "A requirement over condition ids" },
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
  value_limits: {
    type: "object",
    properties: { selection: { enum: ["InheritOperator", "Explicit"] } },
    required: ["selection"],
    description: "Explicit: maximum_value_bytes, maximum_payload_bytes",
  },
});
