import assert from "node:assert/strict";
import fc from "fast-check";
import { idOfFaulty } from "./faulty_id.ts";

const ROWS: readonly (readonly [text: string, id: string | number | null])[] = [
  ['{"id":1,"a":{"b":1,"b":2}}', 1],
  ['{"a":[{"id":2},{"id":3}],"id":"x"}', "x"],
  ['{"a":"\\"id\\":5","id" : 4 }', 4],
  ['{"id":0}', 0],
  ['{"id":-7}', -7],
  ['{"\\u0069d":5}', 5],
  ['{"id":1,"id":1}', null],
  ['{"id":1,"\\u0069d":1}', null],
  ['{"id":"\\ud800"}', null],
  ['{"id":9007199254740993}', null],
  ['{"id":1.0}', null],
  ['{"id":1e2}', null],
  ['{"id":null}', null],
  ['{"id":[1]}', null],
  ['{"id":{"id":1}}', null],
  ['{"method":"a"}', null],
  ['[{"id":1}]', null],
  ['"id"', null],
  ["{}", null],
  ['{"id":1', null],
  ["", null],
];

for (const [text, id] of ROWS) {
  Deno.test(`idOfFaulty() of ${text} is ${id}`, () => assert.equal(idOfFaulty(text), id));
}

Deno.test("idOfFaulty() finds the id of any object that has one", () => {
  const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "grapheme" }));
  const rest = fc.dictionary(fc.string().filter((name) => name !== "id" && name !== "__proto__"), fc.jsonValue());
  fc.assert(fc.property(id, rest, (wanted, members) => {
    const expected = Object.is(wanted, -0) ? 0 : wanted;
    assert.equal(idOfFaulty(JSON.stringify({ ...members, id: wanted })), expected);
    assert.equal(idOfFaulty(JSON.stringify({ id: wanted, ...members }, null, 1)), expected);
  }));
});
