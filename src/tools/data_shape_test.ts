import assert from "node:assert/strict";
import type { JsonValue } from "../canonical/json.ts";
import { COMPARATORS } from "../law/comparators.ts";
import { allowancesOf, fragmentOf, listedComparators, membersFor } from "./data_shape.ts";

const NAMES = Object.values(COMPARATORS);
/** In the order of the table: equal, order, lex, contains, in_set, deep, presence. */
const GROUPS = ["equals", "greater_than", "lex_less_than", "contains", "in_set", "deep_equals", "exists"];

/** One letter a group: Y allowed, O opt-in, - forbidden; or the complaint. */
function row(schema: JsonValue, root: JsonValue = schema): string {
  const found = allowancesOf(root, { schema, pointer: "#" });
  if ("complaint" in found) return found.complaint;
  return GROUPS.map((name) => ({ allowed: "Y", opt_in: "O", forbidden: "-" })[found.get(name) ?? "forbidden"]).join("");
}

Deno.test("allowancesOf() is the matrix of type classes and comparators", () => {
  const rows: readonly [JsonValue, string][] = [
    [{ "x-gate": { dynamic_type: true } }, "YYYYYYY"],
    [{ type: "object", "x-gate": { dynamic_type: true } }, "YYYYYYY"],
    [{ type: "string", "x-gate": { dynamic_type: false } }, "Y-OYY-Y"],
    [{ type: "boolean" }, "Y---Y-Y"],
    [{ type: "integer" }, "YY--Y-Y"],
    [{ type: "number" }, "YY--Y-Y"],
    [{ type: "string" }, "Y-OYY-Y"],
    [{ type: "string", format: "email" }, "Y-OYY-Y"],
    [{ type: "string", format: "date" }, "YY--Y-Y"],
    [{ type: "string", format: "date-time" }, "YY--Y-Y"],
    [{ type: "string", format: "uuid" }, "Y---Y-Y"],
    [{ enum: ["a", "b"] }, "Y---Y-Y"],
    [{ type: "string", enum: ["a"] }, "Y---Y-Y"],
    [{ enum: [null] }, "Y-----Y"],
    [{ enum: [] }, "its enum is not of scalars of one type"],
    [{ enum: ["a", 1] }, "its enum is not of scalars of one type"],
    [{ enum: [{}] }, "its enum is not of scalars of one type"],
    [{ type: "array", items: { type: "string" } }, "---Y-OY"],
    [{ type: "array", items: { enum: [1, 2] } }, "---Y-OY"],
    [{ type: "array", items: { type: ["string", "integer"] } }, "---Y-OY"],
    [{ type: "array", items: { type: "object" } }, "-----OY"],
    [{ type: "array" }, "-----OY"],
    [{ type: "array", items: {} }, "-----OY"],
    [{ type: "object" }, "-----OY"],
    [{ type: "null" }, "Y-----Y"],
    [{ type: ["integer", "null"] }, "YY--Y-Y"],
    [{ type: ["integer", "string"] }, "Y---Y-Y"],
    [{ type: ["null"] }, "Y-----Y"],
    [{ type: [] }, "its list of types is empty"],
    [{ type: "text" }, 'its type "text" is not one of JSON'],
    [{}, "it says no type"],
    [true, "it says no type"],
    [{ oneOf: [{ type: "integer" }, { type: "null" }] }, "YY--Y-Y"],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "Y---Y-Y"],
    [{ anyOf: [{ type: "string" }, { "x-gate": { dynamic_type: true } }] }, "Y-OYY-Y"],
    [{ anyOf: [{ type: "null" }] }, "Y-----Y"],
    [{ anyOf: [] }, "its alternatives say no type"],
    [{ anyOf: [{ type: "string" }, {}] }, "it says no type"],
  ];
  for (const [schema, expected] of rows) assert.equal(row(schema), expected, JSON.stringify(schema));
});

Deno.test("allowancesOf() follows references within the document, so far", () => {
  const $defs = { "a/b": { type: "boolean" }, loop: { $ref: "#/$defs/loop" }, list: [{ type: "string" }] };
  const said = ($ref: JsonValue): string => row({ $ref, $defs });
  assert.equal(said("#/$defs/a~1b"), "Y---Y-Y");
  for (const $ref of ["#/$defs/loop", "#/$defs/none", "#/$defs/list/0", "#/%", "other.json", 1]) {
    assert.equal(said($ref), "it says no type");
  }
});

Deno.test("allowancesOf() says the same of a member whatever was asked before", () => {
  const a = { type: "array", items: { $ref: "#/properties/b" } };
  const b = { anyOf: [{ $ref: "#/properties/a" }, { type: "array" }] };
  const root = { properties: { a, b } };
  assert.equal(row(a, root), "-----OY");
  const after = row(b, root);
  assert.equal(row(b, { properties: { a, b } }), after);
});

Deno.test("allowancesOf() looks at so many schemas and no more", () => {
  const chain = { anyOf: Array.from({ length: 9 }, () => ({ type: "string" })) };
  for (
    const [left, expected] of [[9, "the shape leads to more schemas than are looked at"], [10, "Y-OYY-Y"]] as const
  ) {
    const found = allowancesOf(chain, { schema: chain, pointer: "#" }, { left });
    assert.equal("complaint" in found ? found.complaint : row(chain), expected);
  }
});

Deno.test("allowancesOf() knows every comparator", () => {
  const found = allowancesOf(true, { schema: { "x-gate": { dynamic_type: true } }, pointer: "#" });
  assert.ok(!("complaint" in found));
  assert.deepEqual([...found.keys()].sort(), [...NAMES].sort());
});

