import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./compile.ts";

/** The fault of a value under a valid schema. */
function faultOf(schema: JsonValue, value: JsonValue): string | null {
  const compilation = compileSchema(schema);
  assert.ok("validator" in compilation, JSON.stringify(compilation));
  return compilation.validator(value);
}

type Verdict = readonly [name: string, schema: JsonValue, value: string, verdict: "valid" | "invalid"];

/** Verdicts about values with a member whose name may be an inherited one. */
function hostileName(name: string): readonly Verdict[] {
  const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue;
  const one = `{"${name}":{"a":1}}`;
  const other = `{"${name}":{"a":2}}`;
  return [
    [`const with ${name}`, parse(`{"const":${one}}`), one, "valid"],
    [`another const with ${name}`, parse(`{"const":${one}}`), other, "invalid"],
    [`const without ${name}`, { const: {} }, one, "invalid"],
    [`enum with ${name}`, parse(`{"enum":[1,${one}]}`), one, "valid"],
    [`another enum with ${name}`, parse(`{"enum":[1,${one}]}`), other, "invalid"],
    [`the same ${name} twice`, { uniqueItems: true }, `[${one},1,${one}]`, "invalid"],
    [`different ${name}`, { uniqueItems: true }, `[${one},1,${other}]`, "valid"],
    [`a definition ${name}`, parse(`{"$ref":"#/$defs/${name}","$defs":{"${name}":{"type":"null"}}}`), "1", "invalid"],
    [
      `an anchor ${name}`,
      { $dynamicRef: `#${name}`, $defs: { a: { $dynamicAnchor: name, type: "null" } } },
      "1",
      "invalid",
    ],
    [`an identity ${name}`, { $ref: name, $defs: { a: { $id: name, type: "null" } } }, "1", "invalid"],
  ];
}

/** The specification's example for dynamic references: a tree, and a stricter one that extends it. */
const TREE = {
  $id: "https://schemas.example/strict-tree",
  $dynamicAnchor: "node",
  $ref: "tree",
  unevaluatedProperties: false,
  $defs: {
    tree: {
      $id: "tree",
      $dynamicAnchor: "node",
      type: "object",
      properties: { data: true, children: { type: "array", items: { $dynamicRef: "#node" } } },
    },
  },
};

/** Value as JSON text, divisor, verdict. */
const MULTIPLES: readonly (readonly [value: string, of: number, verdict: Verdict[3]])[] = [
  ["19.99", 0.01, "valid"],
  ["0.07", 0.01, "valid"],
  ["19.995", 0.01, "invalid"],
  ["-1.1", 0.1, "valid"],
  ["0", 7, "valid"],
  ["9007199254740991", 2, "invalid"],
  ["1e308", 123456789, "invalid"],
  ["1e308", 1e-300, "valid"],
  ["5e-324", 1e308, "invalid"],
  ["0.0075", 0.0001, "valid"],
  ['"no number"', 0.01, "valid"],
];

const GENERIC_LIST = {
  $id: "list",
  type: "array",
  items: { $dynamicRef: "#item" },
  $defs: { any: { $dynamicAnchor: "item" } },
};

