import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { type Era, isPlainCapabilities, isPlainClientInfo, nextEra, readEnvelopeVersion } from "./protocol_era.ts";
import { readMessage } from "./message.ts";

const P = "io.modelcontextprotocol/";
const CLAIM = { [`${P}protocolVersion`]: "2026-07-28", [`${P}clientCapabilities`]: {} };
const CLIENT = { name: "a", version: "1" };

const CLAIMS: readonly (readonly [what: string, meta: JsonValue | undefined, envelope: string])[] = [
  ["no _meta", undefined, "none"],
  ["an empty _meta", {}, "none"],
  ["capabilities alone", { [`${P}clientCapabilities`]: {} }, "none"],
  ["version and capabilities", CLAIM, "valid"],
  ["a client too", { ...CLAIM, [`${P}clientInfo`]: CLIENT }, "valid"],
  ["members of others", { ...CLAIM, progressToken: 1, "com.example/a": 1 }, "valid"],
  ["another version", { ...CLAIM, [`${P}protocolVersion`]: "2099-01-01" }, "unsupported"],
  ["an old version", { ...CLAIM, [`${P}protocolVersion`]: "2025-11-25" }, "unsupported"],
  ["no capabilities", { [`${P}protocolVersion`]: "2026-07-28" }, "malformed"],
  ["a version that is no text", { ...CLAIM, [`${P}protocolVersion`]: 1 }, "malformed"],
  ["a client without version", { ...CLAIM, [`${P}clientInfo`]: { name: "a" } }, "uncertain"],
  ["odd capabilities", { ...CLAIM, [`${P}clientCapabilities`]: { roots: 1 } }, "uncertain"],
  ["a log level", { ...CLAIM, [`${P}logLevel`]: "debug" }, "uncertain"],
];

for (const [what, meta, envelope] of CLAIMS) {
  Deno.test(`readEnvelopeVersion() of ${what} is ${envelope}`, () => {
    const params: JsonObject = meta === undefined ? {} : { _meta: meta };
    assert.equal(readEnvelopeVersion(params).status, envelope);
  });
}

/** Messages by the envelope that they carry, and where they lead from `opening`, `probe`, `legacy` and `modern`. */
const STEPS: readonly (readonly [what: string, message: JsonObject, eras: readonly Era[]])[] = [
  ["initialize", { method: "initialize", id: 1 }, ["legacy", "legacy", "legacy", "modern"]],
  ["a plain request", { method: "tools/list", id: 1 }, ["legacy", "legacy", "legacy", "modern"]],
  ["a plain notification", { method: "notifications/initialized" }, ["legacy", "legacy", "legacy", "modern"]],
  ["discover", { method: "server/discover", id: 1, params: { _meta: CLAIM } }, ["probe", "probe", "legacy", "modern"]],
  ["a modern request", { method: "tools/list", id: 1, params: { _meta: CLAIM } }, [
    "modern",
    "modern",
    "legacy",
    "modern",
  ]],
  ["a modern notification", { method: "notifications/progress", params: { _meta: CLAIM } }, [
    "modern",
    "probe",
    "legacy",
    "modern",
  ]],
  ["another version", { method: "tools/list", id: 1, params: { _meta: { ...CLAIM, [`${P}protocolVersion`]: "9" } } }, [
    "opening",
    "probe",
    "legacy",
    "modern",
  ]],
  ["half an envelope", { method: "tools/list", id: 1, params: { _meta: { [`${P}protocolVersion`]: "9" } } }, [
    "opening",
    "probe",
    "legacy",
    "modern",
  ]],
  ["an odd envelope", { method: "tools/list", id: 1, params: { _meta: { ...CLAIM, [`${P}logLevel`]: "debug" } } }, [
    "unknown",
    "unknown",
    "legacy",
    "modern",
  ]],
];

for (const [what, members, eras] of STEPS) {
  Deno.test(`nextEra() after ${what}`, () => {
    const reading = readMessage({ jsonrpc: "2.0", ...members });
    if (!reading.ok || reading.message.kind === "response") return assert.fail("no message");
    const { message } = reading;
    const envelope = readEnvelopeVersion(message.params);
    const seen = (["opening", "probe", "legacy", "modern"] as const).map((era) => nextEra(era, message, envelope));
    assert.deepEqual(seen, eras);
    assert.equal(nextEra("unknown", message, envelope), "unknown");
  });
}

const CAPABILITIES: readonly (readonly [value: JsonValue, plain: boolean])[] = [
  [{}, true],
  [{ roots: {} }, true],
  [{ roots: { listChanged: true }, sampling: {}, elicitation: {} }, true],
  [{ elicitation: { form: { applyDefaults: true }, url: {} } }, true],
  [{ experimental: { a: {} }, extensions: { "com.example/a": { b: [1] } } }, true],
  [{ roots: { listChanged: "yes" } }, false],
  [{ sampling: { tools: 1 } }, false],
  [{ elicitation: { form: { applyDefaults: 1 } } }, false],
  [{ elicitation: { url: null } }, false],
  [{ experimental: { a: 1 } }, false],
  [{ roots: null }, false],
  [{ other: 1 }, true],
  [{ tasks: { list: {}, requests: { sampling: { createMessage: {} } } } }, true],
  [{ tasks: { list: true } }, false],
  [{ tasks: { requests: { sampling: 1 } } }, false],
  [[], false],
  [null, false],
];

for (const [value, plain] of CAPABILITIES) {
  Deno.test(`isPlainCapabilities() of ${JSON.stringify(value)} is ${plain}`, () => {
    assert.equal(isPlainCapabilities(value), plain);
  });
}

const CLIENTS: readonly (readonly [value: JsonValue, plain: boolean])[] = [
  [CLIENT, true],
  [{ ...CLIENT, title: "A", description: "b", websiteUrl: "c", other: 1 }, true],
  [{ name: "a" }, false],
  [{ ...CLIENT, title: 1 }, false],
  [{ ...CLIENT, icons: [] }, false],
  [null, false],
];

for (const [value, plain] of CLIENTS) {
  Deno.test(`isPlainClientInfo() of ${JSON.stringify(value)} is ${plain}`, () => {
    assert.equal(isPlainClientInfo(value), plain);
  });
}
