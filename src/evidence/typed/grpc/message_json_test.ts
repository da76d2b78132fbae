import assert from "node:assert/strict";
import fc from "../../../../tests/packages/fast_check.ts";
import protobuf from "npm:protobufjs@8.8.1";
import protojson from "npm:protobufjs@8.8.1/ext/protojson.js";
import { EVERY_KIND, EVERY_MESSAGE, everyKind } from "../../../../tests/simulation/grpc_service.ts";
import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../canonical/json.ts";
import { compileSchema } from "../../json_schema/compile.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { decodeResponse, encodeRequest } from "./message_json.ts";
import { describeMessage } from "./message_schema.ts";

const EVERY = await everyKind();

/** The wire form of a message in JSON. */
function encoded(json: JsonObject): Uint8Array {
  const result = encodeRequest(EVERY, json);
  assert.ok(result.ok, result.ok ? "" : result.message);
  return result.bytes;
}

/** The JSON form of a message after the wire. */
function decoded(bytes: Uint8Array, path: readonly string[] | null = null): JsonValue | undefined {
  const result = decodeResponse(EVERY, bytes, path);
  assert.ok(result.ok, result.ok ? "" : result.message);
  return result.value;
}

/** Field, value in a request, value in a response. */
const VALUES: readonly (readonly [field: string, sent: JsonValue, read: JsonValue])[] = [
  ["anInt64", 1, 1],
  ["anInt64", "1", 1],
  ["anInt64", "9007199254740991", 9007199254740991],
  ["anInt64", "9007199254740992", "9007199254740992"],
  ["anInt64", "9007199254740993", "9007199254740993"],
  ["anInt64", "-9007199254740991", -9007199254740991],
  ["anInt64", "-9007199254740992", "-9007199254740992"],
  ["anInt64", "-9007199254740993", "-9007199254740993"],
  ["anInt64", "9223372036854775807", "9223372036854775807"],
  ["anInt64", "-9223372036854775808", "-9223372036854775808"],
  ["aUint64", "9007199254740991", 9007199254740991],
  ["aUint64", "9007199254740993", "9007199254740993"],
  ["aUint64", "18446744073709551615", "18446744073709551615"],
  ["aSint64", "-9223372036854775808", "-9223372036854775808"],
  ["aFixed64", "18446744073709551615", "18446744073709551615"],
  ["aSfixed64", "-9007199254740991", -9007199254740991],
  ["longText", 7, "7"],
  ["int64Value", "5", 5],
  ["uint64Value", "18446744073709551615", "18446744073709551615"],
  ["int64s", ["1", "9007199254740993"], [1, "9007199254740993"]],
  ["byString", { a: "1", b: "9007199254740993" }, { a: 1, b: "9007199254740993" }],
  ["byUint64", { "18446744073709551615": "RED" }, { "18446744073709551615": "RED" }],
  ["int64Values", ["1", "2"], [1, 2]],
  ["aDouble", "NaN", "NaN"],
  ["aDouble", "-Infinity", "-Infinity"],
  ["aDouble", 0.1, 0.1],
  ["aFloat", 0.1, 0.10000000149011612],
  ["color", "BLUE", "BLUE"],
  ["color", 7, 7],
  ["null", null, null],
  ["at", "2026-11-22T12:00:00+02:00", "2026-11-22T10:00:00Z"],
  ["lasts", "1.5s", "1.500s"],
  ["mask", "aB,c", "aB,c"],
  ["someBytes", "AP8=", "AP8="],
  ["struct", { a: [null, { b: 1.5 }] }, { a: [null, { b: 1.5 }] }],
  ["value", null, null],
  ["stringValue", "", ""],
  ["empty", {}, {}],
  ["another-name", "x", "x"],
];

for (const [field, sent, read] of VALUES) {
  Deno.test(`JSON of messages: ${field} ${JSON.stringify(sent)} is read as ${JSON.stringify(read)}`, () => {
    const value = decoded(encoded({ [field]: sent }));
    assert.ok(isJsonObject(value));
    assert.deepEqual(value[field], read);
    // A path selects the same value.
    assert.deepEqual(decoded(encoded({ [field]: sent }), [field]), read);
  });
}

/** Field, value that has no wire form. */
const REFUSED: readonly (readonly [field: string, sent: JsonValue])[] = [
  ["anInt64", "9223372036854775808"],
  ["anInt64", "-9223372036854775809"],
  ["anInt64", "1.5"],
  ["anInt64", 1.5],
  ["aUint64", "-1"],
  ["aUint64", "18446744073709551616"],
  ["anInt32", 2147483648],
  ["aUint32", -1],
  ["aBool", "true"],
  ["color", "GREEN"],
  ["at", "10000-01-01T00:00:00Z"],
  ["lasts", "315576000001s"],
  ["someBytes", "*"],
  ["aString", 1],
  ["int64s", [null]],
  ["unknown", 1],
  ["__proto__", 1],
];

for (const [field, sent] of REFUSED) {
  Deno.test(`JSON of messages: ${field} ${JSON.stringify(sent)} is refused`, () => {
    const params = Object.fromEntries([[field, sent]]) as JsonObject;
    assert.equal(encodeRequest(EVERY, params).ok, false);
  });
}

Deno.test("JSON of messages: a request sets one field of a oneof", () => {
  assert.equal(encodeRequest(EVERY, { first: 1, third: "a" }).ok, false);
});

