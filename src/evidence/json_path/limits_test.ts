// Tests of the limits of a query: their exact values, and that exceeding them is reported quickly.

import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { PatternTooLarge } from "../regular_expression/program.ts";
import { compileSearch } from "../regular_expression/search.ts";
import { selectJson } from "./json_path.ts";
import { JSONPATH_NODES_MAXIMUM, JSONPATH_STEPS_MAXIMUM, PATTERN_CHARACTERS_MAXIMUM } from "../builtin/limits.ts";

function codeOf(document: JsonValue, query: string): string {
  const selection = selectJson(document, query);
  return "error" in selection ? selection.error.code : "found";
}

function zeros(count: number): JsonValue[] {
  return new Array(count).fill(0);
}

/** Nested objects or arrays. */
function nested(depth: number, wrap: (inner: JsonValue) => JsonValue = (inner) => [inner]): JsonValue {
  let value: JsonValue = 0;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

function members(count: number, valueOf: (index: number) => JsonValue = () => 0): JsonValue {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, valueOf(index)]));
}

function listed(selector: string, times: number, between = ","): string {
  return new Array(times).fill(selector).join(between);
}

for (const [extra, expected] of [[-1, "not_found"], [0, "not_found"], [1, "limit_exceeded"]] as const) {
  Deno.test(`selectJson() ${JSONPATH_STEPS_MAXIMUM} ${extra} steps: ${expected}`, () => {
    // An array costs one step, one for each item, and one for the name to find in it.
    const rows = 100;
    const items = 199_000;
    const rest = JSONPATH_STEPS_MAXIMUM + extra - rows * (items + 2) - rows - 2;
    const row = zeros(items);
    assert.equal(codeOf([...new Array(rows).fill(row), ...zeros(rest)], "$..x"), `jsonpath_${expected}`);
  });

  Deno.test(`selectJson() ${JSONPATH_NODES_MAXIMUM} ${extra} nodes: ${expected}`, () => {
    assert.equal(codeOf([zeros(JSONPATH_NODES_MAXIMUM + extra)], "$[?count(@.*) == 0]"), `jsonpath_${expected}`);
  });

  Deno.test(`selectJson() a pattern of ${PATTERN_CHARACTERS_MAXIMUM} ${extra} characters: ${expected}`, () => {
    const pattern = `[${"b".repeat(PATTERN_CHARACTERS_MAXIMUM + extra - 2)}]`;
    assert.equal(codeOf([{ text: "a", pattern }], "$[?search(@.text, @.pattern)]"), `jsonpath_${expected}`);
  });
}

Deno.test("selectJson() accepts patterns of the maximum size and reports larger ones", () => {
  const isTooLarge = (pattern: string): boolean => {
    try {
      compileSearch(pattern);
    } catch (error) {
      assert.ok(error instanceof PatternTooLarge);
      return true;
    }
    return false;
  };
  let fits = 1;
  let tooLarge = 1_000_000;
  while (tooLarge - fits > 1) {
    const middle = (fits + tooLarge) >> 1;
    if (isTooLarge(`b{${middle}}`)) tooLarge = middle;
    else fits = middle;
  }
  assert.ok(fits > 10_000);
  assert.equal(codeOf(["a"], `$[?!search(@, 'b{${fits - 1}}')]`), "found");
  assert.equal(codeOf(["a"], `$[?!search(@, 'b{${fits}}')]`), "found");
  assert.equal(codeOf(["a"], `$[?!search(@, 'b{${tooLarge}}')]`), "jsonpath_limit_exceeded");
});

const ITEMS = zeros(20_000);
const TEXT = "x".repeat(400_000);
const MANY_OBJECTS = members(30_000, (index) => ({ a: index }));

