import assert from "node:assert/strict";
import configuration from "../../../deno.json" with { type: "json" };
import { LEGACY_VERSIONS, VERSION } from "./identity.ts";

Deno.test("VERSION is that of deno.json", () => assert.equal(VERSION, configuration.version));

Deno.test("LEGACY_VERSIONS are those of the SDK, newest first", async () => {
  const { SUPPORTED_PROTOCOL_VERSIONS } = await import("@modelcontextprotocol/server");
  assert.deepEqual(LEGACY_VERSIONS, SUPPORTED_PROTOCOL_VERSIONS);
});
