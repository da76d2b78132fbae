/** The JSON Schema of the configuration file, for editors and for programs that generate configurations. */

import { publishTable } from "../canonical/table_shape.ts";
import type { JsonObject } from "../canonical/json.ts";
import { BUILTIN_PROVIDER_NAMES } from "./builtin_names.ts";
import { BUILTIN_CONFIG_RULES, BUILTIN_CONFIG_SCHEMAS } from "./sections/builtin.ts";
import { rulesSchema } from "./rules.ts";
import { publishedSettings } from "./schema.ts";
import { typedConfigSchema } from "./sections/providers.ts";

/** The schema of `config` for each built-in provider, with the rules over its members, and for typed providers. */
function providerConfigs(): readonly JsonObject[] {
  const typed = { ...publishTable(typedConfigSchema), type: ["object", "null"] };
  const builtin = BUILTIN_PROVIDER_NAMES.map((name) => {
    const config = { ...publishTable(BUILTIN_CONFIG_SCHEMAS[name]), type: ["object", "null"] };
    const rules = rulesSchema(BUILTIN_CONFIG_RULES[name] ?? []);
    return {
      if: { properties: { type: { const: "builtin" }, name: { const: name } }, required: ["type", "name"] },
      then: { properties: { config: rules.length === 0 ? config : { ...config, allOf: rules } } },
    };
  });
  const isTyped = { properties: { type: { const: "typed" } }, required: ["type"] };
  return [...builtin, { if: isTyped, then: { properties: { config: typed } } }];
}

/** The JSON Schema (2020-12) of a configuration file, with every default and every rule that JSON Schema can express. */
export async function configJsonSchema(): Promise<JsonObject> {
  const { schema, rules, fileRules } = await publishedSettings();
  const root = publishTable(schema);
  const properties = root["properties"] as Record<string, Record<string, unknown>>;
  for (const [section, own] of rules) properties[section] = { ...properties[section], allOf: rulesSchema(own) };
  const providers = properties["providers"] ?? {};
  const items = { ...(providers["items"] as object), allOf: providerConfigs() };
  properties["providers"] = { ...providers, items };
  const title = "gate.toml";
  const allOf = rulesSchema(fileRules);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title, ...root, allOf };
}
