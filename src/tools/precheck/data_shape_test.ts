import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { allowanceOf, allowancesOf, inquire, type Inquiry, listedComparators, membersFor } from "./data_shape.ts";
import { type Complaint, type DataShape, type Fragment, fragmentOf, readingShape } from "./data_shape_members.ts";

const NAMES = COMPARATORS;
/** In the order of the table: equal, order, lex, contains, in_set, deep, presence. */
const GROUPS = ["equals", "greater_than", "lex_less_than", "contains", "in_set", "deep_equals", "exists"];

/** Runs a generator to its end. */
function done<T>(work: Generator<undefined, T>): T {
  for (let step = work.next();; step = work.next()) if (step.done === true) return step.value;
}

function read(root: JsonValue): DataShape {
  return done(readingShape(root));
}

/** One letter for each group: Y allowed, O opt-in, - forbidden; or the complaint. */
function rowOf(inquiry: Inquiry, schema: JsonValue): string {
  const found = done(allowancesOf(inquiry, { schema, pointer: "" }));
  if (typeof found !== "number") return found.complaint;
  return GROUPS.map((name) => ({ allowed: "Y", opt_in: "O", forbidden: "-" })[allowanceOf(found, name)]).join("");
}

function row(schema: JsonValue, root: JsonValue = schema): string {
  return rowOf(inquire(read(root)), schema);
}

function find(root: JsonValue, name: string, isOnly = false): Fragment | Complaint {
  return fragmentOf(read(root), name, isOnly);
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
    [{}, "it has no type"],
    [true, "it has no type"],
    [{ oneOf: [{ type: "integer" }, { type: "null" }] }, "YY--Y-Y"],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "Y---Y-Y"],
    [{ anyOf: [{ type: "string" }, { "x-gate": { dynamic_type: true } }] }, "Y-OYY-Y"],
    [{ anyOf: [{ type: "null" }] }, "Y-----Y"],
    [{ anyOf: [] }, "its alternatives have no type"],
    [{ anyOf: [{ type: "string" }, {}] }, "it has no type"],
  ];
  for (const [schema, expected] of rows) assert.equal(row(schema), expected, JSON.stringify(schema));
});

Deno.test("allowancesOf() follows a limited number of references within the document", () => {
  const $defs = { "a/b": { type: "boolean" }, loop: { $ref: "#/$defs/loop" }, list: [{ type: "string" }] };
  const said = ($ref: JsonValue): string => row({ $ref, $defs });
  assert.equal(said("#/$defs/a~1b"), "Y---Y-Y");
  for (const $ref of ["#/$defs/loop", "#/$defs/none", "#/$defs/list/0", "#/%", "other.json", 1]) {
    assert.equal(said($ref), "it has no type");
  }
});

Deno.test("allowancesOf() answers for a member independently of earlier queries", () => {
  const a = { type: "array", items: { $ref: "#/properties/b" } };
  const b = { anyOf: [{ $ref: "#/properties/a" }, { type: "array" }] };
  const root = { properties: { a, b } };
  assert.equal(row(a, root), "-----OY");
  const after = row(b, root);
  assert.equal(row(b, { properties: { a, b } }), after);
});

/**
 * A query and its steps: 40 for each schema, 1 for each alternative and each value of an enum.
 */
const STEPS: readonly (readonly [shape: JsonValue, steps: number])[] = [
  [{ anyOf: Array.from({ length: 9 }, () => ({ type: "string" })) }, 10 * 40 + 9],
  [{ anyOf: new Array(9).fill(true) }, 40 + 9],
  [{ enum: new Array(9).fill("a") }, 40 + 9],
  [{ type: "array", items: { enum: [1] } }, 2 * 40 + 1],
  [{ $ref: "#/$defs/a", $defs: { a: { type: "null" }, b: { enum: [1, 2] } } }, 2 * 40],
];

Deno.test("allowancesOf() takes at most its budget of steps", () => {
  const tooMany = "the shape leads to more schemas than are checked";
  for (const [shape, steps] of STEPS) {
    const said = (left: number): string => rowOf(inquire(read(shape), left), shape);
    const what = JSON.stringify(shape);
    // The items of an array beyond the budget are unknown, so they may be anything.
    assert.equal(said(steps - 1), "items" in (shape as object) ? "-----OY" : tooMany, what);
    for (const enough of [steps, steps + 1]) assert.equal(said(enough), row(shape), what);
    assert.equal(said(39), tooMany, what);
  }
});

