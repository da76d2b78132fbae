import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { readMessage } from "./message.ts";

const RELATED = "io.modelcontextprotocol/related-task";

const ROWS: readonly (readonly [what: string, value: JsonValue, outcome: string])[] = [
  ["a request", { jsonrpc: "2.0", id: 1, method: "ping" }, "request"],
  ["a string id", { jsonrpc: "2.0", id: "", method: "ping", params: {} }, "request"],
  ["the largest integer id", { jsonrpc: "2.0", id: 9007199254740991, method: "ping" }, "request"],
  ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }, "notification"],
  ["a result", { jsonrpc: "2.0", id: 1, result: {} }, "response"],
  ["an error", { jsonrpc: "2.0", id: null, error: {} }, "invalid_request $.id null"],
  ["an error with an id", { jsonrpc: "2.0", id: 1, error: {} }, "response"],
  ["a progress token", { jsonrpc: "2.0", id: 1, method: "a", params: { _meta: { progressToken: "t" } } }, "request"],
  ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], "invalid_request $ null"],
  ["an empty batch", [], "invalid_request $ null"],
  ["a text", "ping", "invalid_request $ null"],
  ["null", null, "invalid_request $ null"],
  ["no jsonrpc", { id: 1, method: "ping" }, "invalid_request $.jsonrpc 1"],
  ["another jsonrpc", { jsonrpc: "1.0", id: 1, method: "ping" }, "invalid_request $.jsonrpc 1"],
  ["a null id", { jsonrpc: "2.0", id: null, method: "ping" }, "invalid_request $.id null"],
  ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "ping" }, "invalid_request $.id null"],
  [
    "an id beyond exact integers",
    { jsonrpc: "2.0", id: 9007199254740992, method: "ping" },
    "invalid_request $.id null",
  ],
  ["an object id", { jsonrpc: "2.0", id: {}, method: "ping" }, "invalid_request $.id null"],
  ["no method", { jsonrpc: "2.0", id: 1 }, "invalid_request $.method 1"],
  ["a method that is no text", { jsonrpc: "2.0", id: 1, method: 1 }, "invalid_request $.method 1"],
  ["an unknown member", { jsonrpc: "2.0", id: 1, method: "ping", extra: 1 }, "invalid_request $ 1"],
  ["an own __proto__", JSON.parse('{"jsonrpc":"2.0","id":1,"method":"a","__proto__":1}'), "invalid_request $ 1"],
  ["params in an array", { jsonrpc: "2.0", id: 1, method: "ping", params: [] }, "invalid_request $.params 1"],
  ["null params", { jsonrpc: "2.0", id: 1, method: "ping", params: null }, "invalid_request $.params 1"],
  [
    "_meta that is no object",
    { jsonrpc: "2.0", id: 1, method: "a", params: { _meta: 1 } },
    "invalid_params $.params._meta 1",
  ],
  [
    "a progress token that is no id",
    { jsonrpc: "2.0", id: 1, method: "a", params: { _meta: { progressToken: {} } } },
    "invalid_params $.params._meta.progressToken 1",
  ],
  [
    "a related task without id",
    { jsonrpc: "2.0", id: 1, method: "a", params: { _meta: { [RELATED]: {} } } },
    `invalid_params $.params._meta["${RELATED}"] 1`,
  ],
];

for (const [what, value, outcome] of ROWS) {
  Deno.test(`readMessage() reads ${what}: ${outcome}`, () => {
    const reading = readMessage(value);
    const seen = reading.ok ? reading.message.kind : `${reading.error.kind} ${reading.error.path} ${reading.id}`;
    assert.equal(seen, outcome);
  });
}
