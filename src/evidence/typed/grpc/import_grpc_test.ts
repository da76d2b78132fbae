import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import assert from "node:assert/strict";
import fc from "../../../../tests/packages/fast_check.ts";
import { EVERY_KIND, importEveryKind } from "../../../../tests/simulation/grpc_service.ts";
import { decodeBase64 } from "../../../canonical/base64.ts";
import { compileSchema } from "../../json_schema/compile.ts";
import { IMPORT_LIMITS, type ImportOptions, type ImportResult } from "../import_result.ts";
import type { GrpcProfile } from "../runtime_profile.ts";
import { checkRuntimeProfile } from "../runtime_profile.ts";
import type { JsonValue } from "../../../canonical/json.ts";
import { openDescriptors, readDescriptorSet } from "./descriptors.ts";
import { type GrpcSource, importGrpc } from "./import_grpc.ts";
import { GRPC_LIMITS } from "./limits.ts";

const OPTIONS: ImportOptions = { provider_id: "p", server_url: "grpc.example.test:443" };

/** Imports one text with a service `S` and its method `M` from `In` to `Out`. */
async function importText(
  text: string,
  options: Partial<ImportOptions> = {},
  path = "a.proto",
): Promise<ImportResult> {
  return await importGrpc({ proto: [{ path, text }] }, { ...OPTIONS, ...options });
}

/** What an import said: the ids of its checks, or its code; then reasons and warnings. */
function outcome(result: ImportResult): string {
  const head = result.ok ? result.contract.checks.map(({ check_id }) => check_id).join(" ") : result.code;
  const reasons = result.candidates.flatMap((one) => one.reasons.map(({ code, pointer }) => `${code} ${pointer}`));
  const warnings = result.warnings.map(({ code, pointer }) => `${code} ${pointer}`);
  return [head, ...reasons, ...warnings].join("; ");
}

const HEAD = 'syntax = "proto3"; package a;';
const SERVICE = "service S { rpc M(In) returns (Out); }";
const PLAIN = "message In {} message Out {}";