Deno.test("an inquiry reads an enum, a list and a member once for all conditions", () => {
  const $defs = { e: { enum: new Array(1_000).fill(1) } };
  const many = Array.from({ length: 50 }, (_, index) => [`p${index}`, { $ref: "#/$defs/e" }] as const);
  const shape = read({ $defs, properties: Object.fromEntries(many), additionalProperties: { $ref: "#/$defs/e" } });
  const inquiry = inquire(shape, 51 * 2 * 40 + 1_000);
  for (let index = 0; index < 99; index++) {
    const fragment = fragmentOf(shape, `p${index}`, false);
    assert.ok("schema" in fragment);
    assert.equal(rowOf(inquiry, fragment.schema), "Y---Y-Y");
  }
  assert.equal(inquiry.stepsLeft, 0);
});

Deno.test("allowancesOf() has every comparator", () => {
  const schema = { "x-gate": { dynamic_type: true } };
  const found = done(allowancesOf(inquire(read(schema)), { schema, pointer: "" }));
  assert.ok(typeof found === "number");
  // Bitwise operators use 32 bits, two for each comparator.
  assert.equal(NAMES.length, 16);
  for (const name of NAMES) assert.equal(allowanceOf(found, name), "allowed");
  assert.equal(allowanceOf(found, "like"), "forbidden");
});

Deno.test("membersFor() names the types of members that fit a comparator", () => {
  const numbers =
    'type "number" or "integer", or type "string" with format "date" or "date-time", or x-gate.dynamic_type true';
  assert.equal(membersFor("less_than_or_equal"), numbers);
  assert.equal(membersFor("contains"), 'type "string", or an array of scalars, or x-gate.dynamic_type true');
  assert.equal(membersFor("deep_equals"), "an array of scalars, or an array or object, or x-gate.dynamic_type true");
});

Deno.test("fragmentOf() finds the member of a condition, or the reason why it is missing", () => {
  const shape = (change: JsonValue): JsonValue => ({ type: "object", ...change as object });
  const rows: readonly [JsonValue, boolean, string][] = [
    [shape({ properties: { c: { type: "string" } } }), false, "/properties/c"],
    [shape({ properties: {}, additionalProperties: { type: "string" } }), false, "/additionalProperties"],
    [shape({ properties: {}, additionalProperties: true }), true, "the shape has no member of its name"],
    [shape({}), true, "the shape has no member of its name"],
    [{ properties: { c: {} } }, false, "/properties/c"],
    [{ type: "string" }, true, ""],
    [{ type: "string" }, false, "the shape is not an object, and the stage has more than one condition"],
    [{ oneOf: [], anyOf: [] }, true, 'the shape has both "oneOf" and "anyOf"'],
  ];
  for (const [root, isOnly, expected] of rows) {
    const found = find(root, "c", isOnly);
    assert.equal("complaint" in found ? found.complaint : found.pointer, expected);
  }
  const odd = find({ type: "object", properties: { "a/b~ c": {} } }, "a/b~ c");
  assert.equal("pointer" in odd && odd.pointer, "/properties/a~1b~0 c");
  const proto = find({ type: "object", properties: {} }, "__proto__");
  assert.ok("complaint" in proto);
  const meta = find(shape({ $ref: "https://json-schema.org/draft/2020-12/meta/validation" }), "uniqueItems");
  assert.deepEqual(meta, { complaint: "the shape leaves its member to a metaschema" });
});

Deno.test("listedComparators() accepts a list of comparators and nothing else", () => {
  const inquiry = inquire(read(true));
  const of = (schema: JsonValue): ReturnType<typeof listedComparators> =>
    listedComparators(inquiry, { schema, pointer: "" });
  const listed = (allowed_comparators: JsonValue): unknown => of({ "x-gate": { allowed_comparators } });
  assert.deepEqual(listed(["equals", "lex_less_than"]), new Set(["equals", "lex_less_than"]));
  for (const odd of [[], ["like"], "equals", [1], null]) {
    assert.ok(typeof listed(odd) === "object" && "complaint" in (listed(odd) as object));
  }
  assert.equal(of({}), null);
  assert.equal(of(true), null);
});

