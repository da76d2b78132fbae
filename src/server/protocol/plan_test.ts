import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { readMessage } from "./message.ts";
import { planRequest } from "./plan.ts";
import { type Era, readEnvelope } from "./protocol_era.ts";

const P = "io.modelcontextprotocol/";
const META = { [`${P}protocolVersion`]: "2026-07-28", [`${P}clientCapabilities`]: {} };
const HELLO = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
const REF = { type: "ref/prompt", name: "a" };

const WHOLE = { resources: { load: (): never => assert.fail("nothing is loaded to plan") }, prompts: true };
const TOOLS = { resources: null, prompts: false };

/** Where a connection stands after the request, the request, and its plan or the kind and path of its error. */
const ROWS:
  readonly (readonly [era: Era, method: string, params: JsonObject, outcome: string, offer?: typeof TOOLS])[] = [
    ["legacy", "initialize", HELLO, "initialize"],
    ["legacy", "initialize", {}, "invalid_params $.params.protocolVersion"],
    ["legacy", "initialize", { ...HELLO, clientInfo: { name: "a" } }, "invalid_params $.params.clientInfo.version"],
    ["legacy", "ping", {}, "ping"],
    ["legacy", "ping", { other: 1 }, "ping"],
    ["legacy", "server/discover", { _meta: META }, "method_not_found"],
    ["legacy", "subscriptions/listen", { notifications: {} }, "method_not_found"],
    ["legacy", "logging/setLevel", { level: "debug" }, "method_not_found"],
    ["legacy", "constructor", {}, "method_not_found"],
    ["legacy", "tools/list", { _meta: META }, "tools legacy"],
    ["legacy", "tools/list", { cursor: "a" }, "invalid_params $.params.cursor"],
    ["legacy", "tools/list", { cursor: null }, "invalid_params $.params.cursor"],
    ["legacy", "tools/call", { name: "a" }, "call legacy"],
    ["legacy", "tools/call", { name: "a", arguments: [] }, "invalid_params $.params.arguments"],
    ["legacy", "tools/call", { name: "a", task: { ttl: "1" } }, "invalid_params $.params.task.ttl"],
    ["legacy", "tools/call", { name: "a", requestState: 1 }, "invalid_params $.params.requestState"],
    ["legacy", "tools/call", { arguments: {} }, "invalid_params $.params.name"],
    ["legacy", "resources/list", {}, "document legacy"],
    ["legacy", "prompts/get", { name: "a", arguments: { b: 1 } }, "invalid_params $.params.arguments.b"],
    ["modern", "tools/call", { name: "a", task: 1, _meta: META }, "call modern"],
    ["modern", "server/discover", { _meta: META }, "discover"],
    ["modern", "subscriptions/listen", { notifications: {}, _meta: META }, "listen"],
    ["modern", "subscriptions/listen", { _meta: META }, "invalid_params $.params.notifications"],
    ["modern", "ping", { _meta: META }, "method_not_found"],
    ["modern", "initialize", { ...HELLO, _meta: META }, "method_not_found"],
    ["modern", "initialize", HELLO, "unsupported_protocol_version"],
    ["modern", "initialize", {}, "unsupported_protocol_version"],
    ["modern", "tools/list", {}, "invalid_params $.params._meta"],
    ["modern", "no/such", {}, "method_not_found"],
    [
      "modern",
      "tools/list",
      { _meta: { ...META, [`${P}protocolVersion`]: "2099-01-01" } },
      "unsupported_protocol_version",
    ],
    [
      "opening",
      "no/such",
      { _meta: { [`${P}protocolVersion`]: "2026-07-28" } },
      `invalid_params $.params._meta["${P}clientCapabilities"]`,
    ],
    ["modern", "resources/read", { uri: "a", _meta: META }, "document modern"],
    [
      "modern",
      "completion/complete",
      { ref: REF, argument: { name: "a", value: "b" }, _meta: META },
      "document modern",
    ],
    ["modern", "completion/complete", { ref: { type: "a" }, _meta: META }, "invalid_params $.params.ref.type"],
    ["modern", "resources/list", { _meta: META }, "method_not_found", TOOLS],
    ["legacy", "resources/read", { uri: "a" }, "method_not_found", TOOLS],
    ["legacy", "prompts/list", {}, "method_not_found", TOOLS],
    ["legacy", "completion/complete", {}, "method_not_found", TOOLS],
  ];

for (const [era, method, params, outcome, offer = WHOLE] of ROWS) {
  Deno.test(`planRequest() of ${method} ${JSON.stringify(params).slice(0, 90)}, ${era}: ${outcome}`, () => {
    const reading = readMessage({ jsonrpc: "2.0", id: 1, method, params });
    if (!reading.ok || reading.message.kind !== "request") return assert.fail("no request");
    const planned = planRequest(era, reading.message, readEnvelope(params), offer);
    const seen = planned.ok
      ? [planned.plan.answer, "era" in planned.plan ? planned.plan.era : ""]
      : [planned.error.kind, planned.error.path ?? ""];
    assert.equal(seen.join(" ").trimEnd(), outcome);
  });
}
