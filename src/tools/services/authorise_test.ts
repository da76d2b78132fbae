import assert from "node:assert/strict";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { tenantsOf } from "../../access/principal.ts";
import type { RoleBinding } from "../../access/types.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { namespaceOfInput, readsEveryNamespace } from "./authorise.ts";
import { referenceOf } from "../framework/reference.ts";
import { testConfig, withTools } from "../tests/tools_fixture.ts";

/** Tools without a namespace, or with one in the object or in the text of a law that they read. */
const WITHOUT = [
  "gate_docs_search",
  "provider_check_schema_get",
  "provider_contract_get",
  "providers_list",
  "runpack_verify",
  "scenario_apply",
  "scenario_define",
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

function roleIn(name: string, namespace_id: number | null): RoleBinding {
  return { name, namespace_id, tenant_id: null };
}

/**
 * Roles of the caller (null: none are in force), tenants of the open default namespace (null: closed), an authority,
 * the result.
 */
const READERS: readonly [readonly RoleBinding[] | null, readonly number[] | null, boolean, boolean][] = [
  [null, null, false, true],
  [null, null, true, false],
  [null, [1], false, false],
  [[], null, false, false],
  [[roleIn("NamespaceReader", 2)], null, false, false],
  [[roleIn("NamespaceReader", null)], null, false, true],
  [[roleIn("NamespaceReader", null)], null, true, false],
  [[roleIn("NamespaceReader", null)], [1], false, true],
  [[roleIn("SchemaManager", null)], null, false, false],
  [[roleIn("TenantAdmin", 2), roleIn("Nobody", null)], null, false, false],
];

for (const [roles, tenants, hasAuthority, expected] of READERS) {
  const shown = JSON.stringify([roles?.map(({ name, namespace_id }) => [name, namespace_id]) ?? null, tenants]);
  Deno.test(`readsEveryNamespace(${shown}${hasAuthority ? ", an authority" : ""}): ${expected}`, () => {
    const principals = roles === null ? [] : [{ subject: "unused", policy_class: null, roles: [] }];
    const config = testConfig({
      server: { ...DEFAULT_SETTINGS.server, auth: { ...AUTH_DEFAULTS, principals } },
      namespace: { ...DEFAULT_SETTINGS.namespace, allow_default: tenants !== null, default_tenants: tenants ?? [] },
    });
    const authority = { ask: () => Promise.reject(new Error("unused")), close: () => {} };
    const principal = {
      subject: "token:0",
      authMethod: "bearer_token" as const,
      policyClass: null,
      roles: roles ?? [],
      tenants: tenantsOf("bearer_token", roles ?? []),
    };
    assert.equal(readsEveryNamespace({ config, namespaces: hasAuthority ? authority : null }, principal), expected);
  });
}
