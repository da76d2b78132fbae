import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { completionsAt, nameAt } from "./law_language.ts";
import { BODY_BYTES_MAXIMUM, createLanguageServer, HEAD_BYTES_MAXIMUM, messagesOf } from "./lsp.ts";

const URI = "file:///wide.yaml";

async function read(bytes: Uint8Array): Promise<readonly JsonObject[]> {
  const chunks = [bytes.subarray(0, 7), bytes.subarray(7)];
  return await Array.fromAsync(messagesOf(ReadableStream.from(chunks)));
}

Deno.test("messages of an editor are read in pieces, and within their limits", async () => {
  const text = (body: string): Uint8Array =>
    new TextEncoder().encode(`Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`);
  const filled = (length: number): string => `{"a":"${"x".repeat(length - 8)}"}`;
  assert.deepEqual(await read(text('{"a":"ä"}')), [{ a: "ä" }]);
  for (const length of [BODY_BYTES_MAXIMUM - 1, BODY_BYTES_MAXIMUM]) {
    assert.equal((await read(text(filled(length)))).length, 1);
  }
  await assert.rejects(read(text(filled(BODY_BYTES_MAXIMUM + 1))), /Content-Length of at most/);
  await assert.rejects(read(text("[]")), /no JSON object/);
  await assert.rejects(read(new TextEncoder().encode("Content: 1\r\n\r\n{}")), /Content-Length/);
  await assert.rejects(read(new Uint8Array(HEAD_BYTES_MAXIMUM + 1).fill(97)), /the head is too long/);
  assert.deepEqual(await read(new Uint8Array(HEAD_BYTES_MAXIMUM).fill(97)), []);
});

Deno.test("each change of a law of 500 lines has one answer, without a fault", () => {
  const names = Array.from({ length: 245 }, (_, at) => `name_${at}`);
  const evidence = names.map((name) => `  ${name}: count\n`).join("");
  const stages = names.map((name) => `  s_${name}: ${name} == 0\n`).join("");
  const text = `law: wide\nevidence:\n${evidence}stages:\n${stages}`;
  const sent: JsonObject[] = [];
  const server = createLanguageServer((message) => sent.push(message));
  for (const method of ["didOpen", "didChange"]) {
    server.receive({
      method: `textDocument/${method}`,
      params: { textDocument: { uri: URI, text }, contentChanges: [{ text }] },
    });
  }
  assert.equal(text.split("\n").length, 494);
  const found = sent.map(({ params }) => (params as { readonly diagnostics: readonly JsonObject[] }).diagnostics);
  assert.deepEqual(found.map((one) => one.filter(({ severity }) => severity === 1)), [[], []]);
});

/** A law, and the code, line and column (from 1) of each warning of it in order. */
const WARNED: readonly (readonly [law: string, warnings: readonly (readonly [string, number, number])[]])[] = [
  ["law: n\nevidence:\n  z: count\n  a: count from env A\nstages: { s: a == 0 && z == 0 }\n", []],
  [
    "law: n\nparameters:\n  z: text\n  a: text\nevidence:\n  z2: caller\nstages: { s: z2 == a }\n",
    [["caller_alone", 1, 1], ["parameter_unused", 3, 6]],
  ],
  [
    "law: n\nevidence:\n  z: count\n  a: integer(0..5)\nstages:\n  s: z == 0\n  r:\n    - a >= 2\n    - a > 5\n",
    [["condition_renamed", 9, 7], ["predicate_never_true", 9, 7]],
  ],
  [
    "law: n\nevidence:\n  z: count\n  a: 1 of [alice]\nstages:\n  s: z == 0\n  b: a && z == 0\n",
    [["one_person_alone", 1, 1], ["caller_word_beside_approval", 7, 6]],
  ],
];

for (const [text, warnings] of WARNED) {
  Deno.test(`an editor is warned of ${JSON.stringify(text)} at ${warnings.flat().join(" ") || "no place"}`, () => {
    const sent: JsonObject[] = [];
    createLanguageServer((message) => sent.push(message)).receive({
      method: "textDocument/didOpen",
      params: { textDocument: { uri: URI, text } },
    });
    const { diagnostics } = sent[0]?.["params"] as unknown as { readonly diagnostics: readonly Shown[] };
    const found = diagnostics.map(({ code, range: { start } }) => [code, start.line + 1, start.character + 1]);
    assert.deepEqual(found, warnings);
    assert.ok(diagnostics.every(({ severity }) => severity === 2));
  });
}

interface Shown {
  readonly code: string;
  readonly severity: number;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

Deno.test("what an editor asks at a position reads a bounded part of its line", () => {
  const long = "a".repeat(100_000);
  const at = (line: string): { readonly line: number; readonly column: number } => ({
    line: 4,
    column: line.length + 1,
  });
  const law = (line: string): string => `law: x\nevidence: { e: caller }\nstages:\n${line}`;
  const rows: readonly (readonly [line: string, name: number, hasStages: boolean])[] = [
    ["  s: { after: ", 0, true],
    [`  s: { after: ${" ".repeat(2000)}`, 0, true],
    [`  s: { after: ${" ".repeat(100_000)}`, 0, false],
    [`  s: ${long}`, 2048, false],
    [`  s: ${long.slice(0, 2047)}`, 2047, false],
    [`  s: ${long.slice(0, 2048)}`, 2048, false],
    [`  s: ${long.slice(0, 2049)}`, 2048, false],
  ];
  for (const [line, name, hasStages] of rows) {
    const found = [nameAt(law(line), at(line)).length, completionsAt(law(line), at(line)).join() === "s"];
    assert.deepEqual(found, [name, hasStages], line.slice(0, 20));
  }
});