/** What a text is, the text, outcome. */
const TEXTS: readonly (readonly [what: string, text: string, expected: string])[] = [
  ["a unary method", `${HEAD} ${PLAIN} ${SERVICE}`, "S.M"],
  ["no package", `syntax = "proto3"; ${PLAIN} ${SERVICE}`, "S.M"],
  [
    "streams",
    `${HEAD} ${PLAIN} service S { rpc A(stream In) returns (Out); rpc B(In) returns (stream Out); }`,
    "no_usable_operation; streaming a.S/A; streaming a.S/B",
  ],
  [
    "a stream and a unary method",
    `${HEAD} ${PLAIN} service S { rpc A(stream In) returns (Out); rpc M(In) returns (Out); }`,
    "S.M; streaming a.S/A",
  ],
  ["no service", `${HEAD} ${PLAIN}`, "no_usable_operation"],
  ["a type that is not there", `${HEAD} message In {} ${SERVICE}`, "no_usable_operation; reference_unresolved Out"],
  [
    "a field whose type is not there",
    `${HEAD} message In { Gone g = 1; } message Out {} ${SERVICE}`,
    "no_usable_operation; reference_unresolved Gone",
  ],
  ["a file that was not given", `${HEAD} import "x/y.proto"; ${PLAIN} ${SERVICE}`, "S.M; import_missing /proto/0/text"],
  [
    "a type of a file that was not given",
    `${HEAD} import "x/y.proto"; message In { x.Y y = 1; } message Out {} ${SERVICE}`,
    "no_usable_operation; reference_unresolved x.Y; import_missing /proto/0/text",
  ],
  [
    "an Any in the request",
    `${HEAD} import "google/protobuf/any.proto"; message In { google.protobuf.Any x = 1; } message Out {} ${SERVICE}`,
    "no_usable_operation; field_any google.protobuf.Any",
  ],
  [
    "an Any in the response",
    `${HEAD} import "google/protobuf/any.proto"; message In {} message Out { google.protobuf.Any x = 1; } ${SERVICE}`,
    "no_usable_operation; field_any google.protobuf.Any",
  ],
  [
    "a well-known type without its import",
    `${HEAD} message In { google.protobuf.Any x = 1; } message Out {} ${SERVICE}`,
    "no_usable_operation; reference_unresolved google.protobuf.Any (not imported)",
  ],
  [
    "a message within itself",
    `${HEAD} message In { In in = 1; map<string, Out> m = 2; } message Out { repeated In in = 1; } ${SERVICE}`,
    "S.M",
  ],
  [
    "a group of proto2",
    `package a; message In {} message Out { optional group G = 1 { optional int32 x = 1; } } ${SERVICE}`,
    "no_usable_operation; field_group a.Out.g",
  ],
  [
    "proto2 with defaults",
    `syntax = "proto2"; package a; message In { required int32 x = 1 [default = 5]; } message Out {} ${SERVICE}`,
    "S.M",
  ],
  ["edition 2023", `edition = "2023"; package a; ${PLAIN} ${SERVICE}`, "S.M"],
  [
    "two fields with one JSON name",
    `${HEAD} message In { int32 a_b = 1; int32 aB = 2; } message Out {} ${SERVICE}`,
    "no_usable_operation; field_name_conflict a.In.a_b; field_name_conflict a.In.aB",
  ],
  [
    "a JSON name that is another field's name",
    `${HEAD} message In { int32 x = 1; int32 y = 2 [json_name = "x"]; } message Out {} ${SERVICE}`,
    "no_usable_operation; field_name_conflict a.In.y",
  ],
  ["an unknown syntax", `syntax = "proto9"; package a; ${PLAIN} ${SERVICE}`, "document_invalid; "],
  ["not the language", "this is not a proto file", "document_invalid; "],
  ["an empty text", "", "no_usable_operation"],
  [
    "a package of the well-known types",
    `syntax = "proto3"; package google.protobuf; ${PLAIN} ${SERVICE}`,
    "document_invalid; ",
  ],
  [
    "the name __proto__",
    `${HEAD} message In { string __proto__ = 1; } message Out {} ${SERVICE}`,
    "document_invalid; ",
  ],
  [
    "the names constructor and toString",
    `${HEAD} message In { string constructor = 1; string toString = 2; } message Out {} ${SERVICE}`,
    "S.M",
  ],
];

for (const [what, text, expected] of TEXTS) {
  Deno.test(`importGrpc() of ${what}: ${expected}`, async () => {
    const got = outcome(await importText(text));
    if (expected.endsWith("; ")) assert.ok(`${got}; `.startsWith(expected.slice(0, -2)), got);
    else assert.equal(got, expected);
  });
}

/** Edition, declarations, names that a response always has. */
const FEATURES: readonly (readonly [edition: string, message: string, required: readonly string[]])[] = [
  ["2023", "int32 x = 1; repeated int32 z = 2;", ["z"]],
  ["2023", "int32 x = 1 [features.field_presence = IMPLICIT]; int32 y = 2;", ["x"]],
  [
    "2023",
    "option features.field_presence = IMPLICIT; int32 x = 1; int32 y = 2 [features.field_presence = EXPLICIT];",
    ["x"],
  ],
  ["2024", "int32 x = 1 [features = { field_presence: LEGACY_REQUIRED }]; int32 y = 2;", ["x"]],
  ["2026", "int32 x = 1 [features.field_presence = IMPLICIT]; int32 y = 2;", ["x"]],
];

for (const [edition, message, required] of FEATURES) {
  for (const atFile of [false, true]) {
    Deno.test(`importGrpc() of "${message}" in edition ${edition}${atFile ? ", implicit in the file" : ""}`, async () => {
      const option = atFile ? "option features.field_presence = IMPLICIT;" : "";
      const text = `edition = "${edition}"; package a; ${option} message In {} message Out { ${message} } ${SERVICE}`;
      const result = await importText(text);
      assert.ok(result.ok, outcome(result));
      const schema = result.contract.checks[0]?.result_schema as { required: readonly string[]; properties: object };
      const explicit = message.includes("EXPLICIT") ? ["x"] : Object.keys(schema.properties);
      assert.deepEqual(schema.required, atFile ? explicit : required);
    });
  }
}

