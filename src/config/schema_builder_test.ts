import assert from "node:assert/strict";
import { publish } from "./published_schema.ts";
import * as z from "./schema_builder.ts";

const LIMIT = Number.MAX_SAFE_INTEGER;
const named = z.strictObject({ name: z.string().min(2).max(3).regex(/^a/, "a text with a") });
const either = z.union([z.literal("none"), named], "none or a name");
const kinds = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("one"), value: z.unknown() }),
  z.strictObject({ kind: z.literal("two"), more: named.exactOptional() }),
]);
const pair = z.strictObject({ a: z.string().exactOptional(), b: z.string().exactOptional() })
  .refine(({ a, b }) => a === undefined || b !== undefined, "b beside a", ["b"]);

/** A schema, a value, and its issues: the path and what is wrong. */
const ROWS: readonly (readonly [schema: z.AnySchema, value: unknown, issues: string])[] = [
  [z.int(), LIMIT, ""],
  [z.int(), LIMIT + 1, `: too_big ${LIMIT}`],
  [z.int(), -LIMIT - 1, `: too_small ${-LIMIT}`],
  [z.int().max(9), LIMIT + 1, ": too_big 9"],
  [z.int().min(1).max(2), 0, ": too_small 1"],
  [z.int().min(1).max(2), 1, ""],
  [z.int().min(1).max(2), 2, ""],
  [z.int().min(1).max(2), 3, ": too_big 2"],
  [z.int(), 1.5, ": invalid_type integer"],
  [z.int(), NaN, ": invalid_type integer"],
  [z.int(), "1", ": invalid_type integer"],
  [z.boolean(), 0, ": invalid_type boolean"],
  [z.unknown(), null, ""],
  [z.unknown(), undefined, ": invalid_type any"],
  [z.enum(["a", "b"]), "c", ": invalid_value a,b"],
  [z.string().nullable(), null, ""],
  [z.string().nullable(), 1, ": invalid_type string"],
  [z.array(z.string()).max(1), ["a"], ""],
  // The items of an array that is too long are not read.
  [z.array(z.string()).max(2), [1, 1], "0: invalid_type string; 1: invalid_type string"],
  [z.array(z.string()).max(2), [1, 1, 1], ": too_big 2"],
  // Bounds of a text count code points, as JSON Schema does.
  [z.string().max(2), "\u{1f600}".repeat(2), ""],
  [z.string().max(2), "\u{1f600}".repeat(2) + "a", ": too_big 2"],
  [z.string().max(2), "\u{1f600}".repeat(3), ": too_big 2"],
  [z.string().min(2), "\u{1f600}", ": too_small 2"],
  [z.string().min(2), "\u{1f600}".repeat(2), ""],
  [z.string().max(2), "\ud83d".repeat(3), ": too_big 2"],
  [named, { name: "a" }, "name: too_small 2"],
  [named, { name: "ab" }, ""],
  [named, { name: "abc" }, ""],
  [named, { name: "bcde" }, "name: too_big 3; name: custom a text with a"],
  [named, {}, "name: invalid_type string"],
  [named, [], ": invalid_type object"],
  [named, null, ": invalid_type object"],
  [named, JSON.parse('{"name":"ab","__proto__":1}'), ": unknown_members __proto__ of name"],
  [named, Object.create({ name: "ab" }), "name: invalid_type string"],
  [either, "none", ""],
  [either, "some", ": custom none or a name"],
  [either, { name: "a" }, "name: too_small 2"],
  [either, { name: 1 }, ": custom none or a name"],
  [kinds, { kind: "one", value: 1 }, ""],
  [kinds, { kind: "one" }, "value: invalid_type any"],
  [kinds, { kind: "two", more: { name: "ab", x: 1 } }, "more: unknown_members x of name"],
  [kinds, { kind: "three" }, "kind: invalid_value one,two"],
  [kinds, {}, "kind: invalid_value one,two"],
  [kinds, { kind: {} }, "kind: invalid_value one,two"],
  [pair, { b: "" }, ""],
  [pair, { a: "" }, "b: custom b beside a"],
  [pair, { a: 1 }, "a: invalid_type string"],
];

function shown(issue: z.Issue): string {
  const what = issue.code === "invalid_type"
    ? issue.expected
    : issue.code === "invalid_value"
    ? issue.values.join(",")
    : issue.code === "unknown_members"
    ? `${issue.names.join(",")} of ${issue.known.join(",")}`
    : issue.code === "custom"
    ? issue.message
    : issue.bound;
  return `${issue.path.join(".")}: ${issue.code} ${what}`;
}

for (const [schema, value, issues] of ROWS) {
  Deno.test(`safeParse() of ${JSON.stringify(value)} finds ${issues || "no issue"}`, () => {
    const reading = z.safeParse(schema, value);
    assert.equal(reading.ok ? "" : reading.issues.map(shown).join("; "), issues);
    if (reading.ok) assert.deepEqual(reading.value, value);
  });
}

Deno.test("safeParse() adds defaults, and those of the members of a prefault", () => {
  const inner = z.strictObject({ size: z.int().default(7), name: z.string().nullable().default(null) });
  const schema = z.strictObject({ inner: inner.prefault({}), plain: inner.nullable().default(null) });
  assert.deepEqual(z.parse(schema, {}), { inner: { size: 7, name: null }, plain: null });
  assert.deepEqual(z.parse(schema, { plain: { size: 1 } }).plain, { size: 1, name: null });
});

Deno.test("parse() throws where a value has an issue", () =>
  assert.throws(() => z.parse(named, { name: 1 }), { name: "TypeError" }));

Deno.test("discriminatedUnion() refuses an option without the literal", () =>
  assert.throws(() => z.discriminatedUnion("kind", [named]), { name: "TypeError" }));

Deno.test("publish() requires what has neither a default nor may be absent", () => {
  const schema = z.strictObject({
    a: z.int().min(1).max(5).max(4),
    b: z.array(z.string()).min(1).default([]).describe("Texts."),
    c: z.string().nullable().exactOptional(),
  });
  assert.deepEqual(publish(schema), {
    type: "object",
    properties: {
      a: { type: "integer", minimum: 1, maximum: 4 },
      b: { default: [], description: "Texts.", minItems: 1, type: "array", items: { type: "string" } },
      c: { type: ["string", "null"] },
    },
    required: ["a"],
    additionalProperties: false,
  });
});
