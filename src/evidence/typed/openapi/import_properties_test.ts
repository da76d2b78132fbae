/** Properties of the import: the order of members changes nothing, and no document makes it throw. */

import assert from "node:assert/strict";
import fc from "../../../../tests/packages/fast_check.ts";
import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../canonical/json.ts";
import { documentOf, operationOf, problemsOf, withSchemas } from "./document_fixture.ts";
import { importOpenApi } from "./import.ts";

const OPTIONS = { provider_id: "random" };

const names = fc.constantFrom("a", "b", "c", "id", "__proto__", "constructor", "$ref", "a/b", "~", "%", "ü");
const schemaNames = fc.constantFrom("A", "B", "C", "__proto__");
const scalars: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, "", "x", "#", "2"),
  fc.integer({ min: -5, max: 500 }),
);

/** Values of keywords: mostly of their form, some of another one. */
const { schema } = fc.letrec<{ schema: JsonValue; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<JsonValue>({ type: "string" }, { type: "integer" }, { type: "boolean" }, true, false, {}),
    schemaNames.map((name) => ({ $ref: `#/components/schemas/${name}` })),
    tie("object"),
  ),
  object: fc.record({
    type: fc.constantFrom<JsonValue>("object", "array", "string", ["string", "null"], ["object"], "any", 5, []),
    nullable: fc.oneof(fc.boolean(), scalars),
    properties: fc.oneof({ weight: 4, arbitrary: fc.dictionary(names, tie("schema"), { maxKeys: 3 }) }, {
      weight: 1,
      arbitrary: scalars,
    }),
    additionalProperties: fc.oneof(tie("schema"), scalars),
    items: fc.oneof(tie("schema"), scalars),
    allOf: fc.oneof(fc.array(tie("schema"), { maxLength: 3 }), scalars),
    anyOf: fc.array(tie("schema"), { maxLength: 3 }),
    oneOf: fc.array(tie("schema"), { maxLength: 3 }),
    not: tie("schema"),
    patternProperties: fc.dictionary(fc.constantFrom("^a", "(", "x{2}"), tie("schema"), { maxKeys: 2 }),
    required: fc.oneof(fc.array(names, { maxLength: 3 }), scalars),
    enum: fc.oneof(fc.array(scalars, { maxLength: 3 }), scalars),
    const: scalars,
    pattern: fc.oneof(fc.constantFrom("^a+$", "(", "\\p{L}", "a{1000}"), scalars),
    minimum: scalars,
    exclusiveMinimum: scalars,
    multipleOf: scalars,
    maxLength: scalars,
    uniqueItems: scalars,
    format: scalars,
    readOnly: fc.boolean(),
  }, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>,
}));

const parameter: fc.Arbitrary<JsonValue> = fc.oneof(
  scalars,
  fc.record({
    name: fc.oneof(names, scalars),
    in: fc.constantFrom("path", "query", "header", "cookie", "body"),
    required: fc.boolean(),
    schema,
    style: fc.constantFrom("simple", "form", "deepObject", "label", "matrix", "pipeDelimited", 5),
    explode: fc.oneof(fc.boolean(), scalars),
    content: fc.constant({}),
  }, { requiredKeys: ["name", "in"] }) as fc.Arbitrary<JsonObject>,
);

const parameters = fc.oneof(
  { weight: 3, arbitrary: fc.constant([{ name: "id", in: "query", schema: { type: "string" } }]) },
  { weight: 1, arbitrary: fc.array(parameter, { maxLength: 3 }) },
);

const operation: fc.Arbitrary<JsonValue> = fc.tuple(schema, parameters, fc.oneof(names, scalars))
  .map(([result, given, operationId]) => operationOf({ parameters: given, operationId }, result));

const pathItem = fc.oneof(
  { weight: 3, arbitrary: operation.map((get) => ({ get })) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom("get", "head", "post", "parameters", "servers", "$ref"),
      fc.oneof(operation, scalars),
      { maxKeys: 3 },
    ),
  },
);

const paths = fc.dictionary(
  fc.constantFrom("/a", "/b", "/c", "/{id}", "/{a}/{b}", "/a?b", "b", "/{", "/__proto__"),
  pathItem,
  { maxKeys: 4 },
);

const documents = fc.tuple(paths, fc.dictionary(schemaNames, schema, { maxKeys: 4 }), fc.constantFrom("3.0.3", "3.1.0"))
  .map(([given, schemas, openapi]) => documentOf(given as JsonObject, { openapi, components: { schemas } }));

/** The value with the members of every object the other way around; integer-like names always come first. */
function reversed(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([name, inner]) => [name, reversed(inner)]));
}

Deno.test("the order of members does not change the import", () => {
  fc.assert(fc.property(documents, (document) => {
    const [one, other] = [document, reversed(document)].map((given) => importOpenApi(given, OPTIONS));
    assert.equal(canonicalize(one as unknown as JsonValue), canonicalize(other as unknown as JsonValue));
  }));
});

Deno.test("every imported contract and profile is accepted, and every usable operation has a check", () =>
  withSchemas(async (schemas) => {
    let imported = 0;
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const result = importOpenApi(document, OPTIONS);
        assert.deepEqual(await problemsOf(result, schemas), []);
        for (const { usable, reasons, check_id } of result.candidates) {
          assert.equal(usable, reasons.length === 0);
          assert.equal(check_id !== null, usable && result.ok);
        }
        if (result.ok) imported += 1;
      }),
      { numRuns: 1000 },
    );
    assert.ok(imported > 0, "No random document was imported");
    console.log(`${imported} random documents gave a contract`);
  }));

/** Every place of a document: the steps to each value. */
function placesIn(value: JsonValue, steps: readonly string[] = []): readonly (readonly string[])[] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [steps, ...inner.flatMap(([name, one]) => placesIn(one as JsonValue, [...steps, name]))];
}

function replaced(value: JsonValue, steps: readonly string[], by: JsonValue): JsonValue {
  const [first, ...rest] = steps;
  if (first === undefined) return by;
  const change = ([name, inner]: readonly [string, JsonValue]): readonly [string, JsonValue] => [
    name,
    name === first ? replaced(inner, rest, by) : inner,
  ];
  const entries = Object.entries(value as JsonObject).map(change);
  return isJsonArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

Deno.test("no mutated document makes the import throw", () => {
  const mutations = documents.chain((document) => {
    const places = placesIn(document);
    const mutated = fc.tuple(
      fc.nat({ max: places.length - 1 }),
      fc.oneof(scalars, fc.jsonValue(), fc.constantFrom(...places)),
    );
    return mutated.map(([index, by]) => replaced(document, places[index] ?? [], by as JsonValue));
  });
  fc.assert(fc.property(mutations, (document) => {
    const { ok, candidates } = importOpenApi(document, OPTIONS);
    assert.equal(typeof ok, "boolean");
    assert.ok(Array.isArray(candidates));
  }));
});