/** Subject of the attack, document, query. */
const ATTACKS: readonly (readonly [string, JsonValue, string])[] = [
  [
    "names that select the same member repeatedly",
    { release: { checks: { lint: { ok: true } } } },
    `$${["release", "checks", "lint", "ok"].map((name) => `[${listed(`'${name}'`, 120)}]`).join("")}.zzz`,
  ],
  ["names that do not exist", new Array(100_000).fill({ a: 0 }), `$..[${listed("'zz'", 700)}]`],
  ["indices twice on each level", nested(61), `$${"[0,0]".repeat(60)}.zzz`],
  ["indices of empty arrays", new Array(200_000).fill([]), `$..[${listed("0", 2_000)}]`],
  ["wildcards twice on each level", nested(61), `$${"[*,*]".repeat(60)}.zzz`],
  ["slices twice on each level", nested(61), `$${"[::-9007199254740991,:9007199254740991]".repeat(60)}.zzz`],
  ["slices", zeros(200_000), `$[${listed("::-1", 700)}].z`],
  ["descendants of descendants", new Array(2_000).fill(nested(60)), "$..*..*..*..*..*.zzz"],
  ["a filter that visits all descendants", new Array(4_000).fill({ a: 1 }), "$.*[?$..zzz]"],
  ["a filter that visits all children", new Array(4_000).fill({ a: 1 }), "$.*[?$.*.zzz]"],
  ["filters in filters", zeros(2_000), "$[?$[?$[?$[?@ == 1]]]]"],
  ["a filter of many parts", ITEMS, `$[?${listed("@.a", 800, "||")}]`],
  ["a filter that negates", ITEMS, `$[?${"!".repeat(2_000)}@.a]`],
  ["the length of texts", { text: "\u{1f600}".repeat(200_000), items: ITEMS }, "$.items[?length($.text) == 3]"],
  ["the members of objects", { object: MANY_OBJECTS, items: ITEMS }, "$.items[?$.object.*.zzz]"],
  ["the count of nodes", ITEMS, "$[?count($.*) == 1]"],
  ["the value of nodes", ITEMS, "$[?value($.*) == 1]"],
  [
    "objects that are equal",
    { a: MANY_OBJECTS, b: structuredClone(MANY_OBJECTS), items: ITEMS },
    "$.items[?$.a != $.b]",
  ],
  ["arrays that are equal", { a: zeros(200_000), b: zeros(200_000), items: ITEMS }, "$.items[?$.a != $.b]"],
  ["texts that are equal", { a: TEXT, b: `${TEXT}`, items: ITEMS }, "$.items[?$.a != $.b]"],
  ["texts of which one is less", { a: TEXT, b: `${TEXT}y`, items: ITEMS }, "$.items[?$.a > $.b]"],
  ["patterns with classes", Array.from({ length: 3_000 }, (_, i) => `[ab]{${15_000 + i}}`), "$[?match('a', @)]"],
  ["long patterns", Array.from({ length: 17 }, (_, i) => `[${"a".repeat(60_000)}${i}]`), "$[?$[?match('a', @)]]"],
  [
    "deep patterns",
    Array.from({ length: 2_000 }, (_, i) => `${i}${"(".repeat(100)}${")".repeat(100)}`),
    "$[?match('a', @)]",
  ],
  ["a long pattern and many texts", new Array(100_000).fill("a"), "$[?search(@, 'b{15000}')]"],
];

for (const [about, document, query] of ATTACKS) {
  Deno.test(`selectJson() ${about}: refused in bounded time and 300 MB`, () => {
    const began = performance.now();
    const before = Deno.memoryUsage().heapUsed;
    assert.equal(codeOf(document, query), "jsonpath_limit_exceeded");
    // The steps bound the work to some seconds; without them most of these would take hours.
    assert.ok(performance.now() - began < 60_000);
    assert.ok(Deno.memoryUsage().heapUsed - before < 300e6);
  });
}

const SMALL = new Array(20_000).fill({ a: 1 });

/** Documents of about the largest default size, and legitimate queries of them. */
const LEGITIMATE: readonly (readonly [JsonValue, string])[] = [
  [zeros(524_287), "$..x"],
  [new Array(8_300).fill(nested(61)), "$..x"],
  [new Array(149_000).fill({ x: 1 }), "$..[?@.x == 2]"],
  [new Array(30_000).fill(nested(4, (a) => ({ a }))), "$..[?@..x]"],
  [new Array(30_000).fill({ name: "release candidate" }), "$[?match(@.name, '[a-z]+ [0-9]+')]"],
  [MANY_OBJECTS, "$..[?length($) == 3]"],
  [{ large: members(60_000), items: SMALL }, "$.items[?@ == $.large]"],
  [{ large: members(60_000), items: SMALL }, "$.items[?$.large == @]"],
  [{ large: [members(60_000)], items: new Array(20_000).fill([{}]) }, "$.items[?@ == $.large]"],
  [{ text: TEXT, items: new Array(100_000).fill("x") }, "$.items[?$.text == @]"],
  [new Array(100_000).fill({ a: 0 }), `$[?${Array.from({ length: 20 }, (_, i) => `@.a == ${i + 1}`).join("||")}]`],
  [Array.from({ length: 8_000 }, (_, i) => ({ t: "a", p: `b${i % 100}` })), "$[?match(@.t, @.p)]"],
];

for (const [document, query] of LEGITIMATE) {
  Deno.test(`selectJson() ${query} of a document of ${JSON.stringify(document).length} bytes`, () => {
    assert.equal(codeOf(document, query), "jsonpath_not_found");
  });
}