Deno.test("importGrpc() keeps the features that decide the encoding", async () => {
  const text = `edition = "2023"; package a;
    message In { In in = 1 [features.message_encoding = DELIMITED]; repeated int32 z = 2 [features.repeated_field_encoding = EXPANDED];
      E e = 3; enum E { option features.enum_type = CLOSED; A = 0; } }
    message Out {} ${SERVICE}`;
  const result = await importText(text);
  assert.ok(result.ok, outcome(result));
  const opened = openDescriptors((result.profile as GrpcProfile).descriptor_set_base64);
  assert.ok(opened.ok);
  const fields = opened.registry.getMessage("a.In")?.fields ?? [];
  assert.deepEqual(
    fields.map((
      field,
    ) => [
      field.message !== undefined && field.delimitedEncoding,
      field.fieldKind === "list" && field.packed,
      field.enum?.open,
    ]),
    [
      [true, false, undefined],
      [false, false, undefined],
      [false, false, false],
    ],
  );
});

/** What a name stands for, by the rule of the language: declarations, written name, full name. */
const NAMES: readonly (readonly [declarations: string, written: string, full: string | null])[] = [
  ["message X {}", "X", "a.b.X"],
  ["message X {}", "a.b.X", "a.b.X"],
  ["message X {}", ".a.b.X", "a.b.X"],
  ["message X {}", "b.X", "a.b.X"],
  ["message X {}", ".b.X", null],
  ["message X {}", ".X", null],
  ["message X { message Y {} }", "X.Y", "a.b.X.Y"],
  ["message X { message Y {} }", "Y", null],
  ["message Y {} message X { message Y {} }", "Y", "a.b.Y"],
  // The innermost scope that knows the first part decides, although an outer one knows the whole name.
  ["message a { }", "a.b.X", null],
];

for (const [declarations, written, full] of NAMES) {
  Deno.test(`importGrpc() reads "${written}" beside "${declarations}" as ${full}`, async () => {
    const text =
      `syntax = "proto3"; package a.b; ${declarations} message In { ${written} f = 1; } message Out {} ${SERVICE}`;
    const result = await importText(text);
    if (full === null) return assert.match(outcome(result), /reference_unresolved/);
    assert.ok(result.ok, outcome(result));
    const schema = result.contract.checks[0]?.params_schema as { properties: { f: { $ref: string } } };
    assert.equal(schema.properties.f.$ref, `#/$defs/${full}`);
  });
}

Deno.test("importGrpc() prefers a type of the scope to one nested in another type", async () => {
  const text =
    `${HEAD} message In { message Inner { message X { string wrong = 1; } } X x = 1; } message X { bool right = 1; }
    message Out {} ${SERVICE}`;
  const result = await importText(text);
  assert.ok(result.ok);
  assert.match(JSON.stringify(result.contract.checks[0]?.params_schema), /right/);
  assert.doesNotMatch(JSON.stringify(result.contract.checks[0]?.params_schema), /wrong/);
});

for (const [how, expected] of [["public", /^S\.M$/], ["", /reference_unresolved Foo/]] as const) {
  Deno.test(`importGrpc() sees what a file imports, and what that file imports "${how}": ${expected}`, () => {
    const a = `syntax = "proto3"; package x.y; import "b.proto"; message In { Foo f = 1; } message Out {} ${SERVICE}`;
    const b = `syntax = "proto3"; package x; import ${how} "c.proto"; message Other {}`;
    const c = 'syntax = "proto3"; package x; message Foo { int32 right = 1; }';
    const stranger = 'syntax = "proto3"; package x.y; message Foo { int32 wrong = 1; }';
    const proto = [a, b, c, stranger].map((text, index) => ({ path: `${"abcd"[index]}.proto`, text }));
    const result = importGrpc({ proto }, OPTIONS);
    assert.match(outcome(result), expected);
    assert.doesNotMatch(JSON.stringify(result), /wrong/);
  });
}

