/** What converted schemas say about values: their types, whether they declare any content, and the schema of a part. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { resultTypes } from "../../../law/result_types.ts";
import { referencedBy, type SchemaConverter } from "./schema.ts";
import { SCHEMA_TYPES } from "./schema_keywords.ts";

/** A JSON type of a schema. */
export type SchemaType = (typeof SCHEMA_TYPES)[number];

/** The types that a schema accepts; null where it does not limit them. */
type Types = ReadonlySet<SchemaType> | null;

/** What is known of schemas; each is visited once, because many may refer to the same ones. */
export interface SchemaFacts {
  readonly converter: SchemaConverter;
  readonly types: Map<JsonObject, Types>;
  readonly untyped: Map<JsonObject, boolean>;
}

/** Creates facts for the schemas of a converter. */
export function createSchemaFacts(converter: SchemaConverter): SchemaFacts {
  return { converter, types: new Map(), untyped: new Map() };
}

/** The types that a schema accepts, by every keyword that limits them; null where none does. */
export function typesOf(facts: SchemaFacts, schema: JsonValue): Types {
  if (schema === false) return new Set();
  if (!isJsonObject(schema)) return null;
  const known = facts.types.get(schema);
  if (known !== undefined) return known;
  facts.converter.document.spend(1);
  let types: Types = ownTypes(schema);
  const target = referencedBy(facts.converter, schema);
  if (target !== undefined) types = both(types, typesOf(facts, target));
  for (const one of listIn(schema, "allOf")) types = both(types, typesOf(facts, one));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = listIn(schema, keyword);
    if (branches.length > 0) types = both(types, either(branches.map((one) => typesOf(facts, one))));
  }
  facts.types.set(schema, types);
  return types;
}

function ownTypes(schema: JsonObject): Types {
  const { type, enum: values, const: constant } = schema;
  const limits: JsonObject[] = [];
  if (type !== undefined) limits.push({ type });
  if (constant !== undefined) limits.push({ const: constant });
  if (isJsonArray(values)) limits.push({ enum: values });
  return limits.reduce<Types>((types, limit) => both(types, new Set(resultTypes(limit) as SchemaType[])), null);
}

function listIn(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const list = member(schema, keyword);
  return isJsonArray(list) ? list : [];
}

function both(a: Types, b: Types): Types {
  if (a === null || b === null) return a ?? b;
  const shared = SCHEMA_TYPES.filter((type) => accepts(a, type) && accepts(b, type));
  // An integer is a number too, so two schemas that accept numbers need not list it.
  return new Set(shared.filter((type) => type !== "integer" || !shared.includes("number")));
}

function accepts(types: ReadonlySet<SchemaType>, type: SchemaType): boolean {
  return types.has(type) || (type === "integer" && types.has("number"));
}

function either(all: readonly Types[]): Types {
  const union = new Set<SchemaType>();
  for (const types of all) {
    if (types === null) return null;
    for (const type of types) union.add(type);
  }
  return union;
}

/** The schema with its types stated, so that a reader of `type`, `enum` and unions alone finds them. */
export function withTypes(facts: SchemaFacts, schema: JsonValue): JsonValue {
  const types = typesOf(facts, schema);
  if (!isJsonObject(schema) || types === null || types.size === 0 || resultTypes(schema)[0] !== "any") return schema;
  const sorted = SCHEMA_TYPES.filter((type) => types.has(type));
  return { ...schema, type: sorted.length === 1 ? sorted[0] as string : sorted };
}

/** Whether a schema accepts every value, or every object: it says nothing about the content. */
export function isUntyped(facts: SchemaFacts, schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema === true;
  const known = facts.untyped.get(schema);
  if (known !== undefined) return known;
  facts.converter.document.spend(1);
  const untyped = !limitsContent(facts, schema);
  facts.untyped.set(schema, untyped);
  return untyped;
}

/** Keywords that limit the content of an object by their presence. */
const OBJECT_LIMITS = ["required", "propertyNames", "enum", "const", "dependentRequired", "not", "if"];

function limitsContent(facts: SchemaFacts, schema: JsonObject): boolean {
  const types = typesOf(facts, schema);
  if (types !== null && !types.has("object")) return true;
  if (OBJECT_LIMITS.some((keyword) => Object.hasOwn(schema, keyword))) return true;
  const maps = ["properties", "patternProperties", "dependentSchemas"].map((keyword) => member(schema, keyword));
  if (maps.some((map) => isJsonObject(map) && Object.keys(map).length > 0)) return true;
  const others = ["additionalProperties", "unevaluatedProperties"].map((keyword) => member(schema, keyword));
  if (others.some((other) => other !== undefined && other !== true && !isUntypedValue(facts, other))) return true;
  const target = referencedBy(facts.converter, schema);
  if (target !== undefined && !isUntyped(facts, target)) return true;
  if (listIn(schema, "allOf").some((one) => !isUntyped(facts, one))) return true;
  return ["anyOf", "oneOf"].some((keyword) => {
    const branches = listIn(schema, keyword);
    return branches.length > 0 && branches.every((one) => !isUntyped(facts, one));
  });
}

/** Whether a schema of members accepts every value; one that accepts every object says that members are objects. */
function isUntypedValue(facts: SchemaFacts, schema: JsonValue): boolean {
  return schema === true || (isUntyped(facts, schema) && typesOf(facts, schema) === null);
}

/** Schemas that one step of a pointer may visit. */
const VISITS_MAXIMUM = 1000;

/** The schema of the value at a pointer, as far as the schema declares it; undefined where it does not. */
export function schemaAt(facts: SchemaFacts, schema: JsonValue, steps: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = schema;
  for (const step of steps) {
    if (at === undefined) return undefined;
    at = below(facts, at, step, { left: VISITS_MAXIMUM });
  }
  return at;
}

function below(facts: SchemaFacts, schema: JsonValue, step: string, visits: { left: number }): JsonValue | undefined {
  if (!isJsonObject(schema) || visits.left-- <= 0) return undefined;
  facts.converter.document.spend(1);
  const target = referencedBy(facts.converter, schema);
  const inner = (one: JsonValue): JsonValue | undefined => below(facts, one, step, visits);
  const every = [
    ownPart(schema, step),
    target === undefined ? undefined : inner(target),
    ...listIn(schema, "allOf").map(inner),
    joined("anyOf", ["anyOf", "oneOf"].flatMap((keyword) => listIn(schema, keyword).map(inner))),
  ];
  return joined("allOf", every);
}

function joined(keyword: string, parts: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  const found = parts.filter((part): part is JsonValue => part !== undefined);
  return found.length <= 1 ? found[0] : { [keyword]: found };
}

function ownPart(schema: JsonObject, step: string): JsonValue | undefined {
  const properties = member(schema, "properties");
  const property = isJsonObject(properties) ? member(properties, step) : undefined;
  if (property !== undefined) return property;
  if (/^(?:0|[1-9]\d{0,8})$/.test(step)) {
    const item = listIn(schema, "prefixItems")[Number(step)] ?? member(schema, "items");
    if (item !== undefined) return item;
  }
  const other = member(schema, "additionalProperties");
  return isJsonObject(other) ? other : undefined;
}
