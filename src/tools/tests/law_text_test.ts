import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { LAW_TEXT_BYTES } from "../services/law_text.ts";
import { withTools } from "./tools_fixture.ts";

const LAW = `law: release
parameters:
  commit: text(7..40)
evidence:
  tested_commit: caller
  tests_failed: count
stages:
  ship: tested_commit == commit && tests_failed == 0
`;

/** A law text of exactly this many bytes. */
function lawOf(bytes: number): string {
  return `${LAW}# ${"x".repeat(bytes - LAW.length - 3)}\n`;
}

Deno.test("scenario_define takes a law text, and scenarios_get returns the law as one", () =>
  withTools(async ({ call, fail }) => {
    const defined = await call("scenario_define", { law_text: lawOf(LAW_TEXT_BYTES) });
    assert.equal(defined["scenario_id"], "release");
    const scenario_law_identity = defined["scenario_law_identity"] as string;
    const got = await call("scenarios_get", { namespace_id: 2, scenario_law_identity });
    assert.match(got["law_text"] as string, /^law: release\nnamespace: 2\n/);
    const again = await fail("scenario_define", { law_text: got["law_text"] as string });
    assert.deepEqual([again.code, again.details?.["scenario_law_identity"]], ["law_exists", scenario_law_identity]);
  }));

const REFUSED: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ["neither", {}, ["invalid_input", "$.spec"]],
  ["both", { law_text: LAW, spec: {} }, ["invalid_input", "$.law_text"]],
  ["a byte too many", { law_text: lawOf(LAW_TEXT_BYTES + 1) }, ["invalid_input", "$.law_text"]],
  ["no text", { law_text: 5 }, ["invalid_input", "$.law_text"]],
  ["no law file", { law_text: "stages: {}" }, ["invalid_spec", "$", "1:1"]],
  ["a tab", { law_text: "law: x\n\tstages: {}" }, ["invalid_spec", "$", "2:1"]],
  ["a misspelt name", { law_text: LAW.replace("&& tests_failed", "&& tests_faild") }, [
    "invalid_spec",
    "$.stages.ship",
    "8:36",
  ]],
  ["a value outside its type", { law_text: LAW.replace("== 0", "== -1") }, ["invalid_spec", "$.stages.ship", "8:52"]],
];

for (const [name, input, expected] of REFUSED) {
  Deno.test(`scenario_define refuses ${name}: ${expected.join(" ")}`, () =>
    withTools(async ({ fail }) => {
      const { code, details } = await fail("scenario_define", input);
      const [first] = (details?.["issues"] ?? details?.["refusals"]) as unknown as readonly JsonObject[];
      const position = first?.["line"] === undefined ? [] : [`${first["line"]}:${first["column"]}`];
      assert.deepEqual([code, first?.["path"], ...position], expected);
    }));
}

Deno.test("scenario_precheck_stage and precheck take a law text in place of a registered law", () =>
  withTools(async ({ call, fail }) => {
    const genesis = {
      kind: "parameters",
      parameters: [{ parameter_id: "commit", value: { value: "3a7bd3e", value_type: "String" } }],
    };
    const item = (condition_id: string, value: string | number, value_type: string): JsonObject => ({
      condition_id,
      value: { value, value_type },
      retention: { retention: "RetainCanonicalValue" },
    });
    const caller_evidence = [item("tested_commit", "3a7bd3e", "String"), item("tests_failed", 0, "Integer")];
    const input = { namespace_id: 2, stage_id: "ship", genesis, caller_evidence };
    assert.equal((await call("scenario_precheck_stage", { ...input, law_text: LAW }))["outcome"], "true");
    assert.equal((await fail("scenario_precheck_stage", input)).code, "invalid_input");
    assert.equal(
      (await fail("scenario_precheck_stage", { ...input, law_text: `namespace: 3\n${LAW}` })).code,
      "invalid_input",
    );
    const schema = { schema_id: "data", version: "1", namespace_id: 2, description: "Data", schema: true };
    await call("schemas_register", { record: schema } as unknown as JsonObject).catch(() => {});
    const asked = await fail("precheck", {
      namespace_id: 2,
      law_text: "law: [",
      payload: {},
      data_shape: { schema_id: "data", version: "1" },
    });
    assert.equal(asked.code, "invalid_spec");
  }));