Deno.test("importGrpc() reports what a second file repeats, and reads the first", async () => {
  const text = `${HEAD} ${PLAIN} ${SERVICE}`;
  const result = await importGrpc({ proto: [{ path: "a.proto", text }, { path: "a.proto", text: "broken" }] }, OPTIONS);
  assert.equal(outcome(result), "S.M; file_ignored /proto/1");
  const both = await importGrpc({
    proto: [{ path: "a.proto", text }, { path: "b.proto", text: `${HEAD} message In {}` }],
  }, OPTIONS);
  assert.equal(outcome(both), "S.M; file_ignored a.In");
});

Deno.test("importGrpc() makes files that import each other in a circle candidates with a reason", async () => {
  const a = `${HEAD} import "b.proto"; message In { B b = 1; } message Out {} ${SERVICE}`;
  const b = `${HEAD} import "a.proto"; message B { In in = 1; }`;
  const result = await importGrpc({ proto: [{ path: "a.proto", text: a }, { path: "b.proto", text: b }] }, OPTIONS);
  assert.equal(outcome(result), "no_usable_operation; schema_invalid a.S/M");
});

Deno.test("the imported contract and profile of every kind of field pass every check", async () => {
  const imported = await importEveryKind();
  const { contract, profile } = imported;
  assert.deepEqual(checkRuntimeProfile(profile as unknown as JsonValue, contract).ok, true);
  for (const { params_schema, result_schema } of contract.checks) {
    assert.ok("validator" in compileSchema(params_schema));
    assert.ok("validator" in compileSchema(result_schema));
  }
  assert.deepEqual(contract.checks.map(({ check_id, description }) => [check_id, description]), [
    ["Reader.Echo", "Returns what it was asked."],
  ]);
});

Deno.test("the profile carries only the descriptors that its operations need, and no comments", async () => {
  const [file, color] = EVERY_KIND;
  assert.ok(file !== undefined && color !== undefined);
  const text =
    `${HEAD} import "every/color.proto"; message In {} message Out { every.kind.v1.Color c = 1; } // A comment.
    message Unused {} ${SERVICE}`;
  const result = await importGrpc({ proto: [{ path: "a.proto", text }, file, color] }, {
    ...OPTIONS,
    selection: [{ operation: "a.S/M" }],
  });
  assert.ok(result.ok, outcome(result));
  const bytes = decodeBase64((result.profile as GrpcProfile).descriptor_set_base64) ?? new Uint8Array(0);
  const read = readDescriptorSet(bytes, GRPC_LIMITS.profileBytes);
  assert.ok(read.ok);
  assert.deepEqual(read.set.file.map(({ name }) => name), ["every/color.proto", "a.proto"]);
  assert.deepEqual(read.set.file[1]?.messageType.map(({ name }) => name), ["In", "Out"]);
  assert.ok(!new TextDecoder().decode(bytes).includes("comment"));
});

Deno.test("a descriptor set gives the contract that its texts give", async () => {
  const imported = await importEveryKind();
  const descriptor_set = decodeBase64((imported.profile as GrpcProfile).descriptor_set_base64);
  assert.ok(descriptor_set !== null);
  const again = await importGrpc({ descriptor_set }, { provider_id: "every", server_url: "grpc.example.test:443" });
  assert.ok(again.ok, outcome(again));
  // Comments are not in the profile's descriptors.
  const [check] = imported.contract.checks;
  assert.deepEqual(again.contract.checks, [{ ...check, description: "The response of every.kind.v1.Reader/Echo." }]);
  assert.deepEqual(again.profile, imported.profile);
});

const PATHS = `${HEAD} import "google/protobuf/any.proto";
  message In {} message Out { google.protobuf.Any any = 1; int64 errors = 2; optional bool healthy = 3; Deep deep = 4; }
  message Deep { repeated string names = 1; Deep deep = 2; } ${SERVICE}`;

