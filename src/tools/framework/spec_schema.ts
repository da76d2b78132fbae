/**
 * The short schema of a scenario specification in the list of tools: its members, closed, and how to write each.
 * `gate://schemas/scenario` has the full schema, and the errors of an invalid spec name every fault and its path.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";

/** The example of a condition in the list. Without a binding it counts evidence of callers. */
export const EXAMPLE_CONDITION: JsonObject = {
  condition_id: "tests_pass",
  observation_domain: { domain: "Boolean" },
  predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
};

const HINTS: Readonly<Record<string, string>> = {
  stages: "{stage_id, prerequisite: {kind: root} | {kind: requires, requirement over stages}, completion_requirement " +
    "over conditions, entry_packets?: [{packet_id, schema_id, content_type, payload: as in scenario_submit}]}",
  completion_requirement: "Over stages: {Condition: id} | {And: [..]} | {Or: [..]} | {Not: ..} | " +
    "{RequireGroup: {min, reqs}}",
  parameters: "{parameter_id, domain, description?}; in a predicate expected: {parameter: id}",
  conditions: "Domains: Boolean, String, Integer, Decimal, Timestamp, Digest, Json. Like " +
    JSON.stringify(EXAMPLE_CONDITION) +
    ". Without evidence_use_policy all bindings of the condition count, or the caller's word without bindings",
  policies: "{policy_id, evidence_use_policy?}",
  schemas: "{schema_id, version}",
  value_limits: "{selection: InheritOperator} | {selection: Explicit, maximum_value_bytes, maximum_payload_bytes}",
  acquisition_bindings: "{binding_id, condition_id, channel, provider_id, check_id, params?}",
};

const DEFINITIONS = member(SPEC_SCHEMA, "$defs") as JsonObject;

/** The type of a member, or its constant. */
function typeOf(schema: JsonValue): JsonObject {
  const { $ref: reference, const: constant, type = "object" } = schema as Readonly<Record<string, JsonValue>>;
  if (constant !== undefined) return { const: constant };
  if (typeof reference !== "string") return { type };
  const found = member(DEFINITIONS, reference.slice(reference.lastIndexOf("/") + 1));
  return isJsonObject(found) ? { type: found["type"] ?? "object" } : { type };
}

/** The schema of `spec` in the list of tools. */
export function listedSpecSchema(): JsonObject {
  const { properties, required = [] } = SPEC_SCHEMA as { properties: JsonObject; required?: JsonValue };
  const listed = Object.entries(properties).map(([name, schema]) => {
    const description = HINTS[name];
    const type = typeOf(schema);
    const items = type["type"] === "array" ? { items: { type: "object" } } : {};
    return [name, { ...type, ...items, ...description === undefined ? {} : { description } }];
  });
  return { type: "object", properties: Object.fromEntries(listed), required, additionalProperties: false };
}
