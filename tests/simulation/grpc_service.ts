/**
 * A gRPC service with every kind of field, as `.proto` texts, with its descriptors and random messages in JSON.
 *
 * @module
 */

import type { DescMessage, FileRegistry } from "@bufbuild/protobuf";
import fc from "../packages/fast_check.ts";
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../src/canonical/json.ts";
import { openDescriptors } from "../../src/evidence/typed/grpc/descriptors.ts";
import { importGrpc } from "../../src/evidence/typed/grpc/import_grpc.ts";
import type { ImportedProvider, ImportSelection } from "../../src/evidence/typed/import_result.ts";
import type { GrpcProfile } from "../../src/evidence/typed/runtime_profile.ts";

/** The texts of the service. */
export const EVERY_KIND: readonly { readonly path: string; readonly text: string }[] = [{
  path: "every/kind.proto",
  text: `
    syntax = "proto3";
    package every.kind.v1;
    import "google/protobuf/duration.proto";
    import "google/protobuf/empty.proto";
    import "google/protobuf/field_mask.proto";
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/wrappers.proto";
    import "every/color.proto";

    message Every {
      double a_double = 1; float a_float = 2; int32 an_int32 = 3; int64 an_int64 = 4; uint32 a_uint32 = 5;
      uint64 a_uint64 = 6; sint32 a_sint32 = 7; sint64 a_sint64 = 8; fixed32 a_fixed32 = 9; fixed64 a_fixed64 = 10;
      sfixed32 a_sfixed32 = 11; sfixed64 a_sfixed64 = 12; bool a_bool = 13; string a_string = 14; bytes some_bytes = 15;
      Color color = 16;
      optional int64 maybe_int64 = 17; optional string maybe_string = 18; optional Color maybe_color = 19;
      oneof choice { int64 first = 20; Every second = 21; string third = 22; Color fourth = 23; }
      repeated int64 int64s = 24; repeated string strings = 25; repeated Color colors = 26; repeated Every everys = 27;
      repeated sint32 expanded = 28 [packed = false]; repeated double doubles = 29;
      map<string, int64> by_string = 30; map<int32, string> by_int32 = 31; map<bool, Every> by_bool = 32;
      map<uint64, Color> by_uint64 = 33; map<string, bytes> blobs = 34;
      google.protobuf.Timestamp at = 35; google.protobuf.Duration lasts = 36; google.protobuf.FieldMask mask = 37;
      google.protobuf.Struct struct = 38; google.protobuf.Value value = 39; google.protobuf.ListValue list = 40;
      google.protobuf.Empty empty = 41; google.protobuf.NullValue null = 42;
      google.protobuf.Int64Value int64_value = 43; google.protobuf.UInt64Value uint64_value = 44;
      google.protobuf.StringValue string_value = 45; google.protobuf.BoolValue bool_value = 46;
      google.protobuf.DoubleValue double_value = 47; google.protobuf.BytesValue bytes_value = 48;
      repeated google.protobuf.Int64Value int64_values = 49; repeated google.protobuf.Timestamp times = 50;
      int64 long_text = 51 [jstype = JS_STRING]; string renamed = 52 [json_name = "another-name"];
      map<string, google.protobuf.Value> values = 53;
    }
    // Reads everything.
    service Reader {
      // Returns what it was asked.
      rpc Echo(Every) returns (Every);
      rpc Watch(Every) returns (stream Every);
    }
  `,
}, {
  path: "every/color.proto",
  text: `syntax = "proto3"; package every.kind.v1; enum Color { NONE = 0; RED = 1; BLUE = -2; }`,
}];

