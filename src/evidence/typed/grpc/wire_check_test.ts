import { fromBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import fc from "../../../../tests/packages/fast_check.ts";
import { EVERY_MESSAGE, everyKind } from "../../../../tests/simulation/grpc_service.ts";
import { encodeHex } from "../../../canonical/hex.ts";
import { encodeRequest } from "./message_json.ts";
import { checkWire } from "./wire_check.ts";

const EVERY = await everyKind();
const LIMITS = { values: 1000, messages: 500, depth: 100 };

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(hex.split(" ").filter((one) => one !== "").map((one) => parseInt(one, 16)));
}

/** What the bytes are, the bytes, what the check says. */
const WIRES: readonly (readonly [what: string, hex: string, expected: RegExp | null])[] = [
  ["an empty message", "", null],
  ["an int32", "18 01", null],
  ["a field that is not known", "c0 3e 01", null],
  ["a group that is not known", "c3 3e 08 01 c4 3e", null],
  ["a nested group that is not known", "c3 3e 0b 0c c4 3e", null],
  ["packed integers", "c2 01 03 01 02 03", null],
  ["integers that are not packed", "c0 01 01 c0 01 02", null],
  ["packed doubles", "ea 01 08 00 00 00 00 00 00 00 00", null],
  ["a map entry without key and value", "f2 01 00", null],
  ["a string in place of an int32", "1a 01 61", /"an_int32" of "every.kind.v1.Every" has another type/],
  ["an int32 in place of a string", "70 01", /"a_string" .* has another type/],
  ["a fixed32 in place of a double", "0d 00 00 00 00", /"a_double" .* has another type/],
  ["a group in place of a message", "ab 01 ac 01", /"second" .* has another type/],
  ["packed strings", "ca 01 01 ff", /"strings" .* is not UTF-8/],
  ["a string that is not UTF-8", "72 01 ff", /"a_string" .* is not UTF-8/],
  ["a string with a surrogate", "72 03 ed a0 80", /"a_string" .* is not UTF-8/],
  ["a key of a map that is not UTF-8", "f2 01 03 0a 01 ff", /"by_string" .* is not UTF-8/],
  ["a value of a map with another type", "f2 01 03 12 01 61", /map "by_string" has another type/],
  ["a key of a map with another type", "f2 01 02 08 01", /map "by_string" has another type/],
  ["a map entry with a third field", "f2 01 02 18 01", /more than key and value/],
  ["a map entry with field 0", "f2 01 02 00 01", /more than key and value/],
  ["a string longer than its message", "72 02 61", /longer than its message/],
  ["a string of 2^63 bytes", "72 ff ff ff ff ff ff ff ff 7f", /longer than its message/],
  ["a message longer than its parent", "aa 01 03 1a 01", /longer than its message/],
  ["a field that crosses the end of its message", "aa 01 01 18 01", /ends after its message/],
  ["a fixed64 that is cut", "51 00", /ends after its message/],
  ["a varint that is cut", "18 80", /ends after its message/],
  ["a varint of 11 bytes", "18 80 80 80 80 80 80 80 80 80 80 01", /more than 10 bytes/],
  ["a tag without a value", "18", /ends after its message/],
  ["field 0", "00 00", /a number that cannot be/],
  ["field 2^29", "80 80 80 80 10 00", /a number that cannot be/],
  ["wire type 6", "1e", /has another type/],
  ["wire type 7 of a field that is not known", "c7 3e", /wire type 7/],
  ["the end of a group that did not begin", "1c", /did not begin/],
  ["a group without an end", "c3 3e", /does not end/],
  ["a group with the end of another one", "c3 3e cc 3e", /did not begin/],
  ["packed doubles with a byte too few", "ea 01 07 00 00 00 00 00 00 00", /do not fill it/],
];

for (const [what, hex, expected] of WIRES) {
  Deno.test(`the wire check ${expected === null ? "accepts" : "refuses"} ${what}`, () => {
    const fault = checkWire(EVERY, bytesOf(hex), LIMITS);
    if (expected === null) assert.equal(fault, null);
    else assert.match(fault ?? "accepted", expected);
  });
}

