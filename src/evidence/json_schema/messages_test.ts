import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./compile.ts";

/** Schema, invalid value, message. */
const EXPLAINED: readonly (readonly [schema: JsonValue, value: JsonValue, message: string])[] = [
  [
    { properties: { a: { items: { additionalProperties: false } } } },
    { a: [{}, { "b c": 1 }] },
    '$.a[1]: must NOT have additional properties: "b c"',
  ],
  [{ properties: { "0": { type: "null" } } }, { "0": 1 }, '$["0"]: must be null'],
  [{ properties: { "a/~b": { type: "null" } } }, { "a/~b": 1 }, '$["a/~b"]: must be null'],
  [{ enum: ["x", 1] }, 2, '$: must be equal to one of the allowed values: "x", 1'],
  [{ enum: Array.from({ length: 17 }, (_, index) => index) }, 17, "$: must be equal to one of the allowed values"],
  [{ const: { a: 1 } }, {}, '$: must be equal to {"a":1}'],
  [{ required: ["a"] }, {}, '$: must have required property "a"'],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, '$: must have property "b" when property "a" is present'],
  [{ dependencies: { a: ["b"] } }, { a: 1 }, '$: must have property "b" when property "a" is present'],
  [{ properties: { a: { minimum: 2 } } }, { a: 1 }, "$.a: must be >= 2"],
  [{ items: { maxLength: 1 } }, ["a", "bc"], "$[1]: must NOT have more than 1 characters"],
  [{ minItems: 1 }, [], "$: must NOT have fewer than 1 items"],
  [{ uniqueItems: true }, [{ a: 1 }, 2, { a: 1 }], "$: must NOT have duplicate items (0 and 2)"],
  [{ prefixItems: [true], items: false }, [1, 2], "$: must NOT have more than 1 items"],
  [{ contains: { type: "null" }, minContains: 2 }, [null], "$: must contain at least 2 valid item(s), has 1"],
  [{ contains: { type: "null" }, maxContains: 1 }, [null, null], "$: must contain no more than 1 valid item(s), has 2"],
  [{ prefixItems: [true], unevaluatedItems: false }, [1, 2], "$: must NOT have unevaluated items: 1"],
  [{ propertyNames: { pattern: "^a" } }, { b: 1 }, '$: property name "b" must match pattern "^a"'],
  [{ properties: { a: false } }, { a: 1 }, "$.a: no value is allowed here"],
  [{ not: { type: "number" } }, 1, "$: must NOT be valid by not"],
  [{ if: { type: "number" }, then: { minimum: 5 } }, 1, "$: must be >= 5"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, "$: must be string, or must be null (anyOf)"],
  [
    { anyOf: [{ type: "string" }, { properties: { a: { type: "null" } } }, { properties: { a: { type: "string" } } }] },
    { a: 1 },
    "$.a: must be null (anyOf)",
  ],
  [{ oneOf: [{ type: "string" }, { type: "null" }] }, 1, "$: must be string, or must be null (oneOf)"],
  [{ oneOf: [true, false, true] }, 1, "$: must match exactly one schema in oneOf, not 0 and 2"],
  [
    { oneOf: Array.from({ length: 150_000 }, () => true) },
    1,
    "$: must match exactly one schema in oneOf, not 0 and 1 and 2 and 3 and 149996 more",
  ],
  [
    { enum: [0, 1, "2", [1]].flatMap((value) => [value, { a: value }]) },
    "1",
    '$: must be equal to one of the allowed values: 0, {"a":0}, 1, {"a":1}, "2", {"a":"2"}, [1], {"a":[1]}',
  ],
  [{ uniqueItems: true }, [1, "1", -0, [0], "[0]", 0], "$: must NOT have duplicate items (2 and 5)"],
];

Deno.test("the message about an invalid value names path and expectation", () => {
  for (const [schema, value, message] of EXPLAINED) {
    const compilation = compileSchema(schema);
    assert.equal("validator" in compilation ? compilation.validator(value) : compilation.refusal, message);
  }
});