Deno.test("allowancesOf() visits each schema once, however often alternatives lead to it", () => {
  const branches = (to: number): JsonValue => ({
    anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/${to}` })),
  });
  const definitions = Array.from({ length: 7 }, (_, index) => [index + 1, branches(index)] as const);
  const shape = { $ref: "#/$defs/7", $defs: { 0: { type: "boolean" }, ...Object.fromEntries(definitions) } };
  assert.equal(row(shape), "Y---Y-Y");
});

Deno.test("allowancesOf() ends where schemas lead back to themselves", () => {
  assert.equal(row({ type: "array", items: { $ref: "#" } }), "-----OY");
  assert.equal(row({ $ref: "#" }), "it has no type");
  assert.equal(row({ anyOf: [{ type: "string" }, { $ref: "#" }] }), "it has no type");
  const arrays = {
    $defs: { a: { type: "array", items: { $ref: "#/$defs/b" } }, b: { type: "array", items: { $ref: "#/$defs/a" } } },
  };
  assert.equal(row({ $ref: "#/$defs/a", ...arrays }), "-----OY");
});

Deno.test("allowancesOf() follows references of every kind, and allOf", () => {
  const $defs = { n: { $anchor: "n", type: "integer" }, d: { $dynamicAnchor: "d", type: "integer" } };
  const rows: readonly [JsonValue, string][] = [
    [{ $ref: "#/$defs/n", $defs }, "YY--Y-Y"],
    [{ $ref: "#n", $defs }, "YY--Y-Y"],
    [{ $dynamicRef: "#d", $defs }, "YY--Y-Y"],
    [{ $id: "http://example.com/", $ref: "http://example.com/#n", $defs }, "YY--Y-Y"],
    [{ allOf: [{ minimum: 1 }, { type: "integer" }] }, "YY--Y-Y"],
    [{ allOf: [{ minimum: 1 }] }, "it has no type"],
    [{ const: 1 }, "Y---Y-Y"],
    [{ const: null }, "Y-----Y"],
    [{ const: { a: 1 } }, "it has no type"],
    [{ $ref: "#/$defs/none", $defs }, "it has no type"],
  ];
  for (const [schema, expected] of rows) assert.equal(row(schema), expected, JSON.stringify(schema));
});

/** Shape, then the pointer of its member "a". */
const PLACES: readonly (readonly [shape: JsonValue, pointer: string])[] = [
  [{ properties: { a: {} } }, "/properties/a"],
  [{ $ref: "#/$defs/b~1", $defs: { "b/": { properties: { a: {} } } } }, "/$defs/b~1/properties/a"],
  [{ type: "object", allOf: [true, { properties: { a: {} } }] }, "/allOf/1/properties/a"],
  [
    { $ref: "#b", $defs: { b: { $anchor: "b", type: "object", additionalProperties: {} } } },
    "/$defs/b/additionalProperties",
  ],
  [{ type: "object", $ref: "#" }, "the shape has no member of its name"],
];

Deno.test("fragmentOf() finds a member wherever the shape describes it", () => {
  for (const [shape, pointer] of PLACES) {
    const found = find(shape, "a");
    assert.equal("complaint" in found ? found.complaint : found.pointer, pointer);
  }
});

/** Schemas that refer to each other, by the names of three members. */
function referringSchemas(): fc.Arbitrary<JsonValue> {
  const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
    const several = fc.array(tie("schema"), { maxLength: 3 });
    const references = fc.constantFrom("a", "b", "c").map((name) => ({ $ref: `#/properties/${name}` }));
    return {
      schema: fc.oneof(
        { maxDepth: 4 },
        references,
        fc.constantFrom<JsonValue>({}, true, { type: "string" }, { type: "null" }, { type: ["integer", "null"] }),
        fc.constantFrom<JsonValue>({ enum: [1] }, { const: null }, { type: "string", format: "date" }),
        several.map((anyOf) => ({ anyOf })),
        several.map((oneOf) => ({ oneOf })),
        several.map((allOf) => ({ allOf })),
        tie("schema").map((items) => ({ type: ["array", "null"], items })),
        fc.tuple(references, several).map(([reference, allOf]) => ({ ...reference, allOf })),
      ),
    };
  });
  return schema;
}

Deno.test("allowancesOf() gives the same answers together as alone", () => {
  const three = fc.record({ a: referringSchemas(), b: referringSchemas(), c: referringSchemas() });
  fc.assert(fc.property(three, (properties) => {
    const together = inquire(read({ properties }));
    for (const name of ["a", "b", "c", "a"] as const) {
      // A document of its own, so that nothing is cached.
      const alone = structuredClone(properties);
      assert.equal(rowOf(together, properties[name]), row(alone[name], { properties: alone }));
    }
  }));
});
