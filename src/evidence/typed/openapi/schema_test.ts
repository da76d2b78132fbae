/** The conversion of OpenAPI schemas to JSON Schema 2020-12, and what is known of the converted ones. */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../canonical/json.ts";
import { pathAt } from "../../../canonical/path.ts";
import { compileSchema } from "../../json_schema/compile.ts";
import { documentOf } from "./document_fixture.ts";
import { CandidateFault, openDocument } from "./document.ts";
import { convertSchema, createSchemaConverter, type Direction, finishSchema } from "./schema.ts";
import { createSchemaFacts, isUntyped, schemaAt, typesOf, withTypes } from "./schema_facts.ts";

const SCHEMAS: JsonObject = {
  Text: { type: "string" },
  Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" } } },
  Pair: { allOf: [{ $ref: "#/components/schemas/Node" }, { type: "object", required: ["a"] }] },
  "odd/name": { type: "integer" },
  Loop: { $ref: "#/components/schemas/Loop" },
};

interface Converted {
  /** As in a contract, or the code of the reason. */
  readonly schema: JsonValue;
  readonly warnings: readonly string[];
  readonly converter: ReturnType<typeof createSchemaConverter>;
}

function convert(schema: JsonValue, version = "3.0.3", direction: Direction = "response"): Converted {
  const document = openDocument(
    { ...documentOf({}, { components: { schemas: SCHEMAS } }), openapi: version },
    () => {},
  );
  assert.ok(document);
  const converter = createSchemaConverter(document, direction);
  const path = pathAt("given");
  const attempt = (): JsonValue => {
    try {
      return finishSchema(converter, convertSchema(converter, { value: schema, path }), path);
    } catch (error) {
      if (error instanceof CandidateFault) return error.reason.code;
      throw error;
    }
  };
  const converted = attempt();
  return { schema: converted, warnings: document.warnings.warnings.map(({ pointer }) => pointer), converter };
}

/** The version, the schema, the converted schema, and the pointers of keywords that were left out. */
const ROWS:
  readonly (readonly [version: string, schema: JsonValue, converted: JsonValue, ignored?: readonly string[]])[] = [
    ["3.0.3", { type: "string", description: "d", example: "e", "x-a": 1, xml: {}, deprecated: true }, {
      type: "string",
    }],
    ["3.0.3", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["3.0.3", { type: "string", nullable: true, enum: ["a"] }, { type: ["string", "null"], enum: ["a", null] }],
    ["3.0.3", { nullable: true, $ref: "#/components/schemas/Text" }, {
      anyOf: [{ $ref: "#/$defs/Text" }, { type: "null" }],
      $defs: { Text: { type: "string" } },
    }],
    ["3.0.3", { nullable: true, oneOf: [{ type: "string" }] }, {
      anyOf: [{ oneOf: [{ type: "string" }] }, { type: "null" }],
    }],
    ["3.0.3", { nullable: true }, true],
    ["3.0.3", { type: "string", nullable: false }, { type: "string" }],
    ["3.0.3", { type: "integer", minimum: 1, exclusiveMinimum: true }, {
      type: "integer",
      minimum: 1,
      exclusiveMinimum: 1,
    }],
    ["3.0.3", { type: "integer", maximum: 1, exclusiveMaximum: false }, { type: "integer", maximum: 1 }],
    ["3.1.0", { type: "integer", exclusiveMaximum: 5 }, { type: "integer", exclusiveMaximum: 5 }],
    ["3.0.3", { $ref: "#/components/schemas/Text", maxLength: 3 }, { type: "string" }],
    ["3.1.0", { $ref: "#/components/schemas/Text", maxLength: 3 }, {
      $ref: "#/$defs/Text",
      maxLength: 3,
      $defs: { Text: { type: "string" } },
    }],
    ["3.1.0", { type: ["string", "null"], const: "a" }, { type: ["string", "null"], const: "a" }],
    ["3.1.0", { prefixItems: [{ type: "string" }], items: false }, { prefixItems: [{ type: "string" }], items: false }],
    ["3.1.0", { if: { type: "string" }, then: { minLength: 1 } }, { if: { type: "string" }, then: { minLength: 1 } }],
    ["3.1.0", { dependentRequired: { a: ["b"] } }, { dependentRequired: { a: ["b"] } }],
    ["3.1.0", { propertyNames: { pattern: "^a" } }, { propertyNames: { pattern: "^a" } }],
    ["3.0.3", { allOf: [{ type: "string" }] }, { type: "string" }],
    ["3.0.3", { type: "object", properties: { constructor: {} } }, {
      type: "object",
      properties: { constructor: true },
    }],
    ["3.0.3", { type: "object", required: ["a", "a", "b"] }, { type: "object", required: ["a", "b"] }, [
      "/given/required",
    ]],
    ["3.0.3", { type: "string", required: true }, { type: "string" }, ["/given/required"]],
    ["3.0.3", { type: "file" }, true, ["/given/type"]],
    ["3.0.3", { type: "string", pattern: "(" }, { type: "string" }, ["/given/pattern"]],
    ["3.0.3", { type: "string", pattern: "((a{1000}){1000}){1000}" }, { type: "string" }, ["/given/pattern"]],
    ["3.0.3", { type: "string", maxLength: -1 }, { type: "string" }, ["/given/maxLength"]],
    ["3.0.3", { type: "integer", multipleOf: 0 }, { type: "integer" }, ["/given/multipleOf"]],
    ["3.0.3", { type: "array", items: { type: "string" }, oneOf: [] }, { type: "array", items: { type: "string" } }, [
      "/given/oneOf",
    ]],
    ["3.0.3", { $ref: "#/components/schemas/Node" }, {
      type: "object",
      properties: { next: { $ref: "#/$defs/Node" } },
      $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } },
    }],
    ["3.0.3", { type: "array", items: { $ref: "#/components/schemas/odd~1name" } }, {
      type: "array",
      items: { $ref: "#/$defs/%23~1components~1schemas~1odd~01name" },
      $defs: { "#/components/schemas/odd~1name": { type: "integer" } },
    }],
    ["3.0.3", { $ref: "#/components/schemas/Loop" }, "reference_cycle"],
    ["3.0.3", { properties: { a: { $ref: "#/nowhere" } } }, "reference_unresolved"],
    ["3.1.0", { enum: [[[[[[]]]]]] }, "schema_too_deep"],
    ["3.1.0", { enum: [[[]]] }, { enum: [[[]]] }],
  ];

