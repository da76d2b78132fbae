/**
 * The JSON Schema of a scenario spec, as `scenario_define` publishes it. It is the shape that the decoder reads, with
 * every object closed. The decoder and the proofs check the rules between members: names, proofs, bounds and canonical
 * sizes.
 *
 * Clients read it as the resource `gate://schemas/scenario`; the list of tools has a shorter one.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { ASSURANCES, CHANNELS } from "./decode_policy.ts";
import { INTEGER_MAXIMUM, SPEC_LIMITS } from "./limits.ts";
import { MAXIMUM_SET_SIZE } from "./value/predicate.ts";
import { VALUE_TYPES } from "./value/types.ts";
import { PREDICATE_NAMES } from "./value/predicates.ts";

/** A closed object. All members are required except those named as optional. */
function members(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { properties, required, additionalProperties: false };
}

function closed(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  return { type: "object", ...members(properties, optional) };
}

function oneOf(...variants: readonly JsonObject[]): JsonObject {
  return { type: "object", oneOf: variants };
}

/** One variant selected by a member, or several variants with the same other members. */
function variant(
  discriminator: string,
  name: string | readonly string[],
  others: JsonObject = {},
  optional: readonly string[] = [],
): JsonObject {
  const value: JsonObject = typeof name === "string" ? { const: name } : { enum: name };
  return members({ [discriminator]: value, ...others }, optional);
}

function array(items: JsonValue, maxItems: number, more: JsonObject = {}): JsonObject {
  return { type: "array", items, maxItems, ...more };
}

