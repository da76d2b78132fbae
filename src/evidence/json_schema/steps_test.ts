/** Tests of the steps that a validation counts: only the step count can end a validation. */

import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./compile.ts";

const COUNT = 10_000;
const NAMES = Array.from({ length: COUNT }, (_, index) => `m${index}`);
const MEMBERS = Object.fromEntries(NAMES.map((name) => [name, 0]));
const TEXT = "é".repeat(16 * COUNT);

/** Schemas and values that take ten thousand operations, although the verdict depends on one. */
const COUNTED: readonly (readonly [name: string, schema: JsonValue, value: JsonValue])[] = [
  ["names, the first of which is not allowed", { additionalProperties: false }, MEMBERS],
  ["unevaluated names", { unevaluatedProperties: false }, MEMBERS],
  ["names, the first of which is invalid", { propertyNames: false }, MEMBERS],
  ["names, the first of which has an invalid value", { patternProperties: { "": false } }, MEMBERS],
  ["the number of names", { maxProperties: 1 }, MEMBERS],
  ["required names", { required: NAMES }, MEMBERS],
  ["required names without the last", { required: [...NAMES, "none"] }, MEMBERS],
  ["dependent names", { dependentRequired: { m0: NAMES } }, MEMBERS],
  ["dependent names of older drafts", { dependencies: { m0: NAMES } }, MEMBERS],
  ["a text and another constant of its length", { const: `${TEXT}a` }, `${TEXT}b`],
  ["a text and another of an enumeration", { enum: [`${TEXT}a`] }, `${TEXT}b`],
  ["texts that have to be unique", { uniqueItems: true }, [`${TEXT}a`, `${TEXT}b`]],
  ["the length of a text", { maxLength: 1 }, TEXT],
];

/** The steps of a validation. */
function stepsOf(schema: JsonValue, value: JsonValue): number {
  const compilation = compileSchema(schema);
  assert.ok("validator" in compilation, JSON.stringify(compilation).slice(0, 200));
  let steps = 0;
  compilation.validator(value, (more) => void (steps += more));
  return steps;
}

for (const [name, schema, value] of COUNTED) {
  Deno.test(`a schema counts ${name}`, () => assert.ok(stepsOf(schema, value) >= COUNT));
}

Deno.test("a schema counts the comparison of a container by the length of its text", () => {
  for (const schema of [{ const: {} }, { enum: [{}] }, { const: [{}] }]) {
    const value = Array.isArray(schema.const) ? [MEMBERS] : MEMBERS;
    assert.ok(stepsOf(schema, value) >= JSON.stringify(value).length >> 4, JSON.stringify(schema));
  }
});

Deno.test("compileSchema() counts the steps of compiling patterns", () => {
  const compiling = (schema: JsonValue): number => {
    let steps = 0;
    compileSchema(schema, (more) => void (steps += more));
    return steps;
  };
  assert.ok(compiling({ pattern: "a{5000}" }) - compiling({ pattern: "a" }) >= 5_000 - 1);
});

Deno.test("compileSchema() compiles each distinct pattern of a schema once", () => {
  const properties = (pattern: (index: number) => string): JsonValue =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, { pattern: pattern(index) }]));
  assert.ok("validator" in compileSchema({ properties: properties(() => "^[a-z]{5000}$") }));
  assert.ok("validator" in compileSchema({ properties: properties((index) => `^[a-z]+${index}$`) }));
  assert.ok("refusal" in compileSchema({ properties: properties((index) => `^[a-z]{5000}${index}$`) }));
});

Deno.test("no number is a key of a map or set of the runtime: their hashes can be made to collide", () => {
  const numbers = [0, -0, 1, 2.5, 1e21];
  const keys: unknown[] = [];
  const { add } = Set.prototype;
  const { set } = Map.prototype;
  try {
    Set.prototype.add = function (key): typeof this {
      keys.push(key);
      return add.call(this, key);
    };
    Map.prototype.set = function (key, value): typeof this {
      keys.push(key);
      return set.call(this, key, value);
    };
    for (const schema of [{ uniqueItems: true }, { enum: numbers }]) {
      const compilation = compileSchema(schema);
      assert.ok("validator" in compilation);
      for (const value of [...numbers, numbers]) compilation.validator(value);
    }
  } finally {
    Set.prototype.add = add;
    Map.prototype.set = set;
  }
  assert.deepEqual(numbers.filter((number) => !keys.includes(`${number}`)), [], "each was looked up");
  assert.deepEqual(keys.filter((key) => typeof key === "number"), []);
});