/** Pointer, outcome, comparators or result schema. */
const POINTERS: readonly (readonly [pointer: string, expected: string, schema: JsonValue])[] = [
  ["/healthy", "S.M", { anyOf: [{ type: "boolean" }, { type: "null" }] }],
  ["/errors", "S.M; presence_implicit a.Out.errors", null],
  ["/deep/names", "S.M; presence_implicit a.Deep.names", {
    anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }],
  }],
  ["/deep/deep/names", "S.M; presence_implicit a.Deep.names", null],
  ["/gone", "selection_invalid; field_any google.protobuf.Any", null],
  ["/any", "selection_invalid; field_any google.protobuf.Any", null],
  ["/any/value", "selection_invalid; field_any google.protobuf.Any", null],
  ["/deep/names/0", "selection_invalid; field_any google.protobuf.Any", null],
  ["healthy", "selection_invalid; field_any google.protobuf.Any", null],
  ["/__proto__", "selection_invalid; field_any google.protobuf.Any", null],
];

for (const [result_pointer, expected, schema] of POINTERS) {
  Deno.test(`importGrpc() with the result pointer ${result_pointer}: ${expected}`, async () => {
    const result = await importText(PATHS, { selection: [{ operation: "a.S/M", result_pointer }] });
    assert.equal(outcome(result), expected);
    if (schema !== null && result.ok) assert.deepEqual(result.contract.checks[0]?.result_schema, schema);
  });
}

Deno.test("a check of an int64 allows the comparators of integers and of texts", async () => {
  const result = await importText(PATHS, { selection: [{ operation: "a.S/M", result_pointer: "/errors" }] });
  assert.ok(result.ok);
  const allowed_comparators = result.contract.checks[0]?.allowed_comparators ?? [];
  for (const comparator of ["equals", "greater_than", "less_than_or_equal"]) {
    assert.ok(allowed_comparators.includes(comparator), comparator);
  }
});

/** Selection, refusal's pointer or checks. */
const SELECTIONS: readonly (readonly [selection: NonNullable<ImportOptions["selection"]>, expected: string])[] = [
  [[{ operation: "a.S/M" }], "S.M"],
  [[{ operation: "/a.S/M" }], "S.M"],
  [[{ operation: "a.S/M" }, { operation: "a.S/M" }], "S.M S.M_2"],
  [[{ operation: "a.S/M", check_id: "x" }, { operation: "a.S/M", check_id: "x" }], "/selection/1/check_id"],
  [[{ operation: "a.S/M", check_id: "" }], "/selection/0/check_id"],
  [[{ operation: "a.S/M", check_id: "a\u0000" }], "/selection/0/check_id"],
  [[{ operation: "a.S/Gone" }], "/selection/0/operation"],
  [[{ operation: "a.S/Watch" }], "/selection/0/operation"],
  [[], "no_usable_operation"],
];

for (const [selection, expected] of SELECTIONS) {
  Deno.test(`importGrpc() with the selection ${JSON.stringify(selection)}: ${expected}`, async () => {
    const text = `${HEAD} ${PLAIN} service S { rpc M(In) returns (Out); rpc Watch(In) returns (stream Out); }`;
    const result = await importText(text, { selection });
    const got = result.ok
      ? result.contract.checks.map(({ check_id }) => check_id).join(" ")
      : result.pointer || result.code;
    assert.equal(got, expected);
  });
}

/** Address, endpoint and whether it is cleartext, or the refusal. */
const ADDRESSES: readonly (readonly [server_url: string | undefined, expected: string])[] = [
  ["h:443", "h:443 false"],
  ["https://h.example:8443", "h.example:8443 false"],
  ["http://h.example:80", "h.example:80 true"],
  ["[::1]:1", "[::1]:1 false"],
  ["h:65535", "h:65535 false"],
  ["h:65536", "server_url_invalid"],
  ["h:0", "server_url_invalid"],
  ["h", "server_url_invalid"],
  ["h:1/x", "server_url_invalid"],
  ["user@h:1", "server_url_invalid"],
  [undefined, "server_url_required"],
];

