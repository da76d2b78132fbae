import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { createRequestIdScanner, recoverRequestId } from "./request_id_recovery.ts";

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

/** What a finder says of a text that comes byte by byte. */
function found(text: string, keptBytes = 1024): string | number | null {
  const finder = createRequestIdScanner(keptBytes);
  for (const byte of new TextEncoder().encode(text)) finder.push(new Uint8Array([byte]));
  return finder.id();
}

for (const [text, id] of ROWS) {
  Deno.test(`recoverRequestId() of ${text} is ${id}`, () => assert.equal(recoverRequestId(text), id));
  Deno.test(`createRequestIdScanner() finds in ${text}: ${id}`, () => assert.equal(found(text), id));
}

Deno.test("createRequestIdScanner() accepts one object alone, and keeps at most the given bytes", () => {
  const rows: readonly (readonly [text: string, id: string | number | null])[] = [
    ['{"method":"a","params":{"a":"}{\\"","id":2},"jsonrpc":"2.0","id":1}\r', 1],
    [' { "id" : 1 } ', 1],
    ['{"id":1', null],
    ['{"id":1}x', null],
    ['x{"id":1}', null],
    ['[{"id":1}]', null],
    ['{"id":1}{"a":2}', null],
    ['{"id":1}}', null],
    ['"{\\"id\\":1}"', null],
    ['{"id":12345}', 12345],
    ['{"id":"12"}', "12"],
    ['{"id":"123"}', "123"],
    ['{"id":"1234"}', null],
    ['{"a long name":[{"a":"very long value"}],"id":7}', 7],
  ];
  for (const [text, id] of rows) assert.equal(found(text, 5), id, text);
});

Deno.test("recoverRequestId() finds the id of any object that has one", () => {
  const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "grapheme" }));
  const rest = fc.dictionary(fc.string().filter((name) => name !== "id" && name !== "__proto__"), fc.jsonValue());
  fc.assert(fc.property(id, rest, (wanted, members) => {
    const expected = Object.is(wanted, -0) ? 0 : wanted;
    assert.equal(recoverRequestId(JSON.stringify({ ...members, id: wanted })), expected);
    assert.equal(recoverRequestId(JSON.stringify({ id: wanted, ...members }, null, 1)), expected);
    assert.equal(found(JSON.stringify({ ...members, id: wanted })), expected);
  }));
});