/** Wire form of so many messages in field `second`, each in the one before it. */
function nested(depth: number): Uint8Array {
  let inner = new Uint8Array(0);
  for (let level = 1; level < depth; level++) {
    const length = inner.length < 128 ? [inner.length] : [(inner.length & 127) | 128, inner.length >> 7];
    inner = new Uint8Array([0xaa, 0x01, ...length, ...inner]);
  }
  return inner;
}

Deno.test("the wire check bounds the depth: 99, 100, 101 messages", () => {
  const isAccepted = (depth: number): boolean => checkWire(EVERY, nested(depth), LIMITS) === null;
  assert.deepEqual([99, 100, 101].map(isAccepted), [true, true, false]);
});

Deno.test("the wire check bounds the depth of groups that are not known", () => {
  const groups = (depth: number): Uint8Array =>
    new Uint8Array([...Array(depth).fill(0x0b), ...Array(depth).fill(0x0c)]);
  const isAccepted = (depth: number): boolean =>
    checkWire(EVERY, new Uint8Array([0xc3, 0x3e, ...groups(depth), 0xc4, 0x3e]), LIMITS) === null;
  assert.deepEqual([97, 98, 99].map(isAccepted), [true, true, false]);
});

Deno.test("the wire check bounds the values: 999, 1000, 1001 of every form", () => {
  const repeat = (bytes: readonly number[], times: number): Uint8Array =>
    new Uint8Array(Array(times).fill(bytes).flat());
  const isAccepted = (bytes: Uint8Array): boolean => checkWire(EVERY, bytes, LIMITS) === null;
  const packed = (count: number): Uint8Array => {
    const length = [(count & 127) | 128, count >> 7];
    return new Uint8Array([0xc2, 0x01, ...length, ...Array(count).fill(1)]);
  };
  const counts = [999, 1000, 1001];
  assert.deepEqual(counts.map((count) => isAccepted(repeat([0x18, 0x01], count))), [true, true, false]);
  assert.deepEqual(counts.map((count) => isAccepted(repeat([0xc0, 0x3e, 0x01], count))), [true, true, false]);
  assert.deepEqual(counts.map((count) => isAccepted(repeat([0xca, 0x01, 0x00], count))), [true, true, false]);
  // The packed field itself is one value.
  assert.deepEqual(counts.map((count) => isAccepted(packed(count - 1))), [true, true, false]);
});

Deno.test("the wire check bounds the messages: 499, 500, 501, the outermost included", () => {
  const isAccepted = (count: number): boolean => {
    const bytes = new Uint8Array(Array(count - 1).fill([0xda, 0x01, 0x00]).flat());
    return checkWire(EVERY, bytes, LIMITS) === null;
  };
  assert.deepEqual([499, 500, 501].map(isAccepted), [true, true, false]);
});

Deno.test("random messages: the wire check accepts what was encoded", () => {
  fc.assert(
    fc.property(EVERY_MESSAGE, (json) => {
      const encoded = encodeRequest(EVERY, json);
      assert.ok(encoded.ok);
      assert.equal(checkWire(EVERY, encoded.bytes, { values: 100_000, messages: 100_000, depth: 100 }), null);
    }),
    { numRuns: 200 },
  );
});

Deno.test("random bytes: what the wire check accepts, the library decodes", () => {
  fc.assert(
    fc.property(EVERY_MESSAGE, fc.nat(), fc.nat({ max: 255 }), (json, at, byte) => {
      const encoded = encodeRequest(EVERY, json);
      assert.ok(encoded.ok);
      const { bytes } = encoded;
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      if (checkWire(EVERY, bytes, { values: 100_000, messages: 100_000, depth: 100 }) !== null) return;
      assert.doesNotThrow(() => fromBinary(EVERY, bytes), encodeHex(bytes));
    }),
    { numRuns: 500 },
  );
});
