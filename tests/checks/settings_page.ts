/**
 * Generates the tables of `docs/reference/configuration.md` from the JSON Schema of the configuration file.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../src/canonical/json.ts";
import { configJsonSchema } from "../../src/config/json_schema.ts";
import { tableText } from "./table_text.ts";
import { ROOT_URL } from "./tree.ts";
import type { SourceFile } from "./source.ts";

const PAGE_PATH = "docs/reference/configuration.md";

/** The text between these two lines is generated. */
const FROM = "<!-- settings -->";
const TO = "<!-- end of settings -->";

/** Lists of more choices are described on other pages. */
const CHOICES_SHOWN = 4;

/** The page with its generated tables. */
export async function settingsFile(): Promise<SourceFile> {
  const written = await Deno.readTextFile(new URL(PAGE_PATH, ROOT_URL));
  const [before, rest = ""] = written.split(FROM);
  const [, after] = rest.split(TO);
  return { path: PAGE_PATH, text: `${before}${FROM}\n\n${await tables()}\n${TO}${after}` };
}

async function tables(): Promise<string> {
  const schema = await configJsonSchema();
  const sections = Object.entries(membersOf(schema)).map(([name, section]) => table(name, section));
  return [...sections, ...builtinSettings(schema).map(([name, config]) => table(name, config))].join("\n");
}

/** The settings of each built-in provider: the schema of its member `config`. */
function builtinSettings(schema: JsonObject): [string, JsonObject][] {
  const { items } = membersOf(schema)["providers"] as { items: JsonObject };
  const conditions = items["allOf"] as readonly { if: JsonObject; then: JsonObject }[];
  return conditions.flatMap(({ if: given, then }) => {
    const config = member(membersOf(then), "config");
    const named = membersOf(given)["name"];
    return isJsonObject(config) && isJsonObject(named) ? [[`the provider ${named["const"]}`, config]] : [];
  });
}

function table(name: string, section: JsonValue): string {
  const rows = rowsOf(name.startsWith("the provider") ? "config" : name, section);
  const about = isJsonObject(section)
    ? [section, ...alternativesOf(section)].map(describe).find((one) => one !== "")
    : "";
  return [
    `### Settings of ${name}`,
    "",
    ...about ? [about, ""] : [],
    ...tableText(["Setting", "Value", "Default", "Means"], rows),
    "",
  ].join("\n");
}

/** A row for each setting of a schema; a nested setting has its whole path. */
function rowsOf(path: string, schema: JsonValue): string[][] {
  const { properties, required } = objectOf(schema);
  const needed = new Set(isJsonArray(required) ? required : []);
  if (!isJsonObject(properties)) return [];
  const within = isJsonObject(schema) && member(schema, "items") !== undefined ? `${path}[]` : path;
  return Object.entries(properties).flatMap(([name, inside]) => {
    const at = `${within}.${name}`;
    return [...settingRow(at, inside as JsonObject, needed.has(name)), ...rowsOf(at, inside)];
  });
}

/** The row of a setting; no row for a table that is always present and has rows of its own. */
function settingRow(path: string, schema: JsonObject, needed: boolean): string[][] {
  const alternatives = alternativesOf(schema);
  if (alternatives.length === 1 && member(alternatives[0] ?? {}, "properties") !== undefined) return [];
  const standing = member(schema, "default");
  const defaults = needed ? "required" : standing === undefined ? "" : `\`${JSON.stringify(standing)}\``;
  const means = [schema, ...alternatives].map(describe).find((one) => one !== "") ?? "";
  return [[`\`${path}\``, [...new Set(alternatives.map(valueText))].join(" or "), defaults, means]];
}

function describe(schema: JsonObject): string {
  const said = member(schema, "description");
  return typeof said === "string" ? said : "";
}

/** The alternatives of a schema. */
function alternativesOf(schema: JsonObject): readonly JsonObject[] {
  const { anyOf, type } = schema as { anyOf?: JsonValue; type?: JsonValue };
  if (isJsonArray(anyOf)) return anyOf.filter(isJsonObject).flatMap(alternativesOf);
  return isJsonArray(type) ? type.map((one) => ({ ...schema, type: one })) : [schema];
}

/** The object schema of a value that may be null or an item of a list. */
function objectOf(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) return {};
  const items = member(schema, "items");
  const found = [...alternativesOf(schema), ...isJsonObject(items) ? [items] : []];
  return found.find((one) => member(one, "properties") !== undefined) ?? {};
}

function membersOf(schema: JsonObject): JsonObject {
  const properties = member(schema, "properties");
  return isJsonObject(properties) ? properties : {};
}

function valueText(schema: JsonObject): string {
  const { enum: choices, const: only, type, items, minimum, maximum, maxItems } = schema as Record<string, JsonValue>;
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (isJsonArray(choices)) {
    if (choices.length > CHOICES_SHOWN) return "name";
    return choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(" or ");
  }
  if (type === "integer") {
    return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
      ? `integer from ${minimum}`
      : `integer ${minimum} to ${maximum}`;
  }
  if (type === "array") {
    const most = maxItems === undefined ? "" : `, at most ${maxItems}`;
    return `list of ${isJsonObject(items) ? plural(items) : "values"}${most}`;
  }
  return type === "object" ? "table" : String(type ?? "any");
}

function plural(items: JsonObject): string {
  const { enum: choices } = items as Record<string, JsonValue>;
  if (isJsonArray(choices)) return valueText(items).replace(/^name$/, "names");
  const text = valueText(items);
  return text.startsWith("integer") ? text.replace("integer", "integers") : `${text}s`;
}
