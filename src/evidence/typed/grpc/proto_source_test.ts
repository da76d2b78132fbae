import assert from "node:assert/strict";
import { GRPC_LIMITS } from "./limits.ts";
import { ProtoExcess, readProtoTexts } from "./proto_source.ts";

/** What becomes of a text: `read`, what is wrong with it or with its type `X`, or that it has too many parts. */
function outcomeOf(text: string): string {
  try {
    const { warnings, types } = readProtoTexts([{ path: "a", text }], () => {});
    const content = types.get("X")?.content();
    return warnings[0]?.message ?? (content?.ok === false ? content.message : "read");
  } catch (error) {
    if (error instanceof ProtoExcess) return error.message;
    throw error;
  }
}

const repeated = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join("");

/** What is limited, a text with so many of it, the limit, words of the refusal. */
const LIMITS: readonly (readonly [what: string, text: (count: number) => string, limit: number, words: RegExp])[] = [
  [
    "types",
    (count) => repeated(count, (index) => `message M${index}{}`),
    GRPC_LIMITS.declaredTypes,
    /at most 300000 mess/,
  ],
  [
    "methods",
    (count) => `message In {} service S {${repeated(count, (index) => `rpc M${index}(In)returns(In);`)}}`,
    GRPC_LIMITS.declaredMethods,
    /at most 20000 methods/,
  ],
  [
    "values that are needed",
    (count) => `enum X {${repeated(count, (index) => `V${index}=${index};`)}}`,
    GRPC_LIMITS.neededParts,
    /at most 100000 fields/,
  ],
  ["characters of a name", (count) => `message ${"x".repeat(count)} {}`, GRPC_LIMITS.nameBytes, /at most 1024 char/],
  [
    "characters of a name with dots",
    (count) => `option a.${"x".repeat(count - 2)} = 1; extend a.${"x".repeat(count - 2)} {}`,
    GRPC_LIMITS.nameBytes,
    /at most 1024 char/,
  ],
  ["imports", (count) => 'import "a";'.repeat(count), GRPC_LIMITS.imports, /at most 10000 imports/],
  ["packages", (count) => `package a${".a".repeat(count - 1)};`, GRPC_LIMITS.packageDepth, /at most 100 packages/],
  [
    "messages in each other",
    (count) => "message N {".repeat(count) + "}".repeat(count),
    GRPC_LIMITS.declarationDepth,
    /at most 32 messages/,
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
    'syntax = "proto3"; message X { optional string stream = 1; map a = 2; map<string, X> b = 3; } message map {}',
    /^read$/,
  ],
  ["message X { optional int32 a = 0x10 [default = -1.5e+3, (a.b).c = { x: [1] y { } }]; }", /^read$/],
  ["message X { extensions 100 to max; reserved 2, 5 to 7; reserved 'a', \"b\"; }", /^read$/],
  ['edition = "2024"; export message X { local enum E { A = 0; } reserved a, b; }', /^read$/],
  ["message X { oneof o { group G = 1 { optional X x = 2; } } extend Y { optional group H = 3 {} } }", /^read$/],
  ['syntax = "proto3"; message X { int32 a = 1; int32 a = 2; }', /^"X" declares "a" twice$/],
  ['syntax = "proto3"; message X { int32 a = 1; int32 b = 1; }', /^"X" uses a field number twice$/],
  ['syntax = "proto3"; message X { int32 N = 1; message N {} }', /^"X" declares "N" twice$/],
  ['syntax = "proto3"; enum X { A = 1; }', /^the first value of "X" is not zero$/],
  ["enum X { A = 0; B = 0; }", /^"X" uses a number twice, without "allow_alias"$/],
  ["enum X { option allow_alias = true; A = 0; B = 0; }", /^read$/],
  ["message X {} message X {}", /line 1: expected one declaration of "X"/],
  ["message X { int32 a = 1; }", /expected a label before "int32"/],
  ['syntax = "proto3"; message X { required int32 a = 1; }', /expected a field without "required"/],
  ['syntax = "proto3";\nmessage X { int32 a = 0; }', /line 2: expected a field number from 1 to 536870911, got "0"/],
  ['syntax = "proto3"; message X { int32 a = 19999; }', /outside of 19000 to 19999/],
  ['syntax = "proto3"; message X { map<float, int32> a = 1; }', /expected an integer, bool or string, got "float"/],
  ['syntax = "proto3"; message X { oneof o {} }', /expected a field in "o"/],
  ["enum X {}", /expected a value in "X"/],
  ["message X {", /got the end/],
  ["message X { /* }", /a comment with an end/],
  ["option a = 'x\n';", /a text that ends on its line/],
  ["message \u00e9 {}", /expected a character of the language/],
  ["package a; package b;", /expected one package/],
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