const META = "https://json-schema.org/draft/2020-12";

/** Schema, message of the refusal. */
const REFUSED: readonly (readonly [schema: JsonValue, message: RegExp])[] = [
  [{ type: "strnig" }, /^\$\.type: must be equal to one of the allowed values: "array", "boolean", "integer", /],
  [{ properties: { a: { pattern: "(" } } }, /^\$\.properties\.a\.pattern: Invalid regular expression/],
  [
    { properties: Object.fromEntries([..."abcdefghi"].map((name) => [name, { pattern: `${name}{15000}` }])) },
    /^\$\.properties\.[a-i]\.pattern: the patterns of the schema are too large together$/,
  ],
  [
    { items: { pattern: `${"(".repeat(5_000)}${")".repeat(5_000)}` } },
    /^\$\.items\.pattern: pattern is nested too deep: more than 1000 nested groups$/,
  ],
  [
    { pattern: `${"a".repeat(5_000)}(` },
    /^\$\.pattern: Invalid regular expression: \/a{10,1000}\.\.\.a.*: Unterminated group$/,
  ],
  [{ patternProperties: { "[": true } }, /^\$\.patternProperties: Invalid regular expression/],
  [{ $ref: "https://example.com/schema.json" }, /^\$\.\$ref: cannot resolve reference "https:\/\/example/],
  [{ items: { $dynamicRef: "#a" }, $defs: { b: {} } }, /^\$\.items\.\$dynamicRef: cannot resolve reference/],
  [{ items: { $ref: "http://[" } }, /^\$\.items\.\$ref: cannot resolve reference/],
  [{ $id: "http://[" }, /^\$\.\$id: expected a URI reference of at most 2048 characters$/],
  [
    { $id: `http://example.com/${"a".repeat(2100)}` },
    /^\$\.\$id: expected a URI reference of at most 2048 characters$/,
  ],
  [{ $ref: `#/${"a".repeat(2100)}` }, /^\$\.\$ref: cannot resolve reference/],
  [{ $id: "a", $defs: { b: { $id: "a" } } }, /^\$\.\$defs\.b\.\$id: another schema has the identity "schema:\/a"$/],
  [{ $id: `${META}/schema` }, /^\$\.\$id: another schema has the identity/],
  [
    { $defs: { a: { $anchor: "x" }, b: { $dynamicAnchor: "x" } } },
    /^\$\.\$defs\.b\.\$dynamicAnchor: another schema has the anchor "x"$/,
  ],
  [
    { $schema: "http://json-schema.org/draft-07/schema#" },
    /^\$\.\$schema: must be "https:.*2020-12\/schema", got "http:.*draft-07\/schema#"$/,
  ],
  [{ items: [{ type: "string" }] }, /^\$\.items: must be object or boolean$/],
  [{ properties: { a: { nullable: true, type: "string" } } }, /^\$\.properties\.a\.nullable: /],
  [{ id: "a" }, /^\$\.id: it is a keyword of older drafts; use "\$id"$/],
  [{ items: { $recursiveRef: "#" } }, /^\$\.items\.\$recursiveRef: /],
  [{ $recursiveAnchor: true }, /^\$\.\$recursiveAnchor: /],
  ...["constructor", "toString", "__proto__"].flatMap((name) =>
    [`${name}`, `#${name}`, `#/$defs/${name}`, `#/properties/${name}`].map((reference) =>
      [{ $ref: reference, $defs: {}, properties: {} }, /cannot resolve reference/] as const
    )
  ),
  ...[
    "#/description",
    "#/prefixItems/length",
    "#/prefixItems",
    "#/prefixItems/01",
    "#/prefixItems/1",
    "#/$defs",
    "#/$defs/none",
    "#/unknown",
    "#/const",
    "#/dependencies/list",
    "#/",
    "#/%",
    `${META}/meta/validation#/$defs`,
    `${META}/meta/none`,
  ].map((reference) =>
    [{
      $ref: reference,
      description: "text",
      prefixItems: [true],
      $defs: { a: true },
      unknown: { type: "null" },
      const: { type: "null" },
      dependencies: { list: ["a"] },
    }, /^\$\.\$ref: cannot resolve reference/] as const
  ),
  [null, /expected an object or a boolean/],
  ["string", /expected an object or a boolean/],
];

Deno.test("compileSchema() refuses a schema that is invalid or not enforceable, with its path", () => {
  for (const [schema, message] of REFUSED) {
    const compilation = compileSchema(schema);
    assert.match("refusal" in compilation ? compilation.refusal : "compiled", message, JSON.stringify(schema));
  }
});

/** A schema nested to a depth. */
function nested(levels: number): JsonValue {
  let schema: JsonValue = true;
  for (let level = 0; level < levels; level++) schema = { not: schema };
  return schema;
}

for (const [levels, ok] of [[63, true], [64, true], [65, false]] as const) {
  Deno.test(`compileSchema() ${levels} levels: ${ok ? "compiled" : "refused"}`, () => {
    assert.equal("validator" in compileSchema(nested(levels)), ok);
  });
}

Deno.test("compileSchema() follows a chain of references of any length", () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => [index, { $ref: `#/$defs/${index + 1}` }] as const);
  const compilation = compileSchema({ $ref: "#/$defs/0", $defs: Object.fromEntries(chain) });
  const end = '$.$defs["19999"].$ref: cannot resolve reference "#/$defs/20000" to a schema of this document';
  assert.deepEqual("refusal" in compilation ? compilation.refusal : "compiled", end);
});

