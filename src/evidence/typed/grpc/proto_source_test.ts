import assert from "node:assert/strict";
import { GRPC_LIMITS } from "./limits.ts";
import { readProtoTexts } from "./proto_source.ts";

/** What becomes of a text: `read`, or what is wrong with it. */
function outcomeOf(text: string): string {
  return readProtoTexts([{ path: "a", text }], () => {}).warnings[0]?.message ?? "read";
}

/** What is limited, a text with so many of it, the limit, words of the refusal. */
const LIMITS: readonly (readonly [what: string, text: (count: number) => string, limit: number, words: RegExp])[] = [
  ["characters of a name", (count) => `message ${"x".repeat(count)} {}`, GRPC_LIMITS.nameBytes, /at most 1024 char/],
  [
    "imports",
    (count) => 'import "google/protobuf/any.proto";'.repeat(count),
    GRPC_LIMITS.imports,
    /at most 10000 imports/,
  ],
];

for (const [what, text, limit, words] of LIMITS) {
  Deno.test(`readProtoTexts() reads ${limit} ${what}, and not one more`, () => {
    assert.equal(outcomeOf(text(limit - 1)), "read");
    assert.equal(outcomeOf(text(limit)), "read");
    assert.match(outcomeOf(text(limit + 1)), words);
  });
}

/** A text, what becomes of it. */
const TEXTS: readonly (readonly [text: string, outcome: RegExp])[] = [
  ["\ufeff message X {}", /^read$/],
  [
    'syntax = "proto3"; message X { optional string stream = 1; map<string, X> b = 3; }',
    /^read$/,
  ],
  ["message X { optional int32 a = 0x10 [default = -15, (a.b).c = { x: [1] y { } }]; }", /^read$/],
  ["message X { extensions 100 to max; reserved 2, 5 to 7; reserved 'a', \"b\"; }", /^read$/],
  ['edition = "2024"; export message X { local enum E { A = 0; } reserved a, b; }', /^read$/],
  ["message X { optional group G = 1 { optional X x = 2; } extend Y { optional group H = 3 {} } }", /^read$/],
  // protoc reads the next three.
  ["message X { oneof o { group G = 1 { optional X x = 2; } } }", /field must be a Field/],
  ['syntax = "proto3"; message X { map a = 2; } message map {}', /illegal token 'a', '<' expected/],
  ["message X { optional int32 __proto__ = 1; }", /the name "__proto__" cannot be read/],
  ['syntax = "proto3"; message X { int32 a = 1; int32 a = 2; }', /duplicate name 'a' in Type X/],
  ['syntax = "proto3"; message X { int32 a = 1; int32 b = 1; }', /duplicate id 1 in Type X/],
  ['syntax = "proto3"; message X { int32 N = 1; message N {} }', /duplicate name 'N' in Type X/],
  ['syntax = "proto3"; enum X { A = 1; }', /the first value of "X" is not zero$/],
  ["enum X { A = 0; B = 0; }", /duplicate id 0 in Enum X/],
  ["enum X { option allow_alias = true; A = 0; B = 0; }", /^read$/],
  ["message X {} message X {}", /duplicate name 'X' in Root/],
  ["message X { int32 a = 1; }", /illegal token 'int32' \(line 1\)/],
  ['syntax = "proto3"; message X { required int32 a = 1; }', /illegal token 'required' \(line 1\)/],
  [
    'syntax = "proto3";\nmessage X { int32 a = 0; }',
    /expected a number from 1 to 536870911 outside of 19000 to 19999 for "a", got 0/,
  ],
  ['syntax = "proto3"; message X { int32 a = 19999; }', /outside of 19000 to 19999/],
  ['syntax = "proto3"; message X { map<float, int32> a = 1; }', /illegal type 'float' \(line 1\)/],
  ['syntax = "proto3"; message X { oneof o {} }', /expected a field in "o"/],
  ["enum X {}", /expected a value in "X"/],
  ["message X {", /illegal token 'null'/],
  ["message X { /* }", /illegal comment/],
  ["message \u00e9 {}", /illegal type name 'é' \(line 1\)/],
  ["package a; package b;", /illegal token 'package'/],
];

for (const [text, outcome] of TEXTS) {
  Deno.test(`readProtoTexts() of ${JSON.stringify(text)}: ${outcome.source}`, () =>
    assert.match(outcomeOf(text), outcome));
}

/** What stands above a method, and the comment of the method. */
const COMMENTS: readonly (readonly [above: string, comment: string | undefined])[] = [
  ["// One.\n// Two.\n", "One.\nTwo."],
  ["/* One. */\n", "One."],
  ["/**\n * One.\n * Two.\n */\n", "One.\nTwo."],
  ["// Apart.\n\n// One.\n", "One."],
  ["// Apart.\n\n", undefined],
  ["rpc Other(In) returns (In); // Of the other.\n", undefined],
  ["rpc Other(In) returns (In); // Of the other.\n// One.\n", "One."],
  ["", undefined],
];

for (const [above, comment] of COMMENTS) {
  Deno.test(`the comment of a method below ${JSON.stringify(above)} is ${JSON.stringify(comment)}`, () => {
    const text = `package p; message In {} service S {\n${above}rpc M(In) returns (In);\n}`;
    assert.equal(readProtoTexts([{ path: "a", text }], () => {}).comments.get("p.S/M"), comment);
  });
}
