/** What is counted of holding a value against a schema: whoever waits ends it by that, because nothing else can. */

import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { compileSchema } from "./compile.ts";

const COUNT = 10_000;
const NAMES = Array.from({ length: COUNT }, (_, index) => `m${index}`);
const MEMBERS = Object.fromEntries(NAMES.map((name) => [name, 0]));
const TEXT = "é".repeat(16 * COUNT);

/** Schema and value of which somebody has to go through ten thousand things, though the verdict hangs on one of them. */
const COUNTED: readonly (readonly [name: string, schema: JsonValue, value: JsonValue])[] = [
  ["names, of which the first will not do", { additionalProperties: false }, MEMBERS],
  ["names that nobody has looked at", { unevaluatedProperties: false }, MEMBERS],
  ["names, of which the first is none", { propertyNames: false }, MEMBERS],
  ["names, of which the first stands for what is not allowed", { patternProperties: { "": false } }, MEMBERS],
  ["how many names there are", { maxProperties: 1 }, MEMBERS],
  ["required names", { required: NAMES }, MEMBERS],
  ["required names without the last", { required: [...NAMES, "none"] }, MEMBERS],
  ["names that go with one", { dependentRequired: { m0: NAMES } }, MEMBERS],
  ["names that go with one, as of old", { dependencies: { m0: NAMES } }, MEMBERS],
  ["a text and another constant of its length", { const: `${TEXT}a` }, `${TEXT}b`],
  ["a text and another of an enumeration", { enum: [`${TEXT}a`] }, `${TEXT}b`],
  ["texts that are to differ", { uniqueItems: true }, [`${TEXT}a`, `${TEXT}b`]],
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

Deno.test("a schema counts what a container is compared with, by the length of its text", () => {
  for (const schema of [{ const: {} }, { enum: [{}] }, { const: [{}] }]) {
    const value = Array.isArray(schema.const) ? [MEMBERS] : MEMBERS;
    assert.ok(stepsOf(schema, value) >= JSON.stringify(value).length >> 4, JSON.stringify(schema));
  }
});

Deno.test("compileSchema() counts what patterns take", () => {
  const compiling = (schema: JsonValue): number => {
    let steps = 0;
    compileSchema(schema, (more) => void (steps += more));
    return steps;
  };
  assert.ok(compiling({ pattern: "a{5000}" }) - compiling({ pattern: "a" }) >= 5_000 - 1);
});

Deno.test("compileSchema() compiles a pattern once, wherever it stands in a schema", () => {
  const properties = (pattern: (index: number) => string): JsonValue =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, { pattern: pattern(index) }]));
  assert.ok("validator" in compileSchema({ properties: properties(() => "^[a-z]{5000}$") }));
  assert.ok("validator" in compileSchema({ properties: properties((index) => `^[a-z]+${index}$`) }));
  assert.ok("refusal" in compileSchema({ properties: properties((index) => `^[a-z]{5000}${index}$`) }));
});

/** Numbers that stand in few places of the tables of the runtime, which spreads them by this. */
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

Deno.test("numbers that are chosen to stand in one place of a table take no longer than others", () => {
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