Deno.test("JSON of messages: fields without presence are read as their defaults, fields with presence stay absent", () => {
  const value = decoded(new Uint8Array(0));
  assert.ok(isJsonObject(value));
  assert.deepEqual([
    value["anInt64"],
    value["aBool"],
    value["aString"],
    value["color"],
    value["int64s"],
    value["byString"],
  ], [
    0,
    false,
    "",
    "NONE",
    [],
    {},
  ]);
  for (const name of ["maybeInt64", "maybeString", "first", "at", "int64Value", "struct", "value"]) {
    assert.ok(!Object.hasOwn(value, name), name);
  }
});

/** Path, value in a response, what it selects. */
const PATHS: readonly (readonly [path: readonly string[], message: JsonObject, selected: JsonValue | undefined])[] = [
  [["maybeInt64"], {}, undefined],
  [["maybeInt64"], { maybeInt64: 0 }, 0],
  [["anInt64"], {}, 0],
  [["second"], {}, undefined],
  [["second", "anInt64"], {}, undefined],
  [["second", "anInt64"], { first: 1 }, undefined],
  [["second", "anInt64"], { second: {} }, 0],
  [["second", "second", "maybeString"], { second: { second: { maybeString: "x" } } }, "x"],
  [["second", "second", "maybeString"], { second: { second: {} } }, undefined],
  [["everys"], {}, []],
  [["byString"], { byString: { a: 1 } }, { a: 1 }],
  [["value"], {}, undefined],
  [["value"], { value: null }, null],
  [["int64Value"], {}, undefined],
];

for (const [path, message, selected] of PATHS) {
  Deno.test(`result path ${path.join(".")} of ${JSON.stringify(message)} selects ${JSON.stringify(selected)}`, () => {
    assert.deepEqual(decoded(encoded(message), path), selected);
  });
}

for (const path of [["unknown"], ["an_int64"], ["at", "seconds"], ["everys", "0"], ["constructor"], ["anInt64", "x"]]) {
  Deno.test(`result path ${path.join(".")} leads to no field`, () => {
    assert.equal(decodeResponse(EVERY, new Uint8Array(0), path).ok, false);
  });
}

Deno.test("a member named __proto__ of a map and of a struct arrives", () => {
  const message = JSON.parse('{"byString":{"__proto__":"5"},"struct":{"__proto__":{"a":1}},"values":{"__proto__":1}}');
  const value = decoded(encoded(message));
  assert.ok(isJsonObject(value));
  const text = canonicalize(
    { byString: value["byString"], struct: value["struct"], values: value["values"] } as JsonObject,
  );
  assert.equal(text, '{"byString":{"__proto__":5},"struct":{"__proto__":{"a":1}},"values":{"__proto__":1}}');
});

const ROOT = new protobuf.Root();
for (const { text } of EVERY_KIND) protobuf.parse(text, ROOT);
for (const name of ["duration", "empty", "field_mask", "struct", "timestamp", "wrappers"]) {
  const known = protobuf.common.get(`google/protobuf/${name}.proto`) ?? protobuf.common.get(`google/protobuf/${name}`);
  if (known?.nested !== undefined && known.nested !== null) ROOT.addJSON(known.nested);
}
const PEER = ROOT.lookupType("every.kind.v1.Every");

/** What the other library makes of the wire form. */
function peerView(bytes: Uint8Array): JsonValue {
  return protojson.toJson(PEER, PEER.decode(bytes)) as JsonValue;
}

Deno.test("random messages: gate reads what another library wrote, and writes what that library reads the same", () => {
  fc.assert(
    fc.property(EVERY_MESSAGE, (json) => {
      const theirs = PEER.encode(protojson.fromJson(PEER, json)).finish();
      const view = peerView(theirs);
      const ours = decoded(theirs);
      assert.ok(isJsonObject(ours));
      assert.deepEqual(peerView(encoded(ours)), view);
      assert.deepEqual(peerView(encoded(json)), view);
    }),
    { numRuns: 300 },
  );
});

const RESULT_SCHEMA = compileSchema(describeMessage(EVERY, "result").schema);
const PARAMS_SCHEMA = compileSchema(describeMessage(EVERY, "params").schema);

Deno.test("random messages: the schemas accept every request and every response", () => {
  assert.ok("validator" in RESULT_SCHEMA && "validator" in PARAMS_SCHEMA);
  const { validator: result } = RESULT_SCHEMA;
  const { validator: params } = PARAMS_SCHEMA;
  fc.assert(
    fc.property(EVERY_MESSAGE, (json) => {
      assert.equal(params(json), null);
      const value = decoded(encoded(json));
      assert.equal(value === undefined ? "absent" : result(value), null);
    }),
    { numRuns: 200 },
  );
});

Deno.test("the schema of a response refuses a value that the service cannot have sent", () => {
  assert.ok("validator" in RESULT_SCHEMA);
  const whole = decoded(new Uint8Array(0)) as JsonObject;
  assert.equal(RESULT_SCHEMA.validator(whole), null);
  const { anInt64: _, ...without } = whole;
  for (
    const wrong of [without, { ...whole, anInt64: "x" }, { ...whole, other: 1 }, { ...whole, first: 1, third: "a" }]
  ) {
    assert.notEqual(RESULT_SCHEMA.validator(wrong as JsonObject), null);
  }
});

Deno.test(`a request has at most ${GRPC_LIMITS.requestBytes} bytes`, () => {
  // Two bytes of tag, three of length.
  const room = GRPC_LIMITS.requestBytes - 5;
  const isAccepted = (length: number): boolean => encodeRequest(EVERY, { "another-name": "a".repeat(length) }).ok;
  assert.deepEqual([room - 1, room, room + 1].map(isAccepted), [true, true, false]);
});
