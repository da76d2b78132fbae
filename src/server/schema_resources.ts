/**
 * The JSON Schemas of what is written for gate, as resources of MCP: `gate://schemas/<name>`. The list of tools, which has
 * to be short, has less of the first.
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";
import { fullSpecSchema } from "../tools/table.ts";
import type { ListedResource, ResourceText } from "./resources.ts";

interface SchemaResource {
  readonly listed: ListedResource;
  readonly load: () => Promise<JsonObject>;
}

const MIME_TYPE = "application/schema+json";

function schemaResource(
  name: string,
  title: string,
  description: string,
  load: () => Promise<JsonObject>,
): SchemaResource {
  return {
    listed: { uri: `gate://schemas/${name}`, name: `${name}_schema`, title, description, mimeType: MIME_TYPE },
    load,
  };
}

const SCHEMAS: readonly SchemaResource[] = [
  schemaResource(
    "scenario",
    "JSON Schema of a scenario",
    "What the spec of scenario_define, and a scenario file, may hold: every member, closed",
    fullSpecSchema,
  ),
  schemaResource(
    "config",
    "JSON Schema of the configuration",
    "What gate.toml may hold: every setting with its default and limits",
    async () => await (await import("../config/json_schema.ts")).configJsonSchema(),
  ),
];

/** The schemas, as they are listed; nothing of them is loaded. */
export function listSchemaResources(): ListedResource[] {
  return SCHEMAS.map(({ listed }) => listed);
}

/** The schema of a URI; null where there is none. */
export async function readSchemaResource(uri: string): Promise<ResourceText | null> {
  const found = SCHEMAS.find(({ listed }) => listed.uri === uri);
  return found === undefined ? null : { uri, mimeType: MIME_TYPE, text: JSON.stringify(await found.load(), null, 2) };
}
