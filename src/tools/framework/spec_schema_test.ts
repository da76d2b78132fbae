import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../canonical/json.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";
import { spec, stage, withTools } from "../tests/tools_fixture.ts";
import { EXAMPLE_CONDITION, listedSpecSchema } from "./spec_schema.ts";

/** What an agent writes that has read nothing but the list of tools. */
const WRITTEN = spec({
  conditions: [EXAMPLE_CONDITION],
  stages: [stage("test", "tests_pass")],
  completion_requirement: { Condition: "test" },
});

Deno.test("the condition that the list of tools shows is one that scenario_define accepts", () =>
  withTools(async ({ call, tools }) => {
    const listed = JSON.stringify(tools.get("scenario_define")?.inputSchema);
    assert.ok(listed.includes(JSON.stringify(JSON.stringify(EXAMPLE_CONDITION)).slice(1, -1)));
    assert.equal((await call("scenario_define", { spec: WRITTEN }))["scenario_id"], "release");
  }));

Deno.test("listedSpecSchema() has the members of the whole schema, of the same types", () => {
  const [listed, whole] = [listedSpecSchema(), SPEC_SCHEMA].map(({ properties, required, additionalProperties }) => ({
    names: Object.keys(properties as JsonObject),
    required,
    additionalProperties,
  }));
  assert.deepEqual(listed, whole);
  const judge = new Ajv2020({ strict: false }).compile(listedSpecSchema());
  assert.equal(judge(WRITTEN), true, JSON.stringify(judge.errors));
  for (const name of Object.keys(WRITTEN)) assert.equal(judge({ ...WRITTEN, [name]: 1.5 }), false, name);
});
