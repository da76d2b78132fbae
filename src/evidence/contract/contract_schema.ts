/**
 * The JSON Schema of a capability contract, version 1. It is the shape that the check reads; the check also compiles the
 * schemas of the contract, counts bytes, and compares the owner.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { CHECKS_MAXIMUM, CONTRACT_LIMITS } from "./check.ts";

const NAME: JsonObject = { type: "string", minLength: 1, maxLength: CONTRACT_LIMITS.identifierBytes };
const IDENTIFIER: JsonObject = { ...NAME, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" };
const TEXT: JsonObject = { type: "string", maxLength: CONTRACT_LIMITS.textBytes };
const SCHEMA: JsonObject = { type: ["object", "boolean"] };

function closed(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function texts(items: JsonObject, description: string): JsonObject {
  return { type: "array", items, maxItems: CONTRACT_LIMITS.listItems, uniqueItems: true, description };
}

const TYPES: JsonObject = { type: "string", minLength: 1, maxLength: CONTRACT_LIMITS.textBytes };

const EXAMPLE = closed({
  description: { ...TEXT, description: "What the example shows." },
  params: { description: "Params of a query." },
  result: { description: "The value that the query finds." },
});

const CHECK = closed({
  check_id: { ...IDENTIFIER, description: "Names the check within the contract; unique." },
  description: { ...TEXT, description: "What the check finds." },
  determinism: {
    enum: ["deterministic", "time_dependent", "external"],
    description: "What the result depends on; for readers.",
  },
  params_required: { type: "boolean", description: "Whether a binding must have params." },
  params_schema: { ...SCHEMA, description: "JSON Schema 2020-12 of params." },
  result_schema: { ...SCHEMA, description: "JSON Schema 2020-12 of the value." },
  allowed_comparators: {
    type: "array",
    items: { enum: [...COMPARATORS] },
    minItems: 1,
    maxItems: COMPARATORS.length,
    uniqueItems: true,
    description: "The comparators that a law may use, in any order.",
  },
  anchor_types: texts(TYPES, "Types of anchor that a reply may carry; empty for any."),
  content_types: texts(TYPES, "Media types that a reply may name; empty for any."),
  examples: { type: "array", items: EXAMPLE, maxItems: CONTRACT_LIMITS.listItems, description: "For readers." },
});

/** The JSON Schema (2020-12) of a capability contract. */
export const CONTRACT_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "gate provider contract",
  description: "Capability contract of a provider, version 1.",
  ...closed({
    provider_id: { ...IDENTIFIER, description: "The name of the provider in the configuration." },
    name: { ...NAME, description: "The name for people." },
    description: { ...TEXT, description: "What the provider knows." },
    transport: { enum: ["builtin", "mcp", "typed"], description: "The type of the provider in the configuration." },
    config_schema: { ...SCHEMA, description: "JSON Schema of the provider's settings; for readers." },
    checks: { type: "array", items: CHECK, minItems: 1, maxItems: CHECKS_MAXIMUM },
    notes: texts(TEXT, "Texts for readers."),
  }),
};
