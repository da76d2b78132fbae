/**
 * The JSON Schema of the configuration file, for editors and for those who generate files.
 *
 * @module
 */

import { z } from "zod";
import type { JsonObject } from "../canonical/json.ts";
import { BUILTIN_CONFIG_SCHEMAS, BUILTIN_PROVIDER_NAMES } from "./builtin.ts";
import { settingsSchema } from "./schema.ts";

/** A condition over several members, in words of JSON Schema. */
type Condition = { readonly if: JsonObject; readonly then: JsonObject };

/** Members with a fixed value, all required. */
function having(members: Readonly<Record<string, string | boolean>>): JsonObject {
  return {
    properties: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { const: value }])),
    required: Object.keys(members),
  };
}

/** The conditional rules of the sections that JSON Schema can say without hiding what they mean. */
const CONDITIONS: Readonly<Record<string, readonly Condition[]>> = {
  server: [
    { if: having({ transport: "http" }), then: { required: ["bind"] } },
    { if: having({ transport: "sse" }), then: { required: ["bind"] } },
  ],
  namespace: [
    { if: having({ allow_default: true }), then: { required: ["default_tenants"] } },
  ],
  policy: [
    { if: having({ engine: "static" }), then: { required: ["static"] } },
    { if: { properties: { static: { type: "object" } }, required: ["static"] }, then: having({ engine: "static" }) },
  ],
  run_state_store: [{ if: having({ type: "sqlite" }), then: { required: ["path"] } }],
  schema_registry: [{ if: having({ type: "sqlite" }), then: { required: ["path"] } }],
  validation: [{ if: having({ strict: false }), then: having({ allow_permissive: true }) }],
};

/** The conditional rules of one provider. */
function providerConditions(): readonly Condition[] {
  const builtin = BUILTIN_PROVIDER_NAMES.map((name): Condition => ({
    if: having({ type: "builtin", name }),
    then: { properties: { config: schemaOf(BUILTIN_CONFIG_SCHEMAS[name]) } },
  }));
  return [
    { if: having({ type: "builtin" }), then: { properties: { name: { enum: BUILTIN_PROVIDER_NAMES } } } },
    ...builtin,
    { if: having({ type: "builtin", name: "json" }), then: { required: ["config"] } },
    {
      if: having({ type: "mcp" }),
      then: { required: ["capabilities_path"], anyOf: [{ required: ["command"] }, { required: ["url"] }] },
    },
    {
      if: having({ type: "typed" }),
      then: { required: ["capabilities_path", "runtime_profile_path", "typed_protocol"] },
    },
  ];
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
  return rest as JsonObject;
}

/** The JSON Schema (2020-12) of a configuration file, every default in place. */
export async function configJsonSchema(): Promise<JsonObject> {
  const root = schemaOf(await settingsSchema());
  const properties = root["properties"] as Record<string, Record<string, unknown>>;
  for (const [section, conditions] of Object.entries(CONDITIONS)) {
    properties[section] = { ...properties[section], allOf: conditions };
  }
  const providers = properties["providers"] ?? {};
  properties["providers"] = {
    ...providers,
    items: { ...(providers["items"] as object), allOf: providerConditions() },
  };
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "gate.toml", ...root };
}
