import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "../../../tests/packages/ajv.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { id, schemaRecord, spec, withTools } from "../tests/tools_fixture.ts";
import { fullToolSchema } from "./full_schemas.ts";
import { PUBLISHED } from "./published.ts";

/** Most bytes of a schema: an answer has all of it. */
const BYTES_MAXIMUM = 65_536;

function compile(schema: JsonObject): ValidateFunction {
  return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
}

for (const { name, inputSchema } of PUBLISHED) {
  Deno.test(`fullToolSchema() of ${name} has every listed member, and no type of other tools`, () =>
    withTools(async ({ tools }) => {
      const tool = tools.get(name) ?? assert.fail(`${name} is not there`);
      const schema = await fullToolSchema(tool);
      const { input } = schema["$defs"] as { input: JsonObject };
      assert.deepEqual(Object.keys(input), Object.keys(inputSchema));
      const whole = input["properties"] as JsonObject;
      const listed = inputSchema["properties"] as JsonObject;
      assert.deepEqual(Object.keys(whole ?? {}), Object.keys(listed ?? {}));
      const text = JSON.stringify(schema);
      assert.ok(!/"description":"As [a-z_]+ of /.test(JSON.stringify(input)), "it is shortened");
      assert.ok(!text.includes('"brief":'));
      assert.ok(text.length < BYTES_MAXIMUM, `${text.length}`);
      assert.equal(compile(schema)({ never: "a member" }), false);
    }));
}

const RUN = { namespace_id: 2, scenario_id: "release", run_id: id(1) };
const NEXT = { ...RUN, expected_head: { record_id: "0".repeat(64), revision: 1 }, request_id: id(2) };

function signedWith(key_id: string): JsonObject {
  return schemaRecord({ signing: { key_id, signature: "x" } });
}

/** Arguments, and whether the listed and the full schema accept them. */
const ROWS: readonly (readonly [what: string, tool: string, input: JsonObject, listed: boolean, whole: boolean])[] = [
  ["a step", "scenario_next", NEXT, true, true],
  ["a head without a revision", "scenario_next", { ...NEXT, expected_head: { record_id: id(1) } }, false, false],
  ["evidence that is no item", "scenario_next", { ...NEXT, caller_evidence: [{ item: 1 }] }, true, false],
  ["a name of 256 bytes", "scenario_next", { ...NEXT, scenario_id: "s".repeat(256) }, true, true],
  ["a name of 257 bytes", "scenario_next", { ...NEXT, scenario_id: "s".repeat(257) }, true, false],
  ["a name of two lines", "scenario_next", { ...NEXT, scenario_id: "a\nb" }, true, false],
  ["an empty name", "scenario_next", { ...NEXT, scenario_id: "" }, true, false],
  ["a blank key", "schemas_register", { record: signedWith(" ") }, true, false],
  ["a key", "schemas_register", { record: signedWith("k") }, true, true],
  ["a law", "scenario_define", { spec: spec() }, true, true],
  ["a law with a wrong predicate", "scenario_define", { spec: spec({ policies: [{ policy_id: 1 }] }) }, true, false],
  [
    "a binding without its check",
    "scenario_define",
    {
      spec: spec({ acquisition_bindings: [{ binding_id: "b" }] }),
    },
    true,
    false,
  ],
];

for (const [what, name, input, listed, whole] of ROWS) {
  Deno.test(`the schemas of ${name} judge ${what}`, () =>
    withTools(async ({ tools }) => {
      const tool = tools.get(name) ?? assert.fail(`${name} is not there`);
      const judge = compile(await fullToolSchema(tool));
      assert.equal(compile(tool.inputSchema)(input), listed);
      assert.equal(judge(input), whole, JSON.stringify(judge.errors));
    }));
}
