import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";
import { spec, stage, withTools } from "../tests/tools_fixture.ts";
import { EXAMPLE_CONDITION, listedSpecSchema } from "../scenario_define.ts";

/** The spec of an agent that has read the list of tools alone. */
const WRITTEN = spec({
  conditions: [EXAMPLE_CONDITION],
  stages: [stage("test", "tests_pass")],
  completion_requirement: { Condition: "test" },
});

Deno.test("scenario_define accepts the example condition of the list of tools", () =>
  withTools(async ({ call, tools }) => {
    const listed = JSON.stringify(tools.get("scenario_define")?.inputSchema);
    assert.ok(listed.includes(JSON.stringify(JSON.stringify(EXAMPLE_CONDITION)).slice(1, -1)));
    assert.equal((await call("scenario_define", { spec: WRITTEN }))["scenario_id"], "release");
  }));

Deno.test("listedSpecSchema() has the members of the full schema, with the same types", () => {
  const outlineOf = ({ properties, required, additionalProperties }: JsonObject): object => ({
    names: Object.keys(properties as JsonObject),
    required,
    additionalProperties,
  });
  assert.deepEqual(outlineOf(listedSpecSchema()), outlineOf(SPEC_SCHEMA));
  const judge = new Ajv2020({ strict: false }).compile(listedSpecSchema());
  assert.equal(judge(WRITTEN), true, JSON.stringify(judge.errors));
  for (const name of Object.keys(WRITTEN)) assert.equal(judge({ ...WRITTEN, [name]: 1.5 }), false, name);
});
