import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./schema_compiler.ts";
import { createSchemaSandbox, type SchemaSandbox, SchemaSandboxError } from "./schema_sandbox.ts";

/** Runs a test with a sandbox of its own, which is closed after it. */
function withSandbox(
  name: string,
  test: (sandbox: SchemaSandbox) => Promise<void>,
  options: Parameters<typeof createSchemaSandbox>[0] = {},
): void {
  Deno.test(name, async () => {
    const sandbox = createSchemaSandbox(options);
    try {
      await test(sandbox);
    } finally {
      sandbox.close();
    }
  });
}

function rejectsWith(code: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof SchemaSandboxError);
    assert.equal(error.code, code);
    return true;
  };
}

type Verdict = readonly [name: string, schema: JsonValue, value: string, verdict: "valid" | "invalid"];

/** Verdicts about values with a member of a name that every object inherits, or none does. */
function hostileName(name: string): readonly Verdict[] {
  const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue;
  const [one, other] = [`{"${name}":{"a":1}}`, `{"${name}":{"a":2}}`];
  return [
    [`const with ${name}`, parse(`{"const":${one}}`), one, "valid"],
    [`another const with ${name}`, parse(`{"const":${one}}`), other, "invalid"],
    [`const without ${name}`, { const: {} }, one, "invalid"],
    [`enum with ${name}`, parse(`{"enum":[1,${one}]}`), one, "valid"],
    [`another enum with ${name}`, parse(`{"enum":[1,${one}]}`), other, "invalid"],
    [`the same ${name} twice`, { uniqueItems: true }, `[${one},1,${one}]`, "invalid"],
    [`different ${name}`, { uniqueItems: true }, `[${one},1,${other}]`, "valid"],
    ...name === "__proto__" ? [] : [
      [`a definition ${name}`, parse(`{"$ref":"#/$defs/${name}","$defs":{"${name}":{"type":"null"}}}`), "1", "invalid"],
    ] as const,
  ];
}

