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

Deno.test("configJsonSchema() contains every default, and describes every member", async () => {
  const schema = await configJsonSchema() as Record<string, unknown>;
  for (const [path, value] of defaultsOf(DEFAULT_SETTINGS, "")) {
    const member = memberSchema(schema, path);
    assert.deepEqual(member["default"], value, path);
    const described = [member, ...(member["anyOf"] as Record<string, unknown>[] | undefined ?? [])];
    assert.ok(described.some((node) => typeof node["description"] === "string"), `${path} has no description`);
  }
});
