/**
 * The JSON Schemas of results, from their shapes. A shape may reference a shared type, and {@link withTypes} adds the
 * types that it needs. The list of tools has the short form of {@link shortOutput}, since agents pay for every byte of
 * it.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { closed, listOf, oneOf, published, type Reader, schemaOf, text } from "../../canonical/shape.ts";

/** The shape of a result, or of a part of one. No result is read by it. */
export type Output = Reader<unknown>;

/** Members of an object, by name. */
export type Outputs = Readonly<Record<string, Output>>;

/** A list of a result. Tools bound their results as a whole, so its schema has no maximum. */
export function arrayOf(items: Output): Output {
  return listOf(items, Number.MAX_SAFE_INTEGER);
}

/** A list of strings. */
export const texts: Output = arrayOf(text);
/** A truth value of three-valued logic. */
export const kleene: Output = oneOf("true", "false", "unknown");

/** The named members of an object, in the order of the names and without those that it lacks. */
export function namedMembers(object: object, names: readonly string[]): JsonObject {
  const members = object as Readonly<Record<string, JsonValue | undefined>>;
  return Object.fromEntries(names.flatMap((name) => {
    const value = members[name];
    return value === undefined ? [] : [[name, value]];
  }));
}

const DEFINITIONS = "#/$defs/";

/** A shared type, by its name in `result_types.ts`. */
export function ref(name: string): Output {
  return published({ $ref: `${DEFINITIONS}${name}` });
}

/** The JSON Schema of a result. */
export function outputSchema(output: Output): JsonObject {
  return schemaOf(output, false).schema as JsonObject;
}

/** The JSON Schemas of parts of results, by name. */
export function outputSchemas(outputs: Outputs): JsonObject {
  return Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, outputSchema(output)]));
}

/** The type that a schema references; null for any other schema. */
function referredName(schema: JsonObject): string | null {
  const reference = member(schema, "$ref");
  return typeof reference === "string" ? reference.slice(DEFINITIONS.length) : null;
}

function typeOf(types: JsonObject, name: string): JsonObject {
  const found = member(types, name);
  if (!isJsonObject(found)) throw new RangeError(`Cannot publish schema: result type "${name}" is missing`);
  return found;
}

function typesReached(schema: JsonValue, types: JsonObject): JsonObject {
  const reached: Record<string, JsonValue> = {};
  const visit = (value: JsonValue): void => {
    if (isJsonArray(value)) return value.forEach(visit);
    if (!isJsonObject(value)) return;
    const name = referredName(value);
    if (name === null) return Object.values(value).forEach(visit);
    if (reached[name] !== undefined) return;
    const type = typeOf(types, name);
    reached[name] = type;
    visit(type);
  };
  visit(schema);
  return reached;
}

/** A schema as a document: with the shared types that it references, directly or not. */
export function withTypes(schema: JsonObject, types: JsonObject): JsonObject {
  const reached = typesReached(schema, types);
  return Object.keys(reached).length === 0 ? schema : { ...schema, $defs: reached };
}

/** The output schema of a tool: its result, or a domain error. */
export function resultOrError(result: Output): JsonObject {
  return { type: "object", oneOf: [result, closed({ error: ref("error") })].map(outputSchema) };
}

/**
 * The short form of an output schema: the members of the result with their types, the names of its outcomes, and the
 * domain error as alternative. Every value that meets the full schema meets this one.
 */
export function shortOutput(result: Output, types: JsonObject): JsonObject {
  const properties = member(outputSchema(result), "properties") as JsonObject;
  const shown = Object.entries(properties).map(([name, schema]) => [name, shortMember(schema as JsonObject, types)]);
  const short = { properties: Object.fromEntries(shown), additionalProperties: false };
  return { type: "object", oneOf: [short, { required: ["error"] }] };
}

function shortMember(schema: JsonObject, types: JsonObject): JsonObject {
  const name = referredName(schema);
  if (name !== null) return shortMember(typeOf(types, name), types);
  const { oneOf: options, enum: names, type } = schema as Readonly<Record<string, JsonValue>>;
  if (isJsonArray(options)) return shortVariants(options.filter(isJsonObject));
  if (names !== undefined) return { enum: names };
  return type === undefined ? {} : { type };
}

/** Variants with a constant `outcome` as the names of the outcomes; others as their type. */
function shortVariants(options: readonly JsonObject[]): JsonObject {
  const outcomes = options.map((option) => {
    const outcome = member((option["properties"] ?? {}) as JsonObject, "outcome");
    return isJsonObject(outcome) ? outcome["const"] : undefined;
  }).filter((outcome) => outcome !== undefined);
  if (outcomes.length === 0) return options.some((option) => option["type"] !== "object") ? {} : { type: "object" };
  return { type: "object", properties: { outcome: { enum: outcomes } }, required: ["outcome"] };
}
