/**
 * A JSON Schema as people read it: `{ name: string; limit?: integer 1..1000 }`.
 *
 * @module
 */

import { LINE_PATTERN } from "../../src/tools/framework/input.ts";
import { SPEC_LIMITS } from "../../src/law/limits.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../src/canonical/json.ts";

/** Characters of a line before an object is spread over several. */
const LINE_CHARACTERS = 100;

/** The pattern of a line within a spec, whose length has a bound of its own. */
const SPEC_LINE_PATTERN = LINE_PATTERN.replace("+$", "*$");

/** Patterns that are described in words. */
const PATTERNS: ReadonlyMap<string, string> = new Map([
  ["^[0-9a-f]{64}$", "64 hex digits"],
  ["^[0-9a-f]{32}$", "32 hex digits"],
]);

/** Writes a schema. Lines after the first are indented. */
export function schemaText(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return "any value";
  const { enum: choices, oneOf, anyOf, $ref: reference, type } = schema as Record<string, JsonValue>;
  if (member(schema, "const") !== undefined) return JSON.stringify(member(schema, "const"));
  if (isJsonArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  const variants = oneOf ?? anyOf;
  if (isJsonArray(variants)) return variantsText(variants);
  if (typeof reference === "string") return reference.slice(reference.lastIndexOf("/") + 1);
  if (isJsonArray(type)) return type.map((one) => schemaText({ ...schema, type: one })).join(" | ");
  switch (type) {
    case "string":
      return stringText(schema);
    case "integer":
    case "number":
      return type + rangeText(schema);
    case "array":
      return `array of ${grouped(schemaText(member(schema, "items")))}`;
    case "boolean":
    case "null":
      return type;
    default:
      return type === "object" || member(schema, "properties") !== undefined ? objectText(schema) : "any value";
  }
}

function variantsText(variants: readonly JsonValue[]): string {
  const texts = variants.map(schemaText);
  const line = texts.join(" | ");
  if (!line.includes("\n") && line.length <= LINE_CHARACTERS) return line;
  return texts.map((text) => `\n| ${text.replaceAll("\n", "\n  ")}`).join("").replaceAll("\n", "\n  ");
}

function grouped(text: string): string {
  return text.includes(" | ") && !text.startsWith("{") ? `(${text})` : text;
}

function stringText(schema: JsonObject): string {
  const { pattern, maxLength } = schema as { pattern?: JsonValue; maxLength?: JsonValue };
  if (pattern === LINE_PATTERN || pattern === SPEC_LINE_PATTERN) {
    return maxLength === SPEC_LIMITS.identifierBytes ? "name" : `line of at most ${maxLength} bytes`;
  }
  if (pattern === "\\S") return `string of at most ${maxLength} characters, not blank`;
  if (typeof pattern === "string") return PATTERNS.get(pattern) ?? `string matching ${pattern}`;
  return typeof maxLength === "number" ? `string of at most ${maxLength} characters` : "string";
}

function rangeText(schema: JsonObject): string {
  const { minimum, maximum } = schema as { minimum?: JsonValue; maximum?: JsonValue };
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}..${maximum}`;
  if (minimum !== undefined) return ` >= ${minimum}`;
  return maximum === undefined ? "" : ` <= ${maximum}`;
}

function objectText(schema: JsonObject): string {
  const properties = member(schema, "properties");
  if (!isJsonObject(properties)) {
    const each = member(schema, "additionalProperties");
    return isJsonObject(each) ? `object of ${schemaText(each)}` : "object";
  }
  const required = member(schema, "required");
  const needed = new Set(isJsonArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, inside]) => {
    const described = isJsonObject(inside) ? member(inside, "description") : undefined;
    const text = `${name}${needed.has(name) ? "" : "?"}: ${schemaText(inside)}`;
    return { text, comment: typeof described === "string" ? described : null };
  });
  const line = `{ ${members.map(({ text }) => text).join("; ")} }`;
  const isPlain = members.every(({ text, comment }) => comment === null && !text.includes("\n"));
  if (isPlain && line.length <= LINE_CHARACTERS) return members.length === 0 ? "{}" : line;
  const lines = members.flatMap(({ text, comment }) => [...comment === null ? [] : [`// ${comment}`], text]);
  return `{\n${lines.map((one) => `  ${one.replaceAll("\n", "\n  ")}`).join("\n")}\n}`;
}