/** Imports the service. */
export async function importEveryKind(selection?: readonly ImportSelection[]): Promise<ImportedProvider> {
  const result = await importGrpc({ proto: EVERY_KIND }, {
    provider_id: "every",
    server_url: "grpc.example.test:443",
    ...selection === undefined ? {} : { selection },
  });
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

/** The descriptors that the imported profile carries. */
export function descriptorsOf(imported: ImportedProvider): FileRegistry {
  const opened = openDescriptors((imported.profile as GrpcProfile).descriptor_set_base64);
  assert.ok(opened.ok);
  return opened.registry;
}

/** The descriptor of the message with every kind of field. */
export async function everyKind(): Promise<DescMessage> {
  const message = descriptorsOf(await importEveryKind()).getMessage("every.kind.v1.Every");
  assert.ok(message !== undefined);
  return message;
}

const INT32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const UINT32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const INT64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 1n - 2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n),
).map(String);
const UINT64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n),
).map(String);
const DOUBLE = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom("NaN", "Infinity", "-Infinity"),
)
  // JSON has no negative zero.
  .map((one) => (one === 0 ? 0 : one));
const FLOAT = fc.float({ noNaN: true, noDefaultInfinity: true }).map((one) => (one === 0 ? 0 : one));
const TEXT = fc.string({ unit: "binary" }).map((text) => text.toWellFormed());
const BYTES = fc.uint8Array({ maxLength: 12 }).map((bytes) => btoa(String.fromCharCode(...bytes)));
const COLOR = fc.constantFrom("NONE", "RED", "BLUE");
const TIMESTAMP = fc.constantFrom("1970-01-01T00:00:00Z", "2026-11-22T10:00:00.123456789Z", "0001-01-01T00:00:00Z");
const DURATION = fc.constantFrom("0s", "-1.500s", "315576000000s", "0.000000001s");
const ANY_JSON = fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme-ascii" }).map((value) =>
  JSON.parse(JSON.stringify(value)) as JsonValue
);
/** Names of members; "__proto__" is one like any other. */
const NAME = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("__proto__", "constructor", "toString"));

function map(key: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.array(fc.tuple(key, value), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
}

/** Random messages in the JSON form of the protocol. */
export const EVERY_MESSAGE: fc.Arbitrary<JsonObject> = fc.letrec((tie) => ({
  every: fc.record({
    aDouble: DOUBLE,
    aFloat: FLOAT,
    anInt32: INT32,
    anInt64: INT64,
    aUint32: UINT32,
    aUint64: UINT64,
    aSint32: INT32,
    aSint64: INT64,
    aFixed32: UINT32,
    aFixed64: UINT64,
    aSfixed32: INT32,
    aSfixed64: INT64,
    aBool: fc.boolean(),
    aString: TEXT,
    someBytes: BYTES,
    color: COLOR,
    maybeInt64: INT64,
    maybeString: TEXT,
    maybeColor: COLOR,
    int64s: fc.array(INT64, { maxLength: 3 }),
    strings: fc.array(TEXT, { maxLength: 3 }),
    colors: fc.array(COLOR, { maxLength: 3 }),
    everys: fc.array(tie("every"), { maxLength: 2, depthIdentifier: "every" }),
    expanded: fc.array(INT32, { maxLength: 3 }),
    doubles: fc.array(DOUBLE, { maxLength: 3 }),
    byString: map(NAME, INT64),
    byInt32: map(INT32.map(String), TEXT),
    byUint64: map(UINT64, COLOR),
    blobs: map(NAME, BYTES),
    at: TIMESTAMP,
    lasts: DURATION,
    mask: fc.constantFrom("", "a", "a,bC.dE"),
    struct: map(NAME, ANY_JSON),
    value: ANY_JSON,
    list: fc.array(ANY_JSON, { maxLength: 3 }),
    empty: fc.constant({}),
    int64Value: INT64,
    uint64Value: UINT64,
    stringValue: TEXT,
    boolValue: fc.boolean(),
    doubleValue: DOUBLE,
    bytesValue: BYTES,
    int64Values: fc.array(INT64, { maxLength: 3 }),
    times: fc.array(TIMESTAMP, { maxLength: 3 }),
    longText: INT64,
    "another-name": TEXT,
    values: map(NAME, ANY_JSON),
  }, { requiredKeys: [] }).chain((fields) =>
    fc.oneof(
      fc.constant(fields),
      INT64.map((first) => ({ ...fields, first })),
      TEXT.map((third) => ({ ...fields, third })),
      COLOR.map((fourth) => ({ ...fields, fourth })),
    )
  ),
})).every as fc.Arbitrary<JsonObject>;