for (const [server_url, expected] of ADDRESSES) {
  Deno.test(`importGrpc() from ${server_url}: ${expected}`, async () => {
    const options = server_url === undefined ? { provider_id: "p" } : { provider_id: "p", server_url };
    const result = await importGrpc({ proto: [{ path: "a", text: `${HEAD} ${PLAIN} ${SERVICE}` }] }, options);
    if (!result.ok) return assert.equal(result.code, expected);
    const { endpoint, plaintext } = result.profile as GrpcProfile;
    assert.equal(`${endpoint} ${plaintext}`, expected);
  });
}

Deno.test(`importGrpc() takes at most ${GRPC_LIMITS.files} texts`, async () => {
  const codeOf = async (count: number): Promise<string> => {
    const proto = Array.from({ length: count }, (_, index) => ({ path: `${index}`, text: "" }));
    const result = await importGrpc({ proto }, OPTIONS);
    return result.ok ? "ok" : result.code;
  };
  const counts = [0, GRPC_LIMITS.files - 1, GRPC_LIMITS.files, GRPC_LIMITS.files + 1];
  const codes = ["document_invalid", "no_usable_operation", "no_usable_operation", "document_too_complex"];
  assert.deepEqual(await Promise.all(counts.map(codeOf)), codes);
});

Deno.test(`importGrpc() takes at most ${GRPC_LIMITS.files} files of a descriptor set`, async () => {
  const codeOf = async (count: number): Promise<string> => {
    const file = Array.from({ length: count }, (_, index) => create(FileDescriptorProtoSchema, { name: `${index}` }));
    const descriptor_set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
    const result = await importGrpc({ descriptor_set }, OPTIONS);
    return result.ok ? "ok" : result.code;
  };
  const counts = [GRPC_LIMITS.files - 1, GRPC_LIMITS.files, GRPC_LIMITS.files + 1];
  assert.deepEqual(await Promise.all(counts.map(codeOf)), [
    "no_usable_operation",
    "no_usable_operation",
    "document_invalid",
  ]);
});

Deno.test(`importGrpc() takes at most ${GRPC_LIMITS.textBytes} bytes of texts`, async () => {
  const codeOf = async (length: number): Promise<string> => {
    const result = await importText("\n".repeat(length), {}, "a");
    return result.ok ? "ok" : result.code;
  };
  const lengths = [GRPC_LIMITS.textBytes - 1, GRPC_LIMITS.textBytes, GRPC_LIMITS.textBytes + 1];
  const codes = await Promise.all(lengths.map(codeOf));
  assert.deepEqual(codes, ["no_usable_operation", "no_usable_operation", "document_too_large"]);
});

Deno.test(`importGrpc() takes at most ${IMPORT_LIMITS.documentBytes} bytes of a descriptor set`, async () => {
  const codeOf = async (length: number): Promise<string> => {
    const result = await importGrpc({ descriptor_set: new Uint8Array(length) }, OPTIONS);
    return result.ok ? "ok" : result.code;
  };
  const lengths = [IMPORT_LIMITS.documentBytes, IMPORT_LIMITS.documentBytes + 1];
  assert.deepEqual(await Promise.all(lengths.map(codeOf)), ["document_invalid", "document_too_large"]);
});

Deno.test(`importGrpc() makes at most ${IMPORT_LIMITS.checks} checks without a selection`, async () => {
  const codeOf = async (count: number): Promise<string> => {
    const methods = Array.from({ length: count }, (_, index) => `rpc M${index}(In) returns (Out);`).join(" ");
    const result = await importText(`${HEAD} ${PLAIN} service S { ${methods} }`);
    return result.ok ? String(result.contract.checks.length) : `${result.code} ${result.candidates.length}`;
  };
  const counts = [IMPORT_LIMITS.checks - 1, IMPORT_LIMITS.checks, IMPORT_LIMITS.checks + 1];
  assert.deepEqual(await Promise.all(counts.map(codeOf)), ["255", "256", "selection_required 257"]);
});

