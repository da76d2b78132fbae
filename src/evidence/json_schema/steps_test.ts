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

/** Numbers with colliding hashes in the runtime, whose hash function this repeats. */
function colliding(count: number): readonly number[] {
  const found: number[] = [];
  for (let number = 0; found.length < count; number++) {
    let hash = (~number + (number << 15)) | 0;
    hash ^= hash >>> 12;
    hash = (hash + (hash << 2)) | 0;
    hash = Math.imul(hash ^ (hash >>> 4), 2057);
    hash ^= hash >>> 16;
    if ((hash & 0x3fff) === 0) found.push(number);
  }
  return found;
}

Deno.test("numbers with colliding hashes take no longer than others", () => {
  const chosen = colliding(15_000);
  const others = chosen.map((number) => number + 1);
  const compilation = compileSchema({ uniqueItems: true });
  assert.ok("validator" in compilation);
  const { validator } = compilation;
  const millis = (work: () => unknown): number => {
    const rounds = [1, 2, 3].map(() => {
      const started = performance.now();
      work();
      return performance.now() - started;
    });
    return Math.min(...rounds);
  };
  const plain = millis(() => assert.equal(validator(others), null));
  assert.ok(millis(() => assert.equal(validator(chosen), null)) < 10 * plain + 10);
  const plainList = millis(() => compileSchema({ enum: others }));
  assert.ok(millis(() => compileSchema({ enum: chosen })) < 10 * plainList + 10);
});