Deno.test("membersFor() says what a member may be for a comparator", () => {
  const numbers =
    'type "number" or "integer", or type "string" with format "date" or "date-time", or x-gate.dynamic_type true';
  assert.equal(membersFor("less_than_or_equal"), numbers);
  assert.equal(membersFor("contains"), 'type "string", or an array of scalars, or x-gate.dynamic_type true');
  assert.equal(membersFor("deep_equals"), "an array of scalars, or an array or object, or x-gate.dynamic_type true");
});

Deno.test("fragmentOf() finds the member of a condition, or says why there is none", () => {
  const shape = (change: JsonValue): JsonValue => ({ type: "object", ...change as object });
  const rows: readonly [JsonValue, boolean, string][] = [
    [shape({ properties: { c: { type: "string" } } }), false, "#/properties/c"],
    [shape({ properties: {}, additionalProperties: { type: "string" } }), false, "#/additionalProperties"],
    [shape({ properties: {}, additionalProperties: true }), true, "the shape has no member of its name"],
    [shape({}), true, "the shape has no member of its name"],
    [{ properties: { c: {} } }, false, "#/properties/c"],
    [{ type: "string" }, true, "#"],
    [{ type: "string" }, false, "the shape is no object, and the stage has more than one condition"],
    [{ oneOf: [], anyOf: [] }, true, 'the shape has both "oneOf" and "anyOf"'],
  ];
  for (const [root, isOnly, expected] of rows) {
    const found = fragmentOf(root, "c", isOnly);
    assert.equal("complaint" in found ? found.complaint : found.pointer, expected);
  }
  const odd = fragmentOf({ type: "object", properties: { "a/b~ c": {} } }, "a/b~ c", false);
  assert.equal("pointer" in odd && odd.pointer, "#/properties/a~1b~0%20c");
  const proto = fragmentOf({ type: "object", properties: {} }, "__proto__", false);
  assert.ok("complaint" in proto);
});

Deno.test("listedComparators() takes a list of comparators and nothing else", () => {
  const listed = (allowed_comparators: JsonValue): unknown =>
    listedComparators({ schema: { "x-gate": { allowed_comparators } }, pointer: "#" });
  assert.deepEqual(listed(["equals", "lex_less_than"]), ["equals", "lex_less_than"]);
  for (const odd of [[], ["like"], "equals", [1], null]) {
    assert.ok(typeof listed(odd) === "object" && "complaint" in (listed(odd) as object));
  }
  assert.equal(listedComparators({ schema: {}, pointer: "#" }), null);
  assert.equal(listedComparators({ schema: true, pointer: "#" }), null);
});

Deno.test("allowancesOf() looks at each schema once, however often alternatives lead to it", () => {
  const branches = (to: number): JsonValue => ({
    anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/${to}` })),
  });
  const definitions = Array.from({ length: 7 }, (_, index) => [index + 1, branches(index)] as const);
  const shape = { $ref: "#/$defs/7", $defs: { 0: { type: "boolean" }, ...Object.fromEntries(definitions) } };
  assert.equal(row(shape), "Y---Y-Y");
});

Deno.test("allowancesOf() ends where schemas lead back to themselves", () => {
  assert.equal(row({ type: "array", items: { $ref: "#" } }), "-----OY");
  assert.equal(row({ $ref: "#" }), "it says no type");
  assert.equal(row({ anyOf: [{ type: "string" }, { $ref: "#" }] }), "it says no type");
  const arrays = {
    $defs: { a: { type: "array", items: { $ref: "#/$defs/b" } }, b: { type: "array", items: { $ref: "#/$defs/a" } } },
  };
  assert.equal(row({ $ref: "#/$defs/a", ...arrays }), "-----OY");
});

Deno.test("allowancesOf() follows references of every kind, and all of several", () => {
  const $defs = { n: { $anchor: "n", type: "integer" }, d: { $dynamicAnchor: "d", type: "integer" } };
  const rows: readonly [JsonValue, string][] = [
    [{ $ref: "#/$defs/n", $defs }, "YY--Y-Y"],
    [{ $ref: "#n", $defs }, "YY--Y-Y"],
    [{ $dynamicRef: "#d", $defs }, "YY--Y-Y"],
    [{ $id: "http://example.com/", $ref: "http://example.com/#n", $defs }, "YY--Y-Y"],
    [{ allOf: [{ minimum: 1 }, { type: "integer" }] }, "YY--Y-Y"],
    [{ allOf: [{ minimum: 1 }] }, "it says no type"],
    [{ const: 1 }, "Y---Y-Y"],
    [{ const: null }, "Y-----Y"],
    [{ const: { a: 1 } }, "it says no type"],
    [{ $ref: "#/$defs/none", $defs }, "it says no type"],
  ];
  for (const [schema, expected] of rows) assert.equal(row(schema), expected, JSON.stringify(schema));
});

/** Shape, then where the member "a" of it stands. */
const PLACES: readonly (readonly [shape: JsonValue, pointer: string])[] = [
  [{ properties: { a: {} } }, "#/properties/a"],
  [{ $ref: "#/$defs/b~1", $defs: { "b/": { properties: { a: {} } } } }, "#/$defs/b~1/properties/a"],
  [{ type: "object", allOf: [true, { properties: { a: {} } }] }, "#/allOf/1/properties/a"],
  [
    { $ref: "#b", $defs: { b: { $anchor: "b", type: "object", additionalProperties: {} } } },
    "#/$defs/b/additionalProperties",
  ],
  [{ type: "object", $ref: "#" }, "the shape has no member of its name"],
];

Deno.test("fragmentOf() finds a member wherever the shape describes it", () => {
  for (const [shape, pointer] of PLACES) {
    const found = fragmentOf(shape, "a", false);
    assert.equal("complaint" in found ? found.complaint : found.pointer, pointer.replaceAll("$", "%24"));
  }
});