/** A message in so many others. */
function nestedText(depth: number): string {
  return `${HEAD} ${PLAIN} ${"message N { ".repeat(depth)}${"}".repeat(depth)} ${SERVICE}`;
}

Deno.test("importGrpc() reads 31 and 32 nested messages, and neither 33 nor 5,000", async () => {
  const codes = await Promise.all(
    [31, 32, 33, 5000].map(async (depth) => outcome(await importText(nestedText(depth))).split(";")[0]),
  );
  assert.deepEqual(codes, ["S.M", "S.M", "document_invalid", "document_invalid"]);
});

/** A file of a descriptor set that no compiler would write. */
function setOf(...file: Parameters<typeof create<typeof FileDescriptorProtoSchema>>[1][]): GrpcSource {
  const files = file.map((one) => create(FileDescriptorProtoSchema, one));
  return { descriptor_set: toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: files })) };
}

const METHOD = { name: "M", inputType: ".a.In", outputType: ".a.Out" };
const BASE = { name: "a", package: "a", syntax: "proto3", service: [{ name: "S", method: [METHOD] }] };
const [IN, OUT] = [{ name: "In" }, { name: "Out" }];

/** A message with so many fields. */
function withFields(name: string, count: number): NonNullable<Parameters<typeof setOf>[0]>["messageType"] {
  const field = Array.from(
    { length: count },
    (_, index) => ({ name: `${"f".repeat(30)}${index}`, number: index + 1, label: 1, type: 9 }),
  );
  return [IN, OUT, { name, field }];
}

Deno.test("importGrpc() refuses a schema that is too large, and keeps the other methods", async () => {
  const method = [METHOD, { name: "H", inputType: ".a.In", outputType: ".a.Huge" }];
  const source = setOf({ ...BASE, service: [{ name: "S", method }], messageType: withFields("Huge", 12_000) ?? [] });
  assert.equal(outcome(await importGrpc(source, OPTIONS)), "S.M; schema_too_large a.S/H");
});

Deno.test("importGrpc() asks for a selection where the contract would be too large", async () => {
  const method = Array.from(
    { length: 10 },
    (_, index) => ({ name: `M${index}`, inputType: ".a.In", outputType: ".a.Large" }),
  );
  const source = setOf({ ...BASE, service: [{ name: "S", method }], messageType: withFields("Large", 3_000) ?? [] });
  assert.equal(outcome(await importGrpc(source, OPTIONS)), "selection_required");
  assert.equal(outcome(await importGrpc(source, { ...OPTIONS, selection: [{ operation: "a.S/M3" }] })), "S.M3");
});

