/** The JSON Schema of law files, for editors. What stands in the long form refers to the definitions of a spec. */

import type { JsonObject } from "../../canonical/json.ts";

const TEXT: JsonObject = { type: "string", minLength: 1 };
const TEXTS: JsonObject = { type: "array", items: TEXT };
const DURATION: JsonObject = { type: "string", pattern: "^(0|[1-9][0-9]*)(ms|s|m|h|d)$" };
const NAMES: JsonObject = { pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };

function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

function named(value: JsonObject, description: string): JsonObject {
  return { type: "object", description, propertyNames: NAMES, additionalProperties: value };
}

function listOf(definition: string): JsonObject {
  return { type: "array", items: { $ref: `#/$defs/${definition}` } };
}

function line(description: string): JsonObject {
  return { type: "string", minLength: 1, description };
}

const EXPRESSION = line("Such as: tests_failed == 0 && approved");
const STAGES = line("An expression over the names of stages");
const TYPE = line("text, text(7..40), integer, count, decimal, percent, boolean, time, sha256 or json(4096)");
const SOURCE: JsonObject = {
  anyOf: [
    line("json FILE JSONPATH, rest URL JSONPATH, http URL, env KEY, after TIMESTAMP"),
    { type: "object", description: "{PROVIDER.CHECK: PARAMS}", minProperties: 1, maxProperties: 1 },
  ],
};
const EVIDENCE = closed({
  type: TYPE,
  id: TEXT,
  bindings: TEXTS,
  from: { anyOf: [SOURCE, { type: "array", items: SOURCE, minItems: 1 }] },
  within: DURATION,
  signed_by: { anyOf: [TEXT, TEXTS] },
  waits: { type: "boolean" },
  quorum: { type: "integer", minimum: 1 },
  any: { type: "boolean" },
  policy: { type: ["string", "object"], description: "Members of a policy, or the id of one of policies" },
});

/** The schema of a law file. Its references are those of the schema of a spec. */
export const LAW_FILE_SCHEMA: JsonObject = closed({
  law: line("The scenario_id"),
  namespace: { type: "integer", minimum: 1 },
  question: line("For readers of the file; it is no part of the law"),
  parameters: named(
    { anyOf: [TYPE, closed({ type: TYPE, id: TEXT, description: { type: "string" } }, ["type"])] },
    "NAME: TYPE",
  ),
  people: named(
    { anyOf: [TEXTS, { type: "object", additionalProperties: TEXT }] },
    "GROUP: [KEY_NAME], or {KEY_NAME: PUBLIC_KEY}",
  ),
  evidence: named({
    anyOf: [line("caller, a type, 2 of GROUP within 24h, TYPE from LINE, or the line of a check"), EVIDENCE],
  }, "NAME: LINE"),
  stages: named({
    anyOf: [
      EXPRESSION,
      { type: "array", items: EXPRESSION, minItems: 1 },
      closed({
        id: TEXT,
        after: STAGES,
        when: { anyOf: [EXPRESSION, { type: "array", items: EXPRESSION, minItems: 1 }] },
        packets: listOf("packet"),
      }, ["when"]),
    ],
  }, "NAME: EXPRESSION"),
  complete: STAGES,
  limits: closed({ value_bytes: { type: "integer" }, payload_bytes: { type: "integer" } }, [
    "value_bytes",
    "payload_bytes",
  ]),
  schemas: { type: "array", items: { anyOf: [line("ID@VERSION"), { $ref: "#/$defs/schema" }] } },
  policies: { type: "array", items: { type: "object" } },
  unused: { type: "array", items: EXPRESSION },
  long: closed({ conditions: listOf("condition"), acquisition_bindings: listOf("binding"), stages: listOf("stage") }),
}, ["law"]);
