/** Compares verdicts with those of ajv, over the keywords that ajv evaluates as the specification requires. */

import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import fc from "../../../tests/packages/fast_check.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./compile.ts";

const NAMES = ["a", "b", "ab"];

const scalar = fc.constantFrom<JsonValue>(null, true, 0, 1, 2.5, -3, "", "a", "ab", "b😀");

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const small = fc.nat(3);
const type = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");
const names = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 });
const pattern = fc.constantFrom("^a", "b$", ".");

const { schema } = fc.letrec<{ schema: JsonValue; object: JsonValue }>((tie) => {
  const inner = tie("schema");
  const several = fc.array(inner, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(fc.constantFrom(...NAMES), inner, { maxKeys: 2, noNullPrototype: true });
  const keywords = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    maximum: small,
    minimum: small,
    exclusiveMaximum: small,
    exclusiveMinimum: small,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    maxLength: small,
    minLength: small,
    pattern,
    maxItems: small,
    minItems: small,
    uniqueItems: fc.boolean(),
    maxProperties: small,
    minProperties: small,
    required: names,
    dependentRequired: fc.dictionary(fc.constantFrom(...NAMES), names, { maxKeys: 2, noNullPrototype: true }),
    allOf: several,
    anyOf: several,
    oneOf: several,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    dependentSchemas: named,
    properties: named,
    patternProperties: fc.dictionary(pattern, inner, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: inner,
    propertyNames: inner,
    prefixItems: several,
    items: inner,
    contains: inner,
    unevaluatedProperties: inner,
    $ref: fc.constantFrom("#/$defs/leaf", "#leaf"),
  };
  const object = fc.tuple(
    ...Object.entries(keywords).map(([keyword, arbitrary]) =>
      fc.option((arbitrary as fc.Arbitrary<JsonValue>).map((given) => [keyword, given] as const), {
        freq: 12,
        nil: null,
      })
    ),
  ).map((entries) => Object.fromEntries(entries.filter((entry) => entry !== null)) as JsonValue);
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), object), object };
});

const LEAF = { leaf: { $anchor: "leaf", type: ["string", "integer"], maxLength: 1 } };

Deno.test("compileSchema() gives the verdicts of ajv", () => {
  const compiler = () => new Ajv2020({ strict: false, ownProperties: true, validateFormats: false, logger: false });
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 5 }), (drawn, values) => {
      const document = (typeof drawn === "boolean" ? drawn : { ...drawn as object, $defs: LEAF }) as JsonValue;
      const compilation = compileSchema(document);
      assert.ok("validator" in compilation, JSON.stringify(compilation));
      const peer = compiler().compile(document as boolean | object);
      for (const one of values) {
        assert.equal(compilation.validator(one) === null, peer(one), JSON.stringify({ document, value: one }));
      }
    }),
    { numRuns: 60 },
  );
});
