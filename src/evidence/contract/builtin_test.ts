import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { BUILTIN_PROVIDER_NAMES } from "../../config/builtin_names.ts";
import { BUILTIN_CONFIG_SCHEMAS } from "../../config/sections/builtin.ts";
import { readSilently } from "../../canonical/shape.ts";
import { publishTable } from "../../canonical/table_shape.ts";
import { createSchemaSandbox } from "../sandbox/schema_sandbox.ts";
import { builtinContract } from "./builtin.ts";
import { checkContract } from "./check.ts";
import { checkFacts } from "./facts.ts";

const ORDER =
  "equals not_equals greater_than greater_than_or_equal less_than less_than_or_equal in_set exists not_exists";
const EQUALITY = "equals not_equals in_set exists not_exists";
const TEXT = "equals not_equals contains in_set exists not_exists";
const ALL = "equals not_equals greater_than greater_than_or_equal less_than less_than_or_equal lex_greater_than " +
  "lex_greater_than_or_equal lex_less_than lex_less_than_or_equal contains in_set deep_equals deep_not_equals exists not_exists";
const TRIGGER = "trigger_time_unix_millis trigger_time_logical";
const JSON_TYPE = "application/json";

/** Provider, check, required params, optional params, result types, comparators, anchors, content types, determinism. */
const TABLE: readonly (readonly [string, string, string, string, string, string, string, string, string])[] = [
  ["time", "now", "", "", "integer", ORDER, TRIGGER, JSON_TYPE, "time_dependent"],
  ["time", "after", "timestamp", "", "boolean", EQUALITY, TRIGGER, JSON_TYPE, "time_dependent"],
  ["time", "before", "timestamp", "", "boolean", EQUALITY, TRIGGER, JSON_TYPE, "time_dependent"],
  ["calendar", "open", "schedule time_zone", "", "boolean", EQUALITY, "time_zone_data", JSON_TYPE, "time_dependent"],
  ["env", "get", "key", "", "string null", TEXT, "env", "text/plain", "external"],
  ["json", "path", "file", "jsonpath", "any", ALL, "file_path_rooted", "application/json application/yaml", "external"],
  ["http", "status", "url", "", "integer", ORDER, "url", JSON_TYPE, "external"],
  ["http", "body_hash", "url", "", "object", "exists not_exists", "url", JSON_TYPE, "external"],
  ["rest", "json_path", "jsonpath url", "headers", "any", ALL, "rest_request", JSON_TYPE, "external"],
  ["rest", "header", "header_name url", "headers", "string null", TEXT, "rest_request", "text/plain", "external"],
];

const words = (text: string): string[] => text.split(" ").filter((word) => word !== "");

for (const [provider, id, required, optional, types, comparators, anchors, contents, determinism] of TABLE) {
  Deno.test(`builtinContract() ${provider}.${id} is as specified`, () => {
    const { contract } = builtinContract(provider as "time");
    const check = contract.checks.find((one) => one.check_id === id);
    assert.ok(check !== undefined);
    const schema = check.params_schema as JsonObject;
    const properties = Object.keys(member(schema, "properties") as JsonObject).sort();
    assert.deepEqual([...(member(schema, "required") as string[])].sort(), words(required));
    assert.deepEqual(properties, [...words(required), ...words(optional)].sort());
    assert.equal(member(schema, "additionalProperties"), false);
    assert.equal(check.params_required, required !== "");
    assert.deepEqual(check.allowed_comparators, words(comparators));
    assert.deepEqual(check.anchor_types, words(anchors));
    assert.deepEqual(check.content_types, words(contents));
    assert.equal(check.determinism, determinism);
    const facts = checkFacts(contract, id, () => null);
    assert.deepEqual(facts?.result_types, words(types));
    assert.equal(facts?.channel, "local_acquisition");
  });
}

Deno.test("builtinContract() has no other checks", () => {
  const ids = BUILTIN_PROVIDER_NAMES.flatMap((name) =>
    builtinContract(name).contract.checks.map((check) => `${name}.${check.check_id}`)
  );
  assert.deepEqual(ids.sort(), TABLE.map(([provider, check]) => `${provider}.${check}`).sort());
});

Deno.test("builtinContract() passes the checks of external contracts", async () => {
  const sandbox = createSchemaSandbox();
  try {
    for (const name of BUILTIN_PROVIDER_NAMES) {
      const loaded = builtinContract(name);
      const value = loaded.contract as unknown as JsonValue;
      const checked = await checkContract(value, { provider_id: name, transport: "builtin" }, sandbox);
      assert.deepEqual(checked.ok ? [] : checked.problems, []);
      assert.equal(loaded.text, canonicalize(value));
      assert.notEqual(loaded.contract_identity, loaded.contract_hash.value);
    }
  } finally {
    sandbox.close();
  }
});

Deno.test("builtinContract() examples are valid under their schemas", async () => {
  const sandbox = createSchemaSandbox();
  try {
    for (const name of BUILTIN_PROVIDER_NAMES) {
      for (const check of builtinContract(name).contract.checks) {
        const key = `${name}.${check.check_id}`;
        assert.ok(check.examples.length > 0, key);
        for (const example of check.examples) {
          assert.equal(await sandbox.validate(`${key}.params`, check.params_schema, example.params), "valid", key);
          assert.equal(await sandbox.validate(`${key}.result`, check.result_schema, example.result), "valid", key);
        }
      }
    }
  } finally {
    sandbox.close();
  }
});

for (const name of BUILTIN_PROVIDER_NAMES) {
  Deno.test(`builtinContract() config_schema of ${name} has the members and defaults of the configuration`, () => {
    const configured = publishTable(BUILTIN_CONFIG_SCHEMAS[name])["properties"] as JsonObject;
    const schema = builtinContract(name).contract.config_schema;
    assert.ok(isJsonObject(schema));
    const properties = member(schema, "properties") as JsonObject;
    assert.deepEqual(Object.keys(properties).sort(), Object.keys(configured).sort());
    const given = name === "json" ? { root: "/", root_id: "r" } : {};
    const parsed = readSilently<unknown>(BUILTIN_CONFIG_SCHEMAS[name], given as JsonObject) as Readonly<
      Record<string, unknown>
    >;
    for (const [setting, property] of Object.entries(properties)) {
      const standard = (property as JsonObject)["default"];
      if (standard !== undefined) assert.deepEqual(parsed[setting], standard, setting);
      else if (!(setting in given)) assert.equal(parsed[setting], null, setting);
    }
  });
}
