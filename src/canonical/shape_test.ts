import assert from "node:assert/strict";
import type { JsonValue } from "./json.ts";
import { isIdentity, isOperationIdentity } from "./identity.ts";
import { pathOf } from "./path.ts";
import { parseJson, readJson } from "./scan.ts";
import {
  anyOf,
  closed,
  type FaultSink,
  identity,
  integer,
  listOf,
  matches,
  oneOf,
  operationIdentity,
  orNull,
  type Reader,
  readFirst,
  text,
  variant,
} from "./shape.ts";

const POINT = closed({ x: integer(0), y: integer(0) }, { name: text });
const FIGURE = variant("kind", { dot: closed({ kind: text, at: POINT }), none: closed({ kind: text }) });

/** Shapes, texts, and whether the value of the text has the shape. */
const CASES: readonly [string, Reader<unknown>, string, boolean][] = [
  ["closed", POINT, '{"x":1,"y":2}', true],
  ["closed, optional member", POINT, '{"name":"a","x":1,"y":2}', true],
  ["closed, member missing", POINT, '{"x":1}', false],
  ["closed, member unknown", POINT, '{"x":1,"y":2,"z":3}', false],
  ["closed, unknown in place of another", POINT, '{"x":1,"z":3}', false],
  ["closed, __proto__", POINT, '{"x":1,"y":2,"__proto__":{}}', false],
  ["closed, members only inherited", POINT, '{"__proto__":{"x":1,"y":2}}', false],
  ["closed, optional of another form", POINT, '{"name":1,"x":1,"y":2}', false],
  ["closed, an array", POINT, "[1,2]", false],
  ["closed, null", POINT, "null", false],
  ["variant", FIGURE, '{"at":{"x":0,"y":0},"kind":"dot"}', true],
  ["variant, other", FIGURE, '{"kind":"none"}', true],
  ["variant, member of another", FIGURE, '{"at":{"x":0,"y":0},"kind":"none"}', false],
  ["variant, unknown", FIGURE, '{"kind":"constructor"}', false],
  ["variant, without", FIGURE, "{}", false],
  ["listOf at its limit", listOf(text, 2), '["a","b"]', true],
  ["listOf above it", listOf(text, 2), '["a","b","c"]', false],
  ["listOf, another item", listOf(text, 2), '["a",1]', false],
  ["integer at its least", integer(1, 3), "1", true],
  ["integer below", integer(1, 3), "0", false],
  ["integer above", integer(1, 3), "4", false],
  ["integer, a fraction", integer(1, 3), "1.5", false],
  ["oneOf", oneOf("a", null), "null", true],
  ["oneOf, another", oneOf("a", null), '"b"', false],
  ["anyOf", anyOf(text, integer(0)), "7", true],
  ["anyOf, neither", anyOf(text, integer(0)), "true", false],
  ["orNull", orNull(text), "null", true],
  ["orNull, another", orNull(text), "1", false],
];

for (const [what, shape, json, expected] of CASES) {
  Deno.test(`shape ${what}: ${expected}`, () => {
    const parsed = parseJson(json);
    assert.ok(parsed.ok);
    assert.equal(matches(shape, parsed.value), expected);
  });
}

Deno.test("identity and operationIdentity accept exactly what isIdentity() and isOperationIdentity() accept", () => {
  const texts: JsonValue[] = [
    0,
    null,
    "",
    "A".repeat(64),
    "g".repeat(64),
    "`".repeat(32),
    ":".repeat(32),
    "/".repeat(64),
  ];
  for (const length of [31, 32, 33, 63, 64, 65]) {
    texts.push("0".repeat(length), "f".repeat(length), "9a".repeat(length / 2));
  }
  for (const value of texts) {
    assert.equal(matches(identity, value), isIdentity(value), String(value));
    assert.equal(matches(operationIdentity, value), isOperationIdentity(value), String(value));
  }
});

const BOX = closed({ at: POINT, tags: listOf(text, 2, 1), kind: oneOf("a", "b") }, { id: identity });

/** Texts, and every fault of BOX with its path, in the order in which they are found. */
const FAULTS: readonly [string, string, ...string[]][] = [
  ["no object", "7", "$ object"],
  ["a member unknown", '{"at":{"x":1,"y":2},"kind":"a","tags":["t"],"z":1}', "$ unknown z"],
  ["members missing", '{"at":{"x":1},"tags":["t"]}', "$ missing kind", "$.at missing y"],
  [
    "unknown before missing, both before members",
    '{"kind":"c","tags":["t"],"z":1}',
    "$ unknown z",
    "$ missing at",
    "$.kind choice",
  ],
  ["another type", '{"at":{"x":1.5,"y":2},"kind":1,"tags":{}}', "$.at.x integer", "$.tags type", "$.kind choice"],
  ["an item", '{"at":{"x":1,"y":2},"kind":"a","tags":["t",1]}', "$.tags[1] type"],
  ["too few items", '{"at":{"x":1,"y":2},"kind":"a","tags":[]}', "$.tags items"],
  ["too many items", '{"at":{"x":1,"y":2},"kind":"a","tags":["a","b","c"]}', "$.tags items"],
  ["an optional member", '{"at":{"x":1,"y":2},"id":"A","kind":"a","tags":["t"]}', "$.id form"],
  ["a value of the shape", '{"at":{"x":1,"y":2},"kind":"a","tags":["t"]}'],
];

for (const [what, json, ...expected] of FAULTS) {
  Deno.test(`closed() with ${what} reports [${expected.join(", ")}]`, () => {
    const value = readJson(json);
    const faults: string[] = [];
    const add: FaultSink["add"] = (fault, path) => {
      faults.push([pathOf(path), fault.kind, ..."name" in fault ? [fault.name] : []].join(" "));
    };
    const read = BOX({ add }, value, null);
    assert.deepEqual(faults, expected);
    assert.equal(read, expected.length === 0 ? value : undefined);
    assert.equal(matches(BOX, value), expected.length === 0);
    const first = readFirst(BOX, value);
    assert.equal(
      first.ok ? undefined : `${pathOf(first.path)} ${first.fault.kind}`,
      expected[0]?.split(" ", 2).join(" "),
    );
  });
}