const LONG = "\u0001".repeat(100_000);

/** Schemas and values with long strings wherever a message may quote them. */
const LENGTHY: readonly (readonly [schema: JsonValue, value: JsonValue])[] = [
  [{ properties: { [LONG]: { nullable: true } } }, null],
  [{ properties: { [LONG]: { $ref: LONG } } }, null],
  [{ $schema: LONG }, null],
  [{ $defs: { a: { $anchor: LONG }, b: { $anchor: LONG } } }, null],
  [{ pattern: `(${LONG.slice(0, 30_000)}` }, null],
  [{ additionalProperties: { type: "null" } }, { [LONG]: 1 }],
  [{ additionalProperties: false }, { [LONG]: 1 }],
  [{ unevaluatedProperties: false }, { [LONG]: 1 }],
  [{ propertyNames: { pattern: "a" } }, { [LONG]: 1 }],
  [{ required: [LONG] }, {}],
  [{ dependentRequired: { a: [LONG] } }, { a: 1 }],
  [{ dependencies: { [LONG]: ["b"] } }, { [LONG]: 1 }],
  [{ const: LONG }, 1],
  [{ const: { a: LONG } }, 1],
  [{ enum: Array.from({ length: 16 }, (_, index) => `${LONG}${index}`) }, 1],
  [{ pattern: "a" }, LONG],
  [{ anyOf: Array.from({ length: 1_000 }, (_, index) => ({ required: [`${index}${LONG.slice(0, 100)}`] })) }, {}],
  [{ items: { oneOf: Array.from({ length: 1_000 }, () => ({ const: LONG })) } }, [1]],
];

Deno.test("the length of a message is bounded for any schema and value", () => {
  for (const [schema, value] of LENGTHY) {
    const compilation = compileSchema(schema);
    const message = "validator" in compilation ? compilation.validator(value) : compilation.refusal;
    assert.ok(message !== null && message.length <= 1_600, `${message?.length} ${message?.slice(0, 200)}`);
  }
});

Deno.test("a message about nested alternatives stays short", () => {
  let schema: JsonValue = { const: 0 };
  for (let level = 0; level < 10; level++) {
    schema = { anyOf: [schema, { anyOf: [{ const: `${level}` }, { minimum: 2 + level }] }, { maximum: -level }] };
  }
  const compilation = compileSchema(schema);
  assert.ok("validator" in compilation);
  const message = compilation.validator(1) ?? "";
  assert.ok(message.startsWith("$: must ") && message.length < 300, message);
});
