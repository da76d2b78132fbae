import assert from "node:assert/strict";
import { answered, NOTHING, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { condition, schemaRecord, spec, stage, withTools } from "./tools_fixture.ts";

const DOMAIN = { domain: "Json", schema: { schema_id: "report", version: "1" } };

function scenario(maximum_bytes = 100): JsonObject {
  const made = condition("report", { ...DOMAIN, maximum_bytes }, { predicate: "Exists" });
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

/** An assumed value of a binding, and the result of the precheck. */
const ROWS: readonly [JsonValue, string][] = [
  [{ passed: true }, "true"],
  [{ failed: 1 }, "unknown"],
  [null, "unknown"],
];

Deno.test("scenario_precheck_stage checks assumed values against the value limit of the law", async () => {
  const provider = testProvider("scanner", () => answered(NOTHING));
  await withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord() });
    const value_limits = { selection: "Explicit", maximum_value_bytes: 15, maximum_payload_bytes: 100 };
    const defined = await bench.call("scenario_define", { spec: { ...scenario(15), value_limits } });
    const asked = (value: JsonValue): JsonObject => ({
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity: defined["scenario_law_identity"] as string,
      stage_id: "build",
      local_acquisition: [{ binding_id: "scan", value }],
    });
    assert.equal((await bench.call("scenario_precheck_stage", asked({ passed: true })))["outcome"], "true");
    const { code, details } = await bench.fail("scenario_precheck_stage", asked({ passed: false }));
    assert.equal(code, "evidence_rejected");
    assert.deepEqual((details as JsonObject)["rejections"], [{
      code: "value_too_large",
      path: "$.local_acquisition[0].value",
      message: "Expected a value of at most 15 canonical bytes, got 16",
    }]);
  }, { change: (services) => ({ ...services, providers: new Map([["scanner", provider]]) }) });
});

Deno.test("scenario_precheck_stage validates assumed values with the schema of their condition", async () => {
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