/** Identities, anchors and the references that resolve to them. */
const RESOURCES: readonly Verdict[] = [
  ["an identity below", { $ref: "a", $defs: { x: { $id: "a", type: "null" } } }, "1", "invalid"],
  [
    "a reference from an identity below",
    {
      $id: "http://example.com/laws/",
      $ref: "a",
      $defs: { x: { $id: "a", $ref: "b" }, y: { $id: "b", type: "null" } },
    },
    "1",
    "invalid",
  ],
  [
    "the document that contains a pointer",
    { $ref: "a#/$defs/n", $defs: { n: true, x: { $id: "a", $defs: { n: { type: "null" } } } } },
    "1",
    "invalid",
  ],
  ["a name", { $id: "urn:uuid:deadbeef", $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, "1", "invalid"],
  ["an escaped pointer", { $ref: "#/$defs/a~1b%25~0", $defs: { "a/b%~": { type: "null" } } }, "1", "invalid"],
  ["a definition without a name", { $ref: "#/$defs/", $defs: { "": { type: "null" } } }, "1", "invalid"],
  ["identities inside an enumeration", { enum: [{ $id: "a", $anchor: "b" }] }, '{"$id":"a","$anchor":"b"}', "valid"],
  ["identities inside a constant", { const: { $id: "a" } }, "{}", "invalid"],
  ["a list of anything", GENERIC_LIST, "[1]", "valid"],
  [
    "a list with an item type",
    { $ref: "list", $defs: { item: { $dynamicAnchor: "item", type: "string" }, list: GENERIC_LIST } },
    "[1]",
    "invalid",
  ],
  [
    "a list outside of the scope of the item type",
    {
      allOf: [{ $ref: "strings" }, { $ref: "list" }],
      $defs: {
        strings: { $id: "strings", maxItems: 9, $defs: { item: { $dynamicAnchor: "item", type: "string" } } },
        list: GENERIC_LIST,
      },
    },
    "[1]",
    "valid",
  ],
  [
    "an anchor that is not dynamic",
    {
      $ref: "list",
      $defs: { item: { $anchor: "item", type: "string" }, list: GENERIC_LIST },
    },
    "[1]",
    "valid",
  ],
  ["items that contains has matched", { contains: { type: "null" }, unevaluatedItems: false }, "[null,null]", "valid"],
  ["items beside it", { contains: { type: "null" }, unevaluatedItems: false }, "[null,1]", "invalid"],
  [
    "items below items",
    { allOf: [{ prefixItems: [true] }, { prefixItems: [true, true] }], unevaluatedItems: false },
    "[1,2]",
    "valid",
  ],
  [
    "every alternative's members",
    {
      anyOf: [{ properties: { a: true } }, { properties: { b: true } }],
      unevaluatedProperties: false,
    },
    '{"a":1,"b":2}',
    "valid",
  ],
  [
    "members of an invalid alternative",
    {
      anyOf: [{ properties: { a: { type: "null" } } }, true],
      unevaluatedProperties: false,
    },
    '{"a":1}',
    "invalid",
  ],
  [
    "members behind not",
    { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
    '{"a":1}',
    "invalid",
  ],
  ["members of if alone", { if: { properties: { a: true } }, unevaluatedProperties: false }, '{"a":1}', "valid"],
  [
    "members of an if that fails",
    {
      if: { properties: { a: { type: "null" } } },
      else: { properties: { b: true } },
      unevaluatedProperties: false,
    },
    '{"a":1}',
    "invalid",
  ],
  [
    "members of members",
    {
      properties: { a: { properties: { b: true } } },
      unevaluatedProperties: false,
    },
    '{"a":1,"b":2}',
    "invalid",
  ],
  [
    "members that a reference has evaluated",
    {
      $ref: "#/$defs/a",
      unevaluatedProperties: false,
      $defs: { a: { unevaluatedProperties: true } },
    },
    '{"b":1}',
    "valid",
  ],
  [
    "members by dependent schemas",
    {
      dependentSchemas: { a: { properties: { b: true } } },
      properties: { a: true },
      unevaluatedProperties: false,
    },
    '{"a":1,"b":2}',
    "valid",
  ],
];

/** Schema, value as JSON text, verdict. */
const VERDICTS: readonly Verdict[] = [
  ["true", true, "null", "valid"],
  ["false", false, "null", "invalid"],
  [
    "a rule for __proto__",
    JSON.parse('{"properties":{"__proto__":{"type":"null"}}}') as JsonValue,
    '{"__proto__":1}',
    "invalid",
  ],
  [
    "a rule for __proto__ alone",
    JSON.parse('{"properties":{"__proto__":{"type":"null"}}}') as JsonValue,
    "{}",
    "valid",
  ],
  ["a member without a name", { required: [""] }, "{}", "invalid"],
  ["a present member without a name", { required: [""] }, '{"":1}', "valid"],
  ["a member that needs one without a name", { dependentRequired: { a: [""] } }, '{"a":1}', "invalid"],
  ["inherited names need nothing", { dependentRequired: { toString: ["a"] } }, "{}", "valid"],
  ["older dependencies", { dependencies: { a: { required: ["b"] } } }, '{"a":1}', "invalid"],
  ["characters outside the first plane", { maxLength: 1 }, '"\\ud83d\\ude00"', "valid"],
  ["integers with a point", { type: "integer" }, "1.0", "valid"],
  [
    "other libraries' keywords are annotations",
    { $async: true, discriminator: {}, propertyDependencies: 1 },
    "1",
    "valid",
  ],
  ["unknown keywords are annotations", { "x-gate": { dynamic_type: true } }, "1", "valid"],
  ["format is an annotation", { format: "ipv4" }, '"x"', "valid"],
  ["2020-12 tuples", { prefixItems: [{ type: "string" }], items: false }, '["a",1]', "invalid"],
  ["local references", { $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, "1", "invalid"],
  ["__proto__ counts as a member", { additionalProperties: false }, '{"__proto__":1}', "invalid"],
  ["__proto__ can be required", { required: ["__proto__"] }, "{}", "invalid"],
  ["a present __proto__", { required: ["__proto__"] }, '{"__proto__":1}', "valid"],
  ["inherited names are not members", { required: ["constructor"] }, "{}", "invalid"],
  ...["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "other"].flatMap(hostileName),
  ["references to anchors", { $ref: "#k", $defs: { a: { $anchor: "k", type: "null" } } }, "1", "invalid"],
  [
    "references to lists of schemas",
    { allOf: [true, { type: "null" }], not: { $ref: "#/allOf/1" } },
    "null",
    "invalid",
  ],
  [
    "references to the document",
    { properties: { a: { $ref: "#" } }, maxProperties: 1 },
    '{"a":{"b":1,"c":2}}',
    "invalid",
  ],
  ...MULTIPLES.map(([value, of, verdict]): Verdict => [`${value} by ${of}`, { multipleOf: of }, value, verdict]),
  ["the metaschema", { $ref: "https://json-schema.org/draft/2020-12/schema" }, '{"items":{"type":"null"}}', "valid"],
  ["the metaschema, deep", { $ref: "https://json-schema.org/draft/2020-12/schema" }, '{"items":{"type":1}}', "invalid"],
  ["dynamic references", TREE, '{"children":[{"data":1}]}', "valid"],
  ["dynamic references that are extended", TREE, '{"children":[{"daat":1}]}', "invalid"],
  ["rules for inherited names hold", { properties: { toString: { type: "null" } } }, '{"toString":1}', "invalid"],
  [
    "unevaluated, static",
    { properties: { a: true }, patternProperties: { "^x": true }, unevaluatedProperties: false },
    '{"a":1,"xy":2}',
    "valid",
  ],
  ["unevaluated alone", { unevaluatedProperties: false }, '{"a":1}', "invalid"],
  ["unevaluated without members", { unevaluatedProperties: false }, "{}", "valid"],
  ...["constructor", "toString", "__proto__", "other"].flatMap((name) => {
    const value = JSON.stringify({ a: 1 }).replace("}", `,"${name}":1}`);
    return [
      [
        `unevaluated, by pattern: ${name}`,
        { properties: { a: true }, patternProperties: { "^x": true }, unevaluatedProperties: false },
        value,
        "invalid",
      ],
      [
        `unevaluated, by branch: ${name}`,
        { anyOf: [{ properties: { a: true } }, { properties: { b: true } }], unevaluatedProperties: false },
        value,
        "invalid",
      ],
      [
        "unevaluated under a schema: " + name,
        {
          anyOf: [{ properties: { a: true } }, { properties: { b: true } }],
          unevaluatedProperties: { type: "string" },
        },
        value,
        "invalid",
      ],
    ] as const;
  }),
  ...RESOURCES,
  ["unevaluated under a schema that holds", { unevaluatedProperties: { type: "integer" } }, '{"a":1}', "valid"],
  [
    "unevaluated, evaluated through a reference",
    {
      $ref: "#/$defs/a",
      unevaluatedProperties: false,
      $defs: { a: { properties: { a: true } } },
    },
    '{"a":1}',
    "valid",
  ],
];

for (const [name, schema, value, verdict] of VERDICTS) {
  Deno.test(`compileSchema() ${name}: ${verdict}`, () => {
    assert.equal(faultOf(schema, JSON.parse(value) as JsonValue) === null ? "valid" : "invalid", verdict);
  });
}

/** The stricter tree with a schema that nothing refers to. */
const STRICT_TREE: JsonValue = { ...TREE, $defs: { ...TREE.$defs, unused: { type: "null" } } };

/** Schema, pointer within it, value, and the fault of the value under the schema at the pointer. */
const POINTED: readonly (readonly [schema: JsonValue, pointer: string, value: JsonValue, fault: string | null])[] = [
  [{ properties: { a: { type: "integer" } } }, "/properties/a", 1, null],
  [{ properties: { a: { type: "integer" } } }, "/properties/a", { a: 1 }, "$: must be integer"],
  [{ properties: { a: { type: "integer" } } }, "", { a: "" }, "$.a: must be integer"],
  [{ properties: { "a/b~ c": { type: "null" } } }, "/properties/a~1b~0 c", 1, "$: must be null"],
  [{ allOf: [true, { items: false }] }, "/allOf/1/items", 1, "$: no value is allowed here"],
  // The dynamic scope begins at the root, as for a reference in the document.
  [STRICT_TREE, "/$defs/tree/properties/children", [{ data: 1 }], null],
  [STRICT_TREE, "/$defs/tree/properties/children", [{ date: 1 }], '$[0]: must NOT have unevaluated properties: "date"'],
];

Deno.test("a validator evaluates a schema at a pointer as through a reference", () => {
  for (const [schema, pointer, value, fault] of POINTED) {
    const compilation = compileSchema(schema);
    assert.ok("validator" in compilation, JSON.stringify(compilation));
    assert.equal(compilation.validator(value, undefined, pointer), fault, pointer);
  }
});

Deno.test("a validator rejects a pointer to a schema that the root does not refer to", () => {
  const compilation = compileSchema(STRICT_TREE);
  assert.ok("validator" in compilation);
  for (const pointer of ["/$defs/unused", "/$defs/none", "/$id"]) {
    assert.throws(() => compilation.validator(1, undefined, pointer), ReferenceError, pointer);
  }
});
