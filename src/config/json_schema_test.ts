import { Ajv2020 } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { configJsonSchema } from "./json_schema.ts";

/** The node of a schema at a dotted member path. */
function memberSchema(schema: Record<string, unknown>, path: string): Record<string, unknown> {
  return path.split(".").reduce<Record<string, unknown>>(
    (node, name) => (node["properties"] as Record<string, Record<string, unknown>>)[name] ?? {},
    schema,
  );
}

function defaultsOf(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, item]) => defaultsOf(item, path === "" ? name : `${path}.${name}`));
}

Deno.test("configJsonSchema() states every default, and describes every member", async () => {
  const schema = await configJsonSchema() as Record<string, unknown>;
  for (const [path, value] of defaultsOf(DEFAULT_SETTINGS, "")) {
    const member = memberSchema(schema, path);
    assert.deepEqual(member["default"], value, path);
    const described = [member, ...(member["anyOf"] as Record<string, unknown>[] | undefined ?? [])];
    assert.ok(described.some((node) => typeof node["description"] === "string"), `${path} has no description`);
  }
});

Deno.test("configJsonSchema() is a JSON Schema 2020-12 that accepts and refuses as the loader does", async () => {
  const validate = new Ajv2020({ strict: false }).compile(await configJsonSchema() as object);
  const good = [
    {},
    DEFAULT_SETTINGS,
    { run_state_store: { type: "sqlite", path: "gate.db" } },
    { providers: [{ name: "env", type: "builtin", config: { overrides: { A: "x" } } }] },
    { trust: { default_policy: { require_signature: { keys: ["k"] } } } },
  ];
  for (const config of good) assert.ok(validate(config), JSON.stringify(validate.errors));
  const bad = [
    { serber: {} },
    { server: { limits: { max_inflight: 0 } } },
    { server: { transport: "http" } },
    { server: { auth: { bearer_tokens: ["a b"] } } },
    { run_state_store: { type: "sqlite" } },
    { policy: { engine: "static" } },
    { policy: { static: {} } },
    { validation: { strict: false } },
    { namespace: { allow_default: true } },
    { providers: [{ name: "clock", type: "builtin" }] },
    { providers: [{ name: "json", type: "builtin" }] },
    { providers: [{ name: "env", type: "builtin", config: { overrides: { A: 1 } } }] },
    { providers: [{ name: "x", type: "mcp", capabilities_path: "c" }] },
    { providers: [{ name: "x", type: "typed", capabilities_path: "c" }] },
  ];
  for (const config of bad) assert.ok(!validate(config), JSON.stringify(config));
});
