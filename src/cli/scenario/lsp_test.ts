import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
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
