import assert from "node:assert/strict";
import { answered, NOTHING, testProvider } from "../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { condition, schemaRecord, spec, stage, withTools } from "./fixture_test.ts";

const DOMAIN = { domain: "Json", maximum_bytes: 100, schema: { schema_id: "report", version: "1" } };

function scenario(): JsonObject {
  const made = condition("report", DOMAIN, { predicate: "Exists" });
  const policy = { ...made["evidence_use_policy"] as JsonObject, allowed_channels: ["provider_acquisition"] };
  return spec({
    conditions: [{ ...made, evidence_use_policy: policy }],
    schemas: [DOMAIN.schema],
    acquisition_bindings: [{
      binding_id: "scan",
      condition_id: "report",
      channel: "provider_acquisition",
      provider_id: "scanner",
      check_id: "read",
    }],
    stages: [stage("build", "report")],
    completion_requirement: { Condition: "build" },
  });
}

/** A value that is taken as acquired, and what the precheck says. */
const ROWS: readonly [JsonValue, string][] = [
  [{ passed: true }, "true"],
  [{ failed: 1 }, "unknown"],
  [null, "unknown"],
];

Deno.test("scenario_precheck_stage runs assumed values through the schema of their condition", async () => {
  const provider = testProvider("scanner", () => answered(NOTHING));
  await withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord() });
    const defined = await bench.call("scenario_define", { spec: scenario() });
    for (const [value, expected] of ROWS) {
      const { outcome } = await bench.call("scenario_precheck_stage", {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: defined["scenario_law_identity"] as string,
        stage_id: "build",
        local_acquisition: [{ binding_id: "scan", value }],
      });
      assert.equal(outcome, expected, JSON.stringify(value));
    }
  }, { change: (services) => ({ ...services, providers: new Map([["scanner", provider]]) }) });
});
