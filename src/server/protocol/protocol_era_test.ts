import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { type Era, nextEra, readEnvelope } from "./protocol_era.ts";
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
  ["a client without version", { ...CLAIM, [`${P}clientInfo`]: { name: "a" } }, "malformed"],
  ["odd capabilities", { ...CLAIM, [`${P}clientCapabilities`]: { roots: 1 } }, "malformed"],
  ["a log level", { ...CLAIM, [`${P}logLevel`]: "debug" }, "valid"],
  ["a log level that is none", { ...CLAIM, [`${P}logLevel`]: "loud" }, "malformed"],
];

for (const [what, meta, envelope] of CLAIMS) {
  Deno.test(`readEnvelope() of ${what} is ${envelope}`, () => {
    const params: JsonObject = meta === undefined ? {} : { _meta: meta };
    assert.equal(readEnvelope(params).status, envelope);
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
  ["initialize with half an envelope", {
    method: "initialize",
    id: 1,
    params: { _meta: { [`${P}protocolVersion`]: "2026-07-28" } },
  }, ["legacy", "legacy", "legacy", "modern"]],
  ["initialize in an envelope", { method: "initialize", id: 1, params: { _meta: CLAIM } }, [
    "modern",
    "modern",
    "legacy",
    "modern",
  ]],
  ["initialize in a later envelope", {
    method: "initialize",
    id: 1,
    params: { _meta: { ...CLAIM, [`${P}protocolVersion`]: "2099-01-01" } },
  }, ["opening", "probe", "legacy", "modern"]],
  ["an odd envelope", { method: "tools/list", id: 1, params: { _meta: { ...CLAIM, [`${P}logLevel`]: 1 } } }, [
    "opening",
    "probe",
    "legacy",
    "modern",
  ]],
];

for (const [what, members, eras] of STEPS) {
  Deno.test(`nextEra() after ${what}`, () => {
    const reading = readMessage({ jsonrpc: "2.0", ...members });
    if (!reading.ok || reading.message.kind === "response") return assert.fail("no message");
    const { message } = reading;
    const envelope = readEnvelope(message.params);
    const seen = (["opening", "probe", "legacy", "modern"] as const).map((era) => nextEra(era, message, envelope));
    assert.deepEqual(seen, eras);
  });
}
