import assert from "node:assert/strict";
import { failure } from "../../tools/framework/errors.ts";
import type { ToolAnswer } from "../../tools/framework/types.ts";
import { callResult, documentResult, listenAcknowledgement, listenResult } from "./result_json.ts";

Deno.test("callResult() encodes a result once, for its text and its structure", () => {
  let encoded = 0;
  const result = { "é": [1, '"'], toJSON: () => (encoded++, { "é": [1, '"'] }) };
  const answer = { ok: true, result } as unknown as ToolAnswer;
  const text = '{"é":[1,"\\""]}';
  const whole = JSON.parse(callResult(answer, "legacy"));
  assert.deepEqual(whole, { content: [{ type: "text", text }], structuredContent: { "é": [1, '"'] } });
  assert.equal(encoded, 1);
});

Deno.test("callResult() takes a text that was made beforehand as it is", () => {
  const unread = {
    ok: true,
    text: '{"a":1}',
    get result(): never {
      return assert.fail("the result is not read");
    },
  } as const;
  assert.equal(
    callResult(unread, "legacy"),
    '{"content":[{"type":"text","text":"{\\"a\\":1}"}],"structuredContent":{"a":1}}',
  );
});

Deno.test("callResult() marks failures, and adds the members of 2026-07-28", () => {
  const refused = JSON.parse(callResult(failure("schema_not_found", "m"), "modern"));
  assert.deepEqual([refused.isError, refused.resultType, refused.structuredContent.error.code], [
    true,
    "complete",
    "schema_not_found",
  ]);
  assert.ok("io.modelcontextprotocol/serverInfo" in refused._meta);
});

Deno.test("subscriptions name their request in acknowledgement and result", () => {
  const key = "io.modelcontextprotocol/subscriptionId";
  assert.equal(JSON.parse(listenAcknowledgement("a")).params._meta[key], "a");
  assert.equal(JSON.parse(listenResult(7))._meta[key], 7);
});

/** A resource, and how many milliseconds a client may keep it. */
const KEPT: readonly (readonly [uri: string, milliseconds: number])[] = [
  ["gate://docs/concepts", 300_000],
  ["gate://schemas/precheck", 300_000],
  ["ui://gate/run", 300_000],
  ["gate://runs/2/0123456789abcdef0123456789abcdef", 0],
  [`gate://runpacks/${"0".repeat(64)}`, 0],
  [`gate://runpacks/${"0".repeat(64)}/1`, 0],
];

for (const [uri, milliseconds] of KEPT) {
  Deno.test(`documentResult() lets clients keep ${uri} for ${milliseconds} ms`, () => {
    const result = documentResult("resources/read", { contents: [{ uri, text: "" }] }, "modern");
    assert.equal(JSON.parse(result).ttlMs, milliseconds);
  });
}