/** What a descriptor set is, the set, outcome. */
const SETS: readonly (readonly [what: string, source: GrpcSource, expected: string])[] = [
  ["one file", setOf({ ...BASE, messageType: [IN, OUT] }), "S.M"],
  [
    "names without a leading dot",
    setOf({
      ...BASE,
      service: [{ name: "S", method: [{ name: "M", inputType: "a.In", outputType: "a.Out" }] }],
      messageType: [IN, OUT],
    }),
    "S.M",
  ],
  [
    "a field without a JSON name",
    setOf({ ...BASE, messageType: [{ ...IN, field: [{ name: "a_b", number: 1, label: 1, type: 9 }] }, OUT] }),
    "S.M",
  ],
  ["a message with a name that no text can have", setOf({ ...BASE, messageType: [IN, OUT, { name: "a b" }] }), "S.M"],
  [
    "a request with a name that no text can have",
    setOf({
      ...BASE,
      service: [{ name: "S", method: [{ ...METHOD, inputType: ".a.a b" }] }],
      messageType: [{ name: "a b" }, OUT],
    }),
    "no_usable_operation; schema_invalid a.S/M",
  ],
  [
    "a package with a slash",
    setOf({
      ...BASE,
      package: "a/b",
      service: [{ name: "S", method: [{ name: "M", inputType: ".a/b.In", outputType: ".a/b.In" }] }],
      messageType: [IN],
    }),
    "no_usable_operation; schema_invalid a/b.S/M",
  ],
  [
    "a field of an enum that is a message",
    setOf({
      ...BASE,
      messageType: [{ ...IN, field: [{ name: "x", number: 1, label: 1, type: 14, typeName: ".a.Out" }] }, OUT],
    }),
    "no_usable_operation; schema_invalid a.S/M",
  ],
  [
    "a field of a type that does not exist",
    setOf({
      ...BASE,
      messageType: [{ ...IN, field: [{ name: "x", number: 1, label: 1, type: 11, typeName: ".a.Gone" }] }, OUT],
    }),
    "no_usable_operation; reference_unresolved a.Gone",
  ],
  [
    "a false Timestamp",
    setOf(
      {
        name: "b",
        package: "google",
        syntax: "proto3",
        messageType: [{ name: "protobuf", nestedType: [{ name: "Timestamp" }] }],
      },
      {
        ...BASE,
        messageType: [{
          ...IN,
          field: [{ name: "x", number: 1, label: 1, type: 11, typeName: ".google.protobuf.Timestamp" }],
        }, OUT],
      },
    ),
    "S.M; file_ignored google.protobuf.Timestamp",
  ],
  [
    "another file of the well-known package",
    setOf({ name: "x", package: "google.protobuf", messageType: [{ name: "Timestamp" }] }, {
      ...BASE,
      messageType: [IN, OUT],
    }),
    "S.M; file_ignored ",
  ],
  ["no file", setOf(), "no_usable_operation"],
  ["bytes that are no message", { descriptor_set: new Uint8Array([255, 255, 255]) }, "document_invalid"],
  ["a file that is longer than the set", { descriptor_set: new Uint8Array([10, 100, 1]) }, "document_invalid"],
];

for (const [what, source, expected] of SETS) {
  Deno.test(`importGrpc() of a descriptor set with ${what}: ${expected}`, async () => {
    assert.equal(outcome(await importGrpc(source, OPTIONS)), expected);
  });
}

Deno.test("openDescriptors() refuses a set whose well-known types are not those of the library", () => {
  const { descriptor_set } = setOf({
    name: "b",
    package: "google",
    syntax: "proto3",
    messageType: [{ name: "protobuf", nestedType: [{ name: "Timestamp" }] }],
  }) as { descriptor_set: Uint8Array };
  assert.equal(openDescriptors(btoa(String.fromCharCode(...descriptor_set))).ok, false);
  assert.equal(openDescriptors("*").ok, false);
  assert.equal(openDescriptors("").ok, true);
});

Deno.test("importGrpc() ends with what the meter throws", async () => {
  class Expired extends Error {}
  const spend = (): void => {
    throw new Expired("the time is over");
  };
  await assert.rejects(importText(`${HEAD} ${PLAIN} ${SERVICE}`, { spend }), Expired);
});

Deno.test("random changes of a text and of a descriptor set never make importGrpc() throw", async () => {
  const [file] = EVERY_KIND;
  assert.ok(file !== undefined);
  const set = decodeBase64(((await importEveryKind()).profile as GrpcProfile).descriptor_set_base64);
  assert.ok(set !== null);
  const part = fc.constantFrom(
    "{",
    "}",
    ";",
    "=",
    "message",
    "oneof",
    "map<",
    "option",
    "(",
    ")",
    '"',
    "rpc",
    "//",
    "/*",
    "0",
    "-1",
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat({ max: 40 }), part, fc.nat({ max: 255 }), async (at, cut, text, byte) => {
      const from = at % file.text.length;
      const changed = `${file.text.slice(0, from)}${text}${file.text.slice(from + cut)}`;
      await importText(changed);
      const bytes = new Uint8Array(set);
      bytes[at % bytes.length] = byte;
      await importGrpc({ descriptor_set: bytes }, OPTIONS);
    }),
    { numRuns: 200 },
  );
});
