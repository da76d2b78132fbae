import assert from "node:assert/strict";
import { failure } from "../../tools/framework/errors.ts";
import type { ToolAnswer } from "../../tools/framework/types.ts";
import { callResult, listenAcknowledgement, listenResult } from "./result_json.ts";

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
