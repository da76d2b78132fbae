import assert from "node:assert/strict";
import configuration from "../../deno.json" with { type: "json" };
import { INSTRUCTIONS, LEGACY_VERSIONS, VERSION } from "./identity.ts";

Deno.test("VERSION is that of deno.json", () => assert.equal(VERSION, configuration.version));

Deno.test("LEGACY_VERSIONS are those of the SDK, newest first", async () => {
  const { SUPPORTED_PROTOCOL_VERSIONS } = await import("@modelcontextprotocol/server");
  assert.deepEqual(LEGACY_VERSIONS, SUPPORTED_PROTOCOL_VERSIONS);
});

Deno.test("INSTRUCTIONS name the tools in the order of their use", () => {
  const order = ["define", "start", "open_stage", "evaluate_stage", "submit"].map((name) =>
    INSTRUCTIONS.indexOf(`scenario_${name}`)
  );
  assert.ok(order.every((at) => at >= 0) && INSTRUCTIONS.indexOf("runpack_export") > Math.max(...order));
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
  assert.match(INSTRUCTIONS, /expected_head/);
  assert.match(INSTRUCTIONS, /scenario_resolve_creation.*scenario_resolve_mutation/);
});
