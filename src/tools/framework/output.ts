/**
 * Builds the JSON Schemas of results. A schema references shared types, and {@link withTypes} adds the types that it
 * needs.
 * The list of tools has the short form of {@link shortOutput}, since agents pay for every byte of it.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";

/** A string. */
export const TEXT: JsonObject = { type: "string" };
/** An integer. */
export const INTEGER: JsonObject = { type: "integer" };
/** True or false. */
export const BOOLEAN: JsonObject = { type: "boolean" };
/** An object with any members, such as a JSON Schema of a caller. */
export const OBJECT: JsonObject = { type: "object" };
/** An identity: 64 lower-case hex digits. */
export const IDENTITY: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
/** A 128-bit identity: 32 lower-case hex digits. */
export const SHORT_IDENTITY: JsonObject = { type: "string", pattern: "^[0-9a-f]{32}$" };
/** A list of strings. */
export const TEXTS: JsonObject = { type: "array", items: TEXT };
/** A truth value of three-valued logic. */
export const KLEENE: JsonObject = { enum: ["true", "false", "unknown"] };

/** Members of an object, by name. */
export type Members = Readonly<Record<string, JsonValue>>;

/** An array of items of one schema. */
export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** A value of a schema, or null. */
export function orNull(schema: JsonObject): JsonObject {
  return typeof schema["type"] === "string" && Object.keys(schema).length === 1
    ? { type: [schema["type"], "null"] }
    : { oneOf: [schema, { type: "null" }] };
}

/** One of several constants. */
export function oneOfNames(...names: readonly string[]): JsonObject {
  return { enum: names };
}

/** An object with these members and no others. */
export function closed(
  required: Members,
  optional: Members = {},
): JsonObject {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** Exactly one of several schemas. */
export function variants(...schemas: readonly JsonObject[]): JsonObject {
  return { oneOf: schemas };
}

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
export function ref(name: string): JsonObject {
  return { $ref: `${DEFINITIONS}${name}` };
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
export function resultOrError(result: JsonObject): JsonObject {
  return { type: "object", oneOf: [result, closed({ error: ref("error") })] };
}

/**
 * The short form of an output schema: the members of the result with their types, the names of its outcomes, and the
 * domain error as alternative. Every value that meets the full schema meets this one.
 */
export function shortOutput(result: JsonObject, types: JsonObject): JsonObject {
  const properties = member(result, "properties") as JsonObject;
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
  if (outcomes.length === 0) return options.some((option) => option["type"] !== "object") ? {} : OBJECT;
  return { type: "object", properties: { outcome: { enum: outcomes } }, required: ["outcome"] };
}