for (const [version, schema, expected, ignored = []] of ROWS) {
  Deno.test(`${version} ${JSON.stringify(schema)} becomes ${JSON.stringify(expected).slice(0, 100)}`, () => {
    const converted = convert(schema, version);
    assert.deepEqual(converted.schema, expected);
    assert.deepEqual(converted.warnings, ignored);
    if (typeof converted.schema !== "string") assert.ok("validator" in compileSchema(converted.schema));
  });
}

Deno.test("a property that only the other side sends is not required", () => {
  const properties = { a: { type: "string", readOnly: true }, b: { type: "string", writeOnly: true }, c: {} };
  const schema = { type: "object", required: ["a", "b", "c"], properties };
  const rows = [["response", ["a", "c"]], ["request", ["b", "c"]]] as const;
  for (const [direction, required] of rows) {
    assert.deepEqual((convert(schema, "3.0.3", direction).schema as JsonObject)["required"], required);
  }
});

Deno.test("schemas are converted up to 50 containers deep", () => {
  const nested = (depth: number): JsonValue => depth === 0 ? { type: "string" } : { not: nested(depth - 1) };
  for (const [depth, expected] of [[49, "object"], [50, "object"], [51, "string"]] as const) {
    assert.equal(typeof convert(nested(depth)).schema, expected, `${depth}`);
  }
});

Deno.test("types are known through references, unions and all parts", () => {
  const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
  const rows: readonly (readonly [schema: JsonValue, types: readonly string[] | null, untyped: boolean])[] = [
    [{ type: "string" }, ["string"], false],
    [ref("Pair"), ["object"], false],
    [{ oneOf: [ref("Text"), { type: "null" }] }, ["null", "string"], false],
    [{ anyOf: [ref("Text"), {}] }, null, true],
    [{ allOf: [{ type: ["integer", "string"] }, { type: "number" }] }, ["integer"], false],
    [{ allOf: [{ type: "string" }, { type: "number" }] }, [], false],
    [{ enum: ["a", 1] }, ["integer", "string"], false],
    [{}, null, true],
    [{ type: "object" }, ["object"], true],
    [{ type: "object", additionalProperties: true }, ["object"], true],
    [{ type: "object", additionalProperties: {} }, ["object"], true],
    [{ type: "object", additionalProperties: { type: "string" } }, ["object"], false],
    [{ type: "object", additionalProperties: false }, ["object"], false],
    [{ type: "object", properties: {} }, ["object"], true],
    [{ type: "array" }, ["array"], false],
  ];
  for (const [schema, types, untyped] of rows) {
    const { converter } = convert(true);
    const converted = convertSchema(converter, { value: schema, path: null });
    const facts = createSchemaFacts(converter);
    const found = typesOf(facts, converted);
    assert.deepEqual(found === null ? null : [...found].sort(), types, JSON.stringify(schema));
    assert.equal(isUntyped(facts, converted), untyped, JSON.stringify(schema));
  }
});

Deno.test("a union of references states its types", () => {
  const { converter } = convert(true);
  const schema = convertSchema(converter, { value: { oneOf: [{ $ref: "#/components/schemas/Text" }] }, path: null });
  const stated = withTypes(createSchemaFacts(converter), schema) as JsonObject;
  assert.equal(stated["type"], "string");
});

Deno.test("the schema at a pointer joins what applies there", () => {
  const { converter } = convert(true);
  const facts = createSchemaFacts(converter);
  const value = {
    allOf: [{ $ref: "#/components/schemas/Node" }, { properties: { next: { required: ["x"] } } }],
    properties: { list: { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } } },
    additionalProperties: { type: "boolean" },
  };
  const schema = convertSchema(converter, { value, path: null });
  const rows: readonly (readonly [steps: readonly string[], part: JsonValue | undefined])[] = [
    [[], schema],
    [["list", "0"], { type: "string" }],
    [["list", "1"], { type: "integer" }],
    [["list", "x"], undefined],
    [["other"], { type: "boolean" }],
    [["other", "deeper"], undefined],
    [["toString", "name"], undefined],
  ];
  for (const [steps, part] of rows) assert.deepEqual(schemaAt(facts, schema, steps), part, steps.join("/"));
  assert.deepEqual(schemaAt(facts, schema, ["next"]), {
    allOf: [{ type: "boolean" }, { $ref: "#/$defs/Node" }, { required: ["x"] }],
  });
});
