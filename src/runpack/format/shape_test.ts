import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { isIdentity, isOperationIdentity } from "../../canonical/identity.ts";
import { parseJson } from "../../canonical/scan.ts";
import {
  anyOf,
  closed,
  identity,
  integer,
  listOf,
  oneOf,
  operationIdentity,
  orNull,
  type Shape,
  text,
  variant,
} from "./shape.ts";

const POINT = closed({ x: integer(0), y: integer(0) }, { name: text });
const FIGURE = variant("kind", { dot: closed({ kind: text, at: POINT }), none: closed({ kind: text }) });

/** Shapes, texts, and whether the value of the text has the shape. */
const CASES: readonly [string, Shape, string, boolean][] = [
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
    assert.equal(shape(parsed.value), expected);
  });
}

Deno.test("identity() and operationIdentity() take what the names take, and nothing else", () => {
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
    assert.equal(identity(value), isIdentity(value), String(value));
    assert.equal(operationIdentity(value), isOperationIdentity(value), String(value));
  }
});
