import assert from "node:assert/strict";
import type { JsonValue } from "./json.ts";
import { stepsTo } from "./path.ts";
import { anyInteger, anything, boolean, integer, listOf, oneOf, orNull, type Reader, readSilently } from "./shape.ts";
import { annotated, type ShapeFault, text, variant } from "./shape.ts";
import { characters, checked, choices, described, expectation, optional, orEmpty } from "./table_shape.ts";
import { patterned, publishTable, requiring, table, union, withDefault } from "./table_shape.ts";

const LIMIT = Number.MAX_SAFE_INTEGER;
const named = table({ name: patterned(characters(2, 3), /^a/, "a text with a") });
const either = union("none or a name", oneOf("none"), named);
const kinds = variant("kind", {
  one: table({ kind: oneOf("one"), value: anything }),
  two: table({ kind: oneOf("two"), more: optional(named) }),
});
const pair = requiring(table({ a: optional(text), b: optional(characters(0, 1)) }), "a", "b", "b beside a");
const host = checked(text, (given) => given.includes("/") ? "a host alone" : null);

/** A shape, a value, and its faults: the path and what is expected there. */
const ROWS: readonly (readonly [shape: Reader<unknown>, value: unknown, faults: string])[] = [
  [anyInteger, LIMIT, ""],
  [anyInteger, LIMIT + 1, `: at most ${LIMIT}`],
  [anyInteger, -LIMIT - 1, `: at least ${-LIMIT}`],
  [integer(-LIMIT, 9), LIMIT + 1, ": at most 9"],
  [integer(1, 2), 0, ": at least 1"],
  [integer(1, 2), 1, ""],
  [integer(1, 2), 2, ""],
  [integer(1, 2), 3, ": at most 2"],
  [anyInteger, 1.5, ": an integer"],
  [anyInteger, NaN, ": an integer"],
  [anyInteger, "1", ": an integer"],
  [boolean, 0, ": a boolean"],
  [anything, null, ""],
  [anything, undefined, ": any JSON value"],
  [oneOf("a", "b"), "c", ': one of "a", "b"'],
  [choices("a"), "b", ': "a"'],
  [orNull(text), null, ""],
  [orNull(text), 1, ": a string"],
  [listOf(text, 1), ["a"], ""],
  // The items of an array that is too long are not read.
  [listOf(text, 2), [1, 1], "0: a string; 1: a string"],
  [listOf(text, 2), [1, 1, 1], ": at most 2 items"],
  // Bounds of a text count code points, as JSON Schema does.
  [characters(0, 2), "\u{1f600}".repeat(2), ""],
  [characters(0, 2), "\u{1f600}".repeat(2) + "a", ": at most 2 characters"],
  [characters(0, 2), "\u{1f600}".repeat(3), ": at most 2 characters"],
  [characters(2), "\u{1f600}", ": at least 2 characters"],
  [characters(2), "\u{1f600}".repeat(2), ""],
  [characters(2), "a", ": at least 2 characters"],
  [characters(1), "", ": at least 1 character"],
  [characters(0, 2), "\ud83d".repeat(3), ": at most 2 characters"],
  [host, "a/b", ": a host alone"],
  [host, "a", ""],
  [named, { name: "a" }, "name: at least 2 characters"],
  [named, { name: "ab" }, ""],
  [named, { name: "abc" }, ""],
  [named, { name: "bcd" }, "name: a text with a"],
  [named, { name: "bcde" }, "name: at most 3 characters"],
  [named, {}, "name: a string"],
  [named, [], ": an object"],
  [named, null, ": an object"],
  [named, JSON.parse('{"name":"ab","__proto__":1}'), "__proto__: no other members"],
  [named, Object.create({ name: "ab" }), "name: a string"],
  [table({ a: text, b: text }), { c: 1, b: 1 }, "a: a string; b: a string; c: no other members"],
  [either, "none", ""],
  [either, "some", ": none or a name"],
  [either, { name: "a" }, "name: at least 2 characters"],
  [either, { name: 1 }, ": none or a name"],
  [kinds, { kind: "one", value: 1 }, ""],
  [kinds, { kind: "one" }, "value: any JSON value"],
  [kinds, { kind: "two", more: { name: "ab", x: 1 } }, "more.x: no other members"],
  [kinds, { kind: "three" }, 'kind: one of "one", "two"'],
  [kinds, {}, 'kind: one of "one", "two"'],
  [kinds, { kind: {} }, 'kind: one of "one", "two"'],
  [pair, { b: "" }, ""],
  [pair, { a: "", b: "" }, ""],
  [pair, { a: "" }, "b: b beside a"],
  [pair, { a: "", c: 1 }, "c: no other members; b: b beside a"],
  [pair, { a: 1 }, "a: a string"],
];

for (const [shape, value, expected] of ROWS) {
  Deno.test(`a shape of ${JSON.stringify(value)} finds ${expected || "no fault"}`, () => {
    const found: string[] = [];
    const add = (fault: ShapeFault, path: Parameters<typeof stepsTo>[0]): void => {
      const isMember = fault.kind === "unknown" || fault.kind === "missing";
      found.push(`${[...stepsTo(path), ...isMember ? [fault.name] : []].join(".")}: ${expectation(fault)}`);
    };
    const read = shape({ add }, value as JsonValue, null);
    assert.equal(found.join("; "), expected);
    assert.deepEqual(read, expected === "" ? value : undefined);
    assert.deepEqual(readSilently(shape, value as JsonValue), read);
  });
}

const inner = table({ size: withDefault(anyInteger, 7), name: withDefault(orNull(text), null) });
const outer = table({ inner: orEmpty(inner), plain: withDefault(orNull(inner), null), all: optional(listOf(inner)) });

for (
  const [given, expected] of [
    [{}, { inner: { size: 7, name: null }, plain: null }],
    [{ plain: { size: 1 } }, { inner: { size: 7, name: null }, plain: { size: 1, name: null } }],
    [{ all: [{ name: "a" }] }, { inner: { size: 7, name: null }, plain: null, all: [{ size: 7, name: "a" }] }],
  ] satisfies [JsonValue, JsonValue][]
) {
  Deno.test(`a table adds the defaults to ${JSON.stringify(given)}`, () => {
    assert.deepEqual(readSilently(outer, given), expected);
    assert.deepEqual(outer({ add: () => assert.fail() }, given, null), expected);
  });
}

Deno.test("publishTable() requires what has neither a default nor may be absent", () => {
  const shape = table({
    a: integer(1, 4),
    b: withDefault(listOf(text, undefined, 1), [], "Texts."),
    c: optional(orNull(text)),
    d: described(annotated(choices("x"), { title: "X" }), "One."),
  });
  assert.deepEqual(publishTable(shape), {
    type: "object",
    properties: {
      a: { type: "integer", minimum: 1, maximum: 4 },
      b: { default: [], description: "Texts.", minItems: 1, type: "array", items: { type: "string" } },
      c: { type: ["string", "null"] },
      d: { type: "string", enum: ["x"], title: "X", description: "One." },
    },
    required: ["a", "d"],
    additionalProperties: false,
  });
});