/** The example of the specification for dynamic references: a tree, and a stricter one that extends it. */
const TREE: JsonValue = {
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

/** Schema, value as JSON text, verdict. */
const VERDICTS: readonly Verdict[] = [
  ["true takes everything", true, "null", "valid"],
  ["false takes nothing", false, "null", "invalid"],
  ["unknown keywords are annotations", { "x-gate": { dynamic_type: true } }, "1", "valid"],
  ["format is an annotation", { format: "ipv4" }, '"x"', "valid"],
  ["2020-12 tuples", { prefixItems: [{ type: "string" }], items: false }, '["a",1]', "invalid"],
  ["local references", { $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, "1", "invalid"],
  ["__proto__ counts as a member", { additionalProperties: false }, '{"__proto__":1}', "invalid"],
  ["__proto__ can be required", { required: ["__proto__"] }, "{}", "invalid"],
  ["__proto__ that is there", { required: ["__proto__"] }, '{"__proto__":1}', "valid"],
  ["inherited names are no members", { required: ["constructor"] }, "{}", "invalid"],
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
  ["unevaluated under a schema that holds", { unevaluatedProperties: { type: "integer" } }, '{"a":1}', "valid"],
  [
    "unevaluated seen through a reference",
    {
      $ref: "#/$defs/a",
      unevaluatedProperties: false,
      $defs: { a: { properties: { a: true } } },
    },
    '{"a":1}',
    "valid",
  ],
];

withSandbox("SchemaSandbox.validate() gives the verdict of JSON Schema 2020-12", async (sandbox) => {
  for (const [index, [name, schema, value, verdict]] of VERDICTS.entries()) {
    const result = await sandbox.validate(`schema-${index}`, schema, JSON.parse(value) as JsonValue);
    assert.equal(result === "valid" ? "valid" : "invalid", verdict, name);
    const again = await sandbox.validate(`schema-${index}`, schema, JSON.parse(value) as JsonValue);
    assert.deepEqual(again, result, `${name}, from the cache`);
  }
});

withSandbox(
  "SchemaSandbox.validate() keeps escaped member names of one value apart from those of another",
  async (sandbox) => {
    const schema: JsonValue = { required: ["k", "\\"] };
    const named = (name: string): JsonValue => Object.fromEntries([["k", 0], [name, 1]]);
    assert.equal(await sandbox.validate("names", schema, named("\\")), "valid");
    // JSON.parse would read this name as the one before.
    assert.notEqual(await sandbox.validate("names", schema, named("\n")), "valid");
    const other: JsonValue = { required: ["k", "\n"] };
    assert.notEqual(await sandbox.validate("others", other, named("\\")), "valid");
    assert.equal(await sandbox.validate("others", other, named("\n")), "valid");
  },
);

/** Schema, value, what the verdict says of it. */
const EXPLAINED: readonly (readonly [schema: JsonValue, value: JsonValue, message: string])[] = [
  [
    { properties: { a: { items: { additionalProperties: false } } } },
    { a: [{}, { "b c": 1 }] },
    '$.a[1]: must NOT have additional properties: "b c"',
  ],
  [{ properties: { "0": { type: "null" } } }, { "0": 1 }, '$["0"]: must be null'],
  [{ properties: { "a/~b": { type: "null" } } }, { "a/~b": 1 }, '$["a/~b"]: must be null'],
  [{ enum: ["x", 1] }, 2, '$: must be equal to one of the allowed values: "x", 1'],
  [{ required: ["a"] }, {}, "$: must have required property 'a'"],
];

withSandbox(
  "SchemaSandbox.validate() says where a value fails, by JSON path, and what was expected",
  async (sandbox) => {
    for (const [index, [schema, value, message]] of EXPLAINED.entries()) {
      assert.deepEqual(await sandbox.validate(`explained-${index}`, schema, value), { invalid: message });
    }
  },
);

/** Schema, what the refusal says. */
const REFUSED: readonly (readonly [schema: JsonValue, message: RegExp])[] = [
  [{ type: "strnig" }, /^\$\.type: must be equal to one of the allowed values: "array", "boolean", "integer", /],
  [{ pattern: "(" }, /Invalid regular expression/],
  [{ $ref: "https://example.com/schema.json" }, /can't resolve reference/],
  [{ $ref: "#/$defs/none" }, /can't resolve reference/],
  [
    { $schema: "http://json-schema.org/draft-07/schema#" },
    /^\$\.\$schema: must be "https:.*2020-12\/schema", got "http:.*draft-07\/schema#"$/,
  ],
  [{ items: [{ type: "string" }] }, /^\$\.items: must be object,boolean/],
  [{ $async: true, type: "string" }, /^\$\.\$async: /],
  [{ properties: { a: { nullable: true, type: "string" } } }, /^\$\.properties\.a\.nullable: /],
  [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonValue, /^\$\.properties\.__proto__: /],
  [{ allOf: [{ contains: { type: "string" } }], unevaluatedItems: false }, /cannot be enforced together/],
  ...["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"].flatMap((name) =>
    [
      [{ $ref: name }, /can't resolve reference/],
      [{ $ref: `#/$defs/${name}`, $defs: {} }, /can't resolve reference/],
      [
        { $ref: name, $defs: { a: { $id: name, type: "null" } } },
        name === "__proto__" ? null : /can't resolve reference/,
      ],
      [{ $dynamicAnchor: name, $dynamicRef: `#${name}` }, name === "__proto__" ? null : /^\$\.\$dynamicAnchor: /],
    ] as [JsonValue, RegExp | null][]
  ).filter((row): row is [JsonValue, RegExp] => row[1] !== null),
  ...["validation#/$defs", "validation#/$defs/nonNegativeInteger", "applicator#/$defs/schemaArray"].map((part) =>
    [{ $ref: `https://json-schema.org/draft/2020-12/meta/${part}` }, /can't resolve reference/] as const
  ),
  [{ $ref: "#/description", description: "text" }, /can't resolve reference #\/description to a schema/],
  [{ $ref: "#/prefixItems/length", prefixItems: [true] }, /can't resolve reference/],
  [{ $ref: "#/allOf", allOf: [true] }, /can't resolve reference/],
  [{ $ref: "#/$defs", $defs: { a: { type: "null" } } }, /can't resolve reference/],
  [{ $ref: "#/unknown", unknown: { required: [""] } }, /can't resolve reference #\/unknown to a schema/],
  [{ properties: { a: { $ref: "#/" } } }, /can't resolve reference/],
  [{ required: ["a", ""] }, /^\$\.required: a rule for a member without a name/],
  [{ dependentRequired: { a: [""] } }, /^\$\.dependentRequired\.a: /],
  [{ items: { $recursiveRef: "#" } }, /^\$\.items\.\$recursiveRef: /],
  [{ $recursiveAnchor: true }, /^\$\.\$recursiveAnchor: /],
  [{ items: { $dynamicRef: "#a" }, $defs: { b: { $dynamicAnchor: "a" } } }, /^\$\.items\.\$dynamicRef: /],
  [{ items: { $dynamicRef: "#/$defs/b" }, $defs: { b: {} } }, /^\$\.items\.\$dynamicRef: /],
  [{ $dynamicAnchor: "a", $dynamicRef: "#a", $defs: { b: { $anchor: "a" } } }, /^\$\.\$defs\.b\.\$anchor: /],
  [null, /expected an object or a boolean/],
  ["string", /expected an object or a boolean/],
];

withSandbox("SchemaSandbox.check() refuses what cannot be enforced, and says why", async (sandbox) => {
  for (const [schema, message] of REFUSED) {
    const result = await sandbox.check(schema);
    assert.equal(result.ok, false, JSON.stringify(schema));
    assert.match(result.ok ? "" : result.message, message);
  }
  assert.deepEqual(await sandbox.check({ type: "object" }), { ok: true });
});

/** A schema with so many schemas nested below it. */
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

withSandbox("SchemaSandbox.validate() stops at the deadline, and goes on with the next job", async (sandbox) => {
  const slow = { pattern: "^(a+)+$" };
  const started = performance.now();
  const waiting = sandbox.validate("slow", slow, `${"a".repeat(64)}!`);
  const after = sandbox.validate("quick", { type: "string" }, "x");
  await assert.rejects(waiting, rejectsWith("deadline_exceeded"));
  assert.equal(await after, "valid");
  assert.ok(performance.now() - started < 10_000);
  assert.equal(await sandbox.validate("slow", slow, "aaa"), "valid");
}, { deadlineMillis: 300 });

withSandbox("SchemaSandbox.validate() tells endless recursion from a verdict", async (sandbox) => {
  const endless = {
    $ref: "#/$defs/a",
    $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
  };
  await assert.rejects(sandbox.validate("endless", endless, 1), rejectsWith("validator_failed"));
  assert.equal(await sandbox.validate("next", true, 1), "valid");
});

withSandbox("SchemaSandbox.validate() refuses to run a schema that does not compile", async (sandbox) => {
  await assert.rejects(sandbox.validate("bad", { type: "strnig" }, 1), rejectsWith("schema_refused"));
  await assert.rejects(sandbox.validate("bad", { type: "strnig" }, 1), rejectsWith("schema_refused"));
});

withSandbox("SchemaSandbox.validate() keeps at most so many schemas compiled", async (sandbox) => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 4; index++) {
      assert.equal(await sandbox.validate(`s${index}`, { const: index }, index), "valid");
    }
  }
}, { maximumSchemas: 2 });

withSandbox("SchemaSandbox keeps schemas with the same $id apart", async (sandbox) => {
  const first = { $id: "https://example.com/a", const: 1 };
  const second = { $id: "https://example.com/a", const: 2 };
  assert.equal(await sandbox.validate("first", first, 1), "valid");
  assert.equal(await sandbox.validate("second", second, 2), "valid");
  const outside = await sandbox.check({ $ref: "https://example.com/a" });
  assert.equal(outside.ok, false);
});

for (const [waiting, last] of [[2, "valid"], [3, "overloaded"]] as const) {
  withSandbox(`SchemaSandbox.validate() with ${waiting} waiting jobs of 2: ${last}`, async (sandbox) => {
    // The first is taken at once and does not wait.
    const jobs = Array.from({ length: waiting + 1 }, () => sandbox.validate("s", true, 1).catch((error) => error.code));
    assert.equal((await Promise.all(jobs)).at(-1), last);
  }, { maximumWaiting: 2 });
}

Deno.test("SchemaSandbox.close() rejects what waits and what comes", async () => {
  const sandbox = createSchemaSandbox();
  const waiting = [sandbox.check(true), sandbox.check(true)];
  sandbox.close();
  for (const job of waiting) await assert.rejects(job, rejectsWith("closed"));
  await assert.rejects(sandbox.check(true), rejectsWith("closed"));
});