/** The limit in characters: a text of `bytes` bytes has at most as many characters. */
function line(maxLength: number): JsonObject {
  return { type: "string", minLength: 1, maxLength, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" };
}

function reference(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

const ID = reference("id");
const LINE = reference("line");
const COUNT = reference("count");
const POSITIVE = reference("pos");
const INTEGER = reference("int");
const DECIMAL = reference("decimal");
const SCHEMA = reference("schema");
const SET_MEMBER = reference("member");
const REQUIREMENT = reference("req");
const OPERANDS = reference("reqs");
const LABELS = reference("labels");

const DESCRIPTION: JsonObject = { type: "string", maxLength: SPEC_LIMITS.descriptionBytes };
const UNIQUE: JsonObject = { uniqueItems: true };
const RANGE = ["minimum", "maximum"];
const PRESENCE = ["Exists", "NotExists"];
const COMPARISONS = PREDICATE_NAMES.filter((name) => name !== "InSet" && !PRESENCE.includes(name));

const SCALARS: JsonObject = {
  id: line(SPEC_LIMITS.identifierBytes),
  line: line(SPEC_LIMITS.uriBytes),
  count: { type: "integer", minimum: 0, maximum: INTEGER_MAXIMUM },
  pos: { type: "integer", minimum: 1, maximum: INTEGER_MAXIMUM },
  int: { type: "integer", minimum: -INTEGER_MAXIMUM, maximum: INTEGER_MAXIMUM },
  decimal: { type: "string", maxLength: 1002, pattern: "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$" },
  labels: array(ID, SPEC_LIMITS.packetSet, UNIQUE),
  schema: closed({ schema_id: ID, version: ID }),
  typed: closed({ value: true, value_type: { enum: VALUE_TYPES } }),
  member: { type: "object", oneOf: [reference("typed"), closed({ parameter: ID })] },
  relative: {
    description: "For the order of a Timestamp",
    ...closed({ relative_to: { const: "evaluation_time" }, offset_milliseconds: INTEGER }),
  },
};

const REQUIREMENTS: JsonObject = {
  req: {
    description: "Leaves name conditions in a stage's completion_requirement, stages elsewhere",
    type: "object",
    properties: {
      Condition: ID,
      And: OPERANDS,
      Or: OPERANDS,
      Not: REQUIREMENT,
      RequireGroup: closed({ min: POSITIVE, reqs: OPERANDS }),
    },
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
  },
  reqs: array(REQUIREMENT, SPEC_LIMITS.requirementNodes - 1, { minItems: 1 }),
};

const CONDITIONS: JsonObject = {
  condition: closed({
    condition_id: ID,
    observation_domain: reference("domain"),
    predicate: reference("predicate"),
    evidence_use_policy: {
      description: "Left out: all bindings of the condition, or the caller without bindings",
      anyOf: [reference("policy"), closed({ policy_id: ID })],
    },
  }, ["evidence_use_policy"]),
  scalar: oneOf(
    variant("domain", "String", { minimum_bytes: COUNT, maximum_bytes: COUNT }),
    variant("domain", ["Boolean", "Timestamp"]),
    variant("domain", "Integer", { minimum: INTEGER, maximum: INTEGER }, RANGE),
    variant("domain", "Decimal", { minimum: DECIMAL, maximum: DECIMAL }, RANGE),
    variant("domain", "Digest", { algorithm: { const: "sha256" } }),
  ),
  domain: oneOf(
    reference("scalar"),
    variant("domain", "Json", { maximum_bytes: POSITIVE, schema: SCHEMA }, ["schema"]),
  ),
  predicate: oneOf(
    variant("predicate", PRESENCE),
    variant("predicate", "InSet", { expected: array(SET_MEMBER, MAXIMUM_SET_SIZE, { minItems: 1 }) }),
    variant("predicate", COMPARISONS, { expected: { anyOf: [SET_MEMBER, reference("relative")] } }),
  ),
  policy: {
    description: "Which evidence counts; retain_digest_only goes with digest_only, keys with signature",
    ...closed({
      allowed_channels: { type: "array", items: { enum: CHANNELS }, minItems: 1, ...UNIQUE },
      authorization: { enum: ["embedding_authority", "signature"] },
      authorized_key_ids: array(ID, SPEC_LIMITS.authorizedKeyIds, { minItems: 1, ...UNIQUE }),
      authorized_public_keys: {
        type: "object",
        additionalProperties: { type: "string", pattern: "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$" },
        minProperties: 1,
        maxProperties: SPEC_LIMITS.authorizedKeyIds,
      },
      combination: oneOf(
        variant("combination", ["AllQualifyingAgree", "AnyQualifying"]),
        variant("combination", "Quorum", { minimum: { type: "integer", minimum: 1, maximum: SPEC_LIMITS.quorum } }),
      ),
      freshness: oneOf(
        variant("freshness", "NotRequired"),
        variant("freshness", "MaximumAge", { maximum_age_millis: POSITIVE }),
      ),
      independence: { enum: ["distinct_acquisition", "distinct_provider", "not_required"] },
      integrity: { enum: ["canonical_content_only", "anchored_content", "signed_content"] },
      replay: { enum: ["full_semantic", "digest_only"] },
      required_assurance: { type: "array", items: { enum: ASSURANCES }, ...UNIQUE },
      requires_all_bindings: { type: "boolean" },
      retention: { enum: ["retain_canonical_value", "retain_digest_only"] },
      scope: { const: "exact_condition" },
    }, ["authorized_key_ids", "authorized_public_keys", "requires_all_bindings"]),
  },
};

const STAGES: JsonObject = {
  stage: closed({
    stage_id: ID,
    prerequisite: oneOf(variant("kind", "root"), variant("kind", "requires", { requirement: REQUIREMENT })),
    completion_requirement: REQUIREMENT,
    entry_packets: array(reference("packet"), SPEC_LIMITS.entryPackets),
  }, ["entry_packets"]),
  packet: {
    description: "Disclosed once, when the stage opens",
    ...closed({
      packet_id: ID,
      schema_id: ID,
      content_type: { type: "string", minLength: 3, maxLength: SPEC_LIMITS.contentTypeLength },
      visibility_labels: LABELS,
      policy_tags: LABELS,
      targets: array(reference("target"), SPEC_LIMITS.packetSet, UNIQUE),
      expiry: {
        anyOf: [
          { type: "null" },
          oneOf(variant("kind", "unix_millis", { value: INTEGER }), variant("kind", "logical", { value: COUNT })),
        ],
      },
      payload: reference("payload"),
    }, ["visibility_labels", "policy_tags", "targets", "expiry"]),
  },
  target: oneOf(
    variant("kind", "agent", { agent_id: ID }),
    variant("kind", "session", { session_id: ID }),
    variant("kind", "external", { system: ID, target: LINE }),
    variant("kind", "channel", { channel: ID }),
  ),
  payload: oneOf(
    variant("kind", "json", { value: true }),
    variant("kind", "bytes", {
      base64: { type: "string", pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" },
    }),
    variant("kind", "external", {
      content_ref: closed({
        uri: LINE,
        content_hash: closed({
          algorithm: { const: "sha256" },
          value: { type: "string", pattern: "^[0-9a-f]{64}$" },
        }),
        encryption: ID,
      }, ["encryption"]),
    }),
  ),
};

const BINDINGS: JsonObject = {
  binding: closed({
    binding_id: ID,
    condition_id: ID,
    channel: { enum: ["local_acquisition", "provider_acquisition"] },
    provider_id: ID,
    check_id: ID,
    params: true,
  }, ["params"]),
};

/** The schema of a spec. If it is embedded below the root of another schema, its references must be changed too. */
export const SPEC_SCHEMA: JsonObject = {
  ...closed({
    spec_version: { const: "dag-v3" },
    scenario_id: ID,
    namespace_id: POSITIVE,
    value_limits: oneOf(
      variant("selection", "InheritOperator"),
      variant("selection", "Explicit", { maximum_value_bytes: POSITIVE, maximum_payload_bytes: POSITIVE }),
    ),
    parameters: array(
      closed({ parameter_id: ID, domain: reference("scalar"), description: DESCRIPTION }, ["description"]),
      SPEC_LIMITS.parameters,
    ),
    conditions: array(reference("condition"), SPEC_LIMITS.conditions),
    policies: array(
      closed({ policy_id: ID, description: DESCRIPTION, evidence_use_policy: reference("policy") }, [
        "description",
        "evidence_use_policy",
      ]),
      SPEC_LIMITS.policies,
    ),
    schemas: array(SCHEMA, SPEC_LIMITS.schemas, UNIQUE),
    acquisition_bindings: array(reference("binding"), SPEC_LIMITS.acquisitionBindings),
    stages: array(reference("stage"), SPEC_LIMITS.stages, { minItems: 1 }),
    completion_requirement: REQUIREMENT,
  }, ["value_limits", "parameters", "conditions", "policies", "schemas", "acquisition_bindings"]),
  $defs: { ...SCALARS, ...REQUIREMENTS, ...CONDITIONS, ...STAGES, ...BINDINGS },
};
