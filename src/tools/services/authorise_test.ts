import assert from "node:assert/strict";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { namespaceOfInput } from "./authorise.ts";
import { referenceOf } from "../framework/reference.ts";
import { withTools } from "../tests/tools_fixture.ts";

/** Tools without a namespace, or with one in the object that they read. */
const WITHOUT = [
  "gate_docs_search",
  "provider_check_schema_get",
  "provider_contract_get",
  "providers_list",
  "runpack_verify",
];

function objectAt(schema: JsonValue | undefined, name: string): JsonObject {
  const value = isJsonObject(schema) ? member(schema, name) : undefined;
  return isJsonObject(value) ? value : {};
}

/** The members that a published schema requires. */
function requiredOf(schema: JsonObject): readonly JsonValue[] {
  const names = member(schema, "required");
  return isJsonArray(names) ? names : [];
}

/** Arguments with a namespace where the published schema requires one, down to two levels. */
function namespacesOf(schema: JsonObject): JsonObject[] {
  const members = objectAt(schema, "properties");
  return requiredOf(schema).flatMap((name): JsonObject[] => {
    if (name === "namespace_id") return [{ namespace_id: 7 }];
    const inner = objectAt(members, String(name));
    return requiredOf(inner).includes("namespace_id") ? [{ [String(name)]: { namespace_id: 7 } }] : [];
  });
}

Deno.test("every tool with a namespace requires it, in the place that authorises it", () =>
  withTools(async ({ tools }) => {
    const without: string[] = [];
    for (const tool of tools.values()) {
      const { name, inputSchema } = tool;
      const places = namespacesOf((await referenceOf(tool)).input);
      if (places.length === 0) without.push(name);
      else assert.deepEqual(places.map(namespaceOfInput), [7], name);
      assert.equal(member(inputSchema as JsonObject, "additionalProperties"), false, name);
    }
    assert.deepEqual(without.sort(), WITHOUT);
  }));

/** Arguments, and the namespace that authorises them. */
const INPUTS: readonly (readonly [input: string, namespace: number | null])[] = [
  ['{"namespace_id":2,"spec":{"namespace_id":3}}', 2],
  ['{"namespace_id":null,"spec":{"namespace_id":3}}', null],
  ['{"namespace_id":"2","context":{"namespace_id":3}}', null],
  ['{"namespace_id":0}', null],
  ['{"namespace_id":1.5}', null],
  ['{"context":{"namespace_id":3}}', 3],
  ['{"context":{}}', null],
  ['{"context":[3]}', null],
  ['{"__proto__":{"namespace_id":3}}', null],
  ['{"context":{"__proto__":{"namespace_id":3}}}', null],
];

for (const [input, namespace] of INPUTS) {
  Deno.test(`namespaceOfInput() of ${input}: ${namespace}`, () => {
    assert.equal(namespaceOfInput(JSON.parse(input) as JsonObject), namespace);
  });
}
