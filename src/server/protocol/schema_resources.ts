/**
 * The JSON Schemas of scenarios, the configuration, a provider's files and tools as MCP resources:
 * `gate://schemas/<name>`. They are complete, while `tools/list` shortens its schemas. Only listed tools have a schema.
 */

import type { JsonObject } from "../../canonical/json.ts";
import { fullSpecSchema, fullToolSchema, providerSchema } from "../../tools/table.ts";
import type { Tool } from "../../tools/framework/types.ts";
import type { ListedResource, ListedTemplate, ResourceText } from "./resources.ts";

interface SchemaResource {
  readonly listed: ListedResource;
  readonly load: () => Promise<JsonObject>;
}

const PREFIX = "gate://schemas/";

const MIME_TYPE = "application/schema+json";

function schemaResource(
  name: string,
  title: string,
  description: string,
  load: () => Promise<JsonObject>,
): SchemaResource {
  return {
    listed: { uri: `${PREFIX}${name}`, name: `${name}_schema`, title, description, mimeType: MIME_TYPE },
    load,
  };
}

const SCHEMAS: readonly SchemaResource[] = [
  schemaResource(
    "scenario",
    "JSON Schema of a scenario",
    "What a scenario file, or the spec of a call that defines one, may hold: every member, closed",
    fullSpecSchema,
  ),
  schemaResource(
    "config",
    "JSON Schema of the configuration",
    "What gate.toml may hold: every setting with its default and limits",
    async () => await (await import("../../config/json_schema.ts")).configJsonSchema(),
  ),
  schemaResource(
    "provider_contract",
    "JSON Schema of a provider contract",
    "What the capability contract of a provider may hold: its checks, their params and results",
    () => providerSchema("contract"),
  ),
  schemaResource(
    "runtime_profile",
    "JSON Schema of a runtime profile",
    "What the runtime profile of a typed provider may hold: address, credentials by locator, operations",
    () => providerSchema("profile"),
  ),
];

/** The entries of the schemas, without loading them. */
export function listSchemaResources(): ListedResource[] {
  return SCHEMAS.map(({ listed }) => listed);
}

/** The variable of {@link SCHEMA_TEMPLATE}. */
export const TOOL_VARIABLE = "tool";

/** The template of the schemas of tools. */
export const SCHEMA_TEMPLATE: ListedTemplate = {
  uriTemplate: `${PREFIX}{${TOOL_VARIABLE}}`,
  name: "tool_schema",
  title: "JSON Schema of a tool",
  description: "What the arguments of a tool may hold, with nothing shortened; its result as $defs.output",
  mimeType: MIME_TYPE,
};

/** The URIs of every schema. */
export function schemaUris(tools: readonly Tool[]): string[] {
  return [...SCHEMAS.map(({ listed }) => listed.uri), ...tools.map(({ name }) => `${PREFIX}${name}`)];
}

/** The names of tools that begin with a text; empty for another template. */
export function completeTool(tools: readonly Tool[], uriTemplate: string, begun: string): string[] {
  if (uriTemplate !== SCHEMA_TEMPLATE.uriTemplate) return [];
  return tools.map(({ name }) => name).filter((name) => name.startsWith(begun));
}

/**
 * The schema of a URI, or null.
 *
 * @param tools The listed tools
 */
export async function readSchemaResource(uri: string, tools: readonly Tool[]): Promise<ResourceText | null> {
  const found = SCHEMAS.find(({ listed }) => listed.uri === uri);
  const tool = tools.find(({ name }) => `${PREFIX}${name}` === uri);
  const load = found?.load ?? (tool === undefined ? null : () => fullToolSchema(tool));
  return load === null ? null : { uri, mimeType: MIME_TYPE, text: JSON.stringify(await load(), null, 2) };
}
