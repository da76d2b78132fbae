import assert from "node:assert/strict";
import peerCanonicalize from "../../tests/packages/canonicalize.ts";
import fc from "../../tests/packages/fast_check.ts";
import peerJsonCanon from "../../tests/packages/json_canon.ts";
import { CANONICAL_DEPTH_LIMIT, canonicalBytes, canonicalize, writeText } from "./canonicalize.ts";
import type { JsonValue } from "./json.ts";
import { readJson } from "./scan.ts";

/** Names with special orders: UTF-16 against code points, names ordered as numbers, and names with a special meaning. */
const TRICKY_NAMES = [
  "",
  "0",
  "2",
  "10",
  "4294967294",
  "4294967295",
  "!",
  "-1",
  "1a",
  "a",
  "aa",
  "ab",
  "A",
  "__proto__",
  "constructor",
  "toJSON",
  "length",
  "\u0000",
  "\n",
  '"',
  "\\",
  "\\ud800",
  "\u007f",
  "\u20ac",
  "\ud7ff",
  "\ue000",
  "\ufb33",
  "\uffff",
  "\u{10000}",
  "\u{1f600}",
];

const names = fc.oneof(fc.constantFrom(...TRICKY_NAMES), fc.string({ unit: "binary", maxLength: 6 }));
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(doubleOfBits).filter(Number.isFinite),
  fc.integer(),
  fc.constantFrom(-0, 5e-324, 2 ** 53, 1e21, 1e-7, Number.MAX_VALUE),
);
const { value: values } = fc.letrec<{ value: JsonValue; object: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    names,
    fc.array(tie("value"), { maxLength: 5 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(names, tie("value")), { maxLength: 7 }).map((members) => Object.fromEntries(members)),
}));

function doubleOfBits(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] as number;
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

Deno.test("canonicalize() writes the bytes that both peers write", () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = canonicalize(value);
      assert.equal(text, peerCanonicalize(value));
      assert.equal(text, peerJsonCanon(value));
      assert.equal(text, writeText(value, CANONICAL_DEPTH_LIMIT));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("canonicalize() writes every object of many names in the order of UTF-16 code units", () => {
  fc.assert(
    fc.property(fc.uniqueArray(names, { maxLength: 80 }), (unique) => {
      const object = Object.fromEntries(unique.map((name, index) => [name, index]));
      const expected = [...unique].sort().map((name) => `${JSON.stringify(name)}:${unique.indexOf(name)}`);
      assert.equal(canonicalize(object), `{${expected.join(",")}}`);
    }),
    { numRuns: 500 },
  );
});

Deno.test("canonicalize() is the identity on its own output", () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = canonicalize(value);
      assert.equal(canonicalize(readJson(text)), text);
    }),
    { numRuns: 500 },
  );
});

Deno.test("canonicalize() does not change the value", () => {
  fc.assert(fc.property(values, (value) => {
    const before = JSON.stringify(value);
    canonicalize(value);
    assert.equal(JSON.stringify(value), before);
  }));
});

Deno.test("canonicalize() rejects values outside of I-JSON", () => {
  class Record {
    a = 1;
  }
  const refused: readonly [string, unknown][] = [
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["a bigint", 1n],
    ["NaN", NaN],
    ["infinity", Infinity],
    ["negative infinity", -Infinity],
    ["a lone high surrogate", "a\ud800b"],
    ["a lone low surrogate", "\udc00"],
    ["surrogates the wrong way round", "\udc00\ud800"],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["an instance", new Record()],
    ["a boxed number", Object(1)],
    ["an object that serializes itself", { toJSON: () => 1 }],
    ["an object that inherits", Object.create({ a: 1 })],
  ];
  for (const [title, value] of refused) {
    for (const wrap of [(v: unknown) => v, (v: unknown) => [0, v], (v: unknown) => ({ b: v, a: 0 })]) {
      assert.throws(() => canonicalize(wrap(value) as JsonValue), TypeError, title);
    }
    // The name sends the whole value to the other writer.
    assert.throws(() => canonicalize({ "10": 1, "2": value } as JsonValue), TypeError, title);
  }
  assert.throws(() => canonicalize({ "\ud800": 1 }), TypeError);
  assert.throws(() => canonicalize({ "\udfff": 1, "10": 1, "2": 1 }), TypeError);
  // deno-lint-ignore no-sparse-arrays
  assert.throws(() => canonicalize([1, , 2] as unknown as JsonValue), TypeError);
});

Deno.test("canonicalize() accepts text that only looks like an escaped surrogate", () => {
  assert.equal(canonicalize(["\\ud800", { "\\udc00": 1 }]), '["\\\\ud800",{"\\\\udc00":1}]');
});

Deno.test("canonicalize() accepts objects without a prototype", () => {
  const object = Object.create(null) as Record<string, JsonValue>;
  object["b"] = 1;
  object["a"] = 2;
  assert.equal(canonicalize(object), '{"a":2,"b":1}');
});

Deno.test("canonicalize() keeps __proto__ an ordinary name", () => {
  assert.equal(canonicalize(JSON.parse('{"b":1,"__proto__":{"d":1,"c":2}}')), '{"__proto__":{"c":2,"d":1},"b":1}');
});

Deno.test("canonicalize() accepts depth n - 1 and n, rejects n + 1", () => {
  for (const depth of [CANONICAL_DEPTH_LIMIT - 1, CANONICAL_DEPTH_LIMIT]) {
    assert.equal(canonicalize(nested(depth)).match(/[[{]/g)?.length, depth);
  }
  assert.throws(() => canonicalize(nested(CANONICAL_DEPTH_LIMIT + 1)), /nested deeper than 128/);
  assert.throws(() => canonicalize(["2", { "10": 1, "2": nested(CANONICAL_DEPTH_LIMIT - 1) }]), RangeError);
  assert.doesNotThrow(() => canonicalize(["2", { "10": 1, "2": nested(CANONICAL_DEPTH_LIMIT - 2) }]));
  const cycle: JsonValue[] = [];
  cycle.push(cycle);
  assert.throws(() => canonicalize(cycle), RangeError);
});

Deno.test("canonicalize() walks each member once for any depth of the first disorder", () => {
  let reads = 0;
  let value: JsonValue = { b: 1, a: 1 };
  for (let level = 0; level < 100; level++) {
    const inner: JsonValue = value;
    value = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        reads++;
        return inner;
      },
    }) as JsonValue;
  }
  canonicalize(value);
  assert.ok(reads <= 100, `${reads} reads`);
});

Deno.test("canonicalBytes() is the canonical text in UTF-8", () => {
  assert.deepEqual(canonicalBytes(["\u20ac"]), new Uint8Array([0x5b, 0x22, 0xe2, 0x82, 0xac, 0x22, 0x5d]));
});
