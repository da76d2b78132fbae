/**
 * What a data shape lets conditions ask: which comparators fit the type that its JSON Schema gives a member. A condition that compares
 * what cannot be compared would be Unknown for ever; strict validation says so beforehand.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { readDocument, resolveReference, type SchemaDocument } from "../evidence/json_schema/document.ts";
import { COMPARATORS } from "../law/comparators.ts";

/** How a type class takes a comparator; what is opt-in has to be listed in `x-gate.allowed_comparators`. */
export type Allowance = "allowed" | "opt_in" | "forbidden";

/** By comparator; what is not listed is forbidden. */
export type Allowances = ReadonlyMap<string, Allowance>;

/** A member of the shape: its schema, and where that stands. */
export interface Fragment {
  readonly schema: JsonValue;
  /** JSON pointer within the document, to begin with `#`. */
  readonly pointer: string;
}

/** Sentence that says why a shape does not serve. */
export type Complaint = { readonly complaint: string };

const ALL = Object.values(COMPARATORS);
const EQUAL = ["equals", "not_equals"];
const ORDER = ["greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"];
const LEX = ORDER.map((name) => `lex_${name}`);
const DEEP = ["deep_equals", "deep_not_equals"];
const PRESENCE = ["exists", "not_exists"];

function allow(allowed: readonly string[], optIn: readonly string[] = []): Allowances {
  const entries = [...allowed, ...PRESENCE].map((name): [string, Allowance] => [name, "allowed"]);
  return new Map([...entries, ...optIn.map((name): [string, Allowance] => [name, "opt_in"])]);
}

const CLASSES = {
  dynamic: allow(ALL),
  boolean: allow([...EQUAL, "in_set"]),
  number: allow([...EQUAL, ...ORDER, "in_set"]),
  string: allow([...EQUAL, "contains", "in_set"], LEX),
  date: allow([...EQUAL, ...ORDER, "in_set"]),
  scalar: allow([...EQUAL, "in_set"]),
  scalars: allow(["contains"], DEEP),
  complex: allow([], DEEP),
  null: allow(EQUAL),
} as const;

type Class = keyof typeof CLASSES;

/** What a member has to say to be of a class (docs/agent_playbook.md, "Which data shapes fit"). */
const SPELT: Readonly<Record<Class, string>> = {
  boolean: 'type "boolean"',
  number: 'type "number" or "integer"',
  string: 'type "string"',
  date: 'type "string" with format "date" or "date-time"',
  scalar: 'an enum of scalars or format "uuid"',
  scalars: "an array of scalars",
  complex: "an array or object",
  null: 'type "null"',
  dynamic: "x-gate.dynamic_type true",
};

/** What a member may be for a comparator, in words. */
export function membersFor(comparator: string): string {
  const fitting = (Object.keys(SPELT) as Class[]).filter((name) => CLASSES[name].has(comparator));
  return fitting.map((name) => SPELT[name]).join(", or ");
}

/** Most references, alternatives and items that are gone through from one place to the next. */
const REFERENCES = 16;

/** A document, and what one question has found out about each schema in it: alternatives may lead to the same one over and over. */
interface Shape {
  readonly document: SchemaDocument;
  readonly found: Map<JsonObject, Allowances | Complaint>;
  readonly visits: Visits;
}

/** How many schemas of a shape are still looked at, for all conditions together. */
export interface Visits {
  left: number;
}

/** Schemas that are looked at for the conditions of one stage. */
export const SHAPE_VISITS = 50_000;

/** Of a document: its schemas, and those that hold where the document does. */
interface Known {
  readonly document: SchemaDocument;
  readonly holding: readonly JsonObject[];
}

const known = new WeakMap<object, Known>();

function knownOf(root: JsonObject): Known {
  const before = known.get(root);
  if (before !== undefined) return before;
  const document = readDocument(root);
  const made = { document, holding: everyHolding(document, root) };
  known.set(root, made);
  return made;
}

function annotationOf(schema: JsonObject): JsonObject | null {
  const annotation = member(schema, "x-gate");
  return isJsonObject(annotation) ? annotation : null;
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  return typeof value;
}

function enumClass(values: readonly JsonValue[]): Class | Complaint {
  const types = new Set(values.map(typeName));
  const [only] = types;
  if (types.size !== 1 || only === "object" || only === "array" || only === undefined) {
    return { complaint: "its enum is not of scalars of one type" };
  }
  return only === "null" ? "null" : "scalar";
}

function itemsClass(shape: Shape, schema: JsonObject, references: number): Class {
  const items = member(schema, "items");
  const found = items === undefined ? null : allowancesAt(shape, items, references + 1);
  const isScalar = found !== null && "size" in found && (found.get("deep_equals") ?? "forbidden") === "forbidden";
  return isScalar ? "scalars" : "complex";
}

function typeClass(shape: Shape, schema: JsonObject, type: JsonValue, references: number): Class | Complaint {
  switch (type) {
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "string": {
      const format = member(schema, "format");
      if (format === "date" || format === "date-time") return "date";
      return format === "uuid" ? "scalar" : "string";
    }
    case "array":
      return itemsClass(shape, schema, references);
    case "object":
      return "complex";
    default:
      return { complaint: `its type ${JSON.stringify(type)} is not one of JSON` };
  }
}

/** What all of several alternatives allow; the least of them counts. */
function intersect(all: readonly Allowances[]): Allowances {
  const least = (name: string): Allowance => {
    const found = all.map((one) => one.get(name) ?? "forbidden");
    return found.includes("forbidden") ? "forbidden" : found.includes("opt_in") ? "opt_in" : "allowed";
  };
  return new Map(ALL.map((name) => [name, least(name)]));
}

function intersectBranches(found: readonly (Allowances | Complaint)[]): Allowances | Complaint {
  const complaint = found.find((one) => "complaint" in one);
  if (complaint !== undefined) return complaint;
  const allowances = found as readonly Allowances[];
  const present = allowances.filter((one) => one !== CLASSES.null);
  return present.length === 0 ? CLASSES.null : intersect(present);
}

function typesClass(
  shape: Shape,
  schema: JsonObject,
  types: readonly JsonValue[],
  references: number,
): Allowances | Complaint {
  if (types.length === 0) return { complaint: "its list of types is empty" };
  return intersectBranches(types.map((type) => {
    const found = typeClass(shape, schema, type, references);
    return typeof found === "string" ? CLASSES[found] : found;
  }));
}

/** The schemas that hold wherever a schema holds: what it refers to, and all of several. */
function alsoHolding(document: SchemaDocument, schema: JsonObject): readonly JsonObject[] {
  const place = document.places.get(schema);
  const referred = ["$ref", "$dynamicRef"].flatMap((keyword) => {
    const reference = member(schema, keyword);
    if (typeof reference !== "string" || place === undefined) return [];
    return resolveReference(document, place.resource, reference)?.schema ?? [];
  });
  const all = member(schema, "allOf");
  return [...referred, ...isJsonArray(all) ? all : []].filter(isJsonObject);
}

/** What comparators a schema allows, or why that cannot be told: of one that leads back to itself it cannot. */
function allowancesAt(shape: Shape, schema: JsonValue, references: number): Allowances | Complaint {
  if (!isJsonObject(schema)) return NO_TYPE;
  const before = shape.found.get(schema);
  if (before !== undefined) return before;
  if (--shape.visits.left < 0) return { complaint: "the shape leads to more schemas than are looked at" };
  shape.found.set(schema, NO_TYPE);
  const found = judge(shape, schema, references);
  shape.found.set(schema, found);
  return found;
}

const NO_TYPE: Complaint = { complaint: "it says no type" };

function judge(shape: Shape, schema: JsonObject, references: number): Allowances | Complaint {
  if (annotationOf(schema)?.["dynamic_type"] === true) return CLASSES.dynamic;
  const values = member(schema, "enum");
  if (isJsonArray(values)) {
    const found = enumClass(values);
    return typeof found === "string" ? CLASSES[found] : found;
  }
  const constant = member(schema, "const");
  if (constant !== undefined && !isJsonObject(constant) && !isJsonArray(constant)) {
    const found = enumClass([constant]);
    return typeof found === "string" ? CLASSES[found] : found;
  }
  const type = member(schema, "type");
  if (type !== undefined) return typesClass(shape, schema, isJsonArray(type) ? type : [type], references);
  const branches = member(schema, "oneOf") ?? member(schema, "anyOf");
  if (isJsonArray(branches)) {
    if (branches.length === 0 || references >= REFERENCES) return { complaint: "its alternatives say no type" };
    return intersectBranches(branches.map((branch) => allowancesAt(shape, branch, references + 1)));
  }
  if (references >= REFERENCES) return NO_TYPE;
  const found = alsoHolding(shape.document, schema).map((one) => allowancesAt(shape, one, references + 1));
  return found.find((one) => !("complaint" in one)) ?? found.find((one) => one !== NO_TYPE) ?? NO_TYPE;
}

/** What comparators a fragment allows. */
export function allowancesOf(
  root: JsonValue,
  { schema }: Fragment,
  visits: Visits = { left: SHAPE_VISITS },
): Allowances | Complaint {
  const document = isJsonObject(root) ? knownOf(root).document : readDocument(false);
  return allowancesAt({ document, found: new Map(), visits }, schema, 0);
}

/** The list of `x-gate.allowed_comparators` of a fragment; null where it has none. */
export function listedComparators({ schema }: Fragment): readonly string[] | Complaint | null {
  const annotation = isJsonObject(schema) ? annotationOf(schema) : null;
  const listed = annotation === null ? undefined : member(annotation, "allowed_comparators");
  if (listed === undefined) return null;
  const known = isJsonArray(listed) && listed.length > 0 && listed.every((name) => ALL.includes(String(name)));
  return known ? listed.map(String) : { complaint: "its x-gate.allowed_comparators is not a list of comparators" };
}

/** Whether documents of a shape are objects, so that each condition has a member of its own. */
export function isObjectShape(root: JsonValue): boolean {
  const isObject = (schema: JsonObject): boolean => {
    const type = member(schema, "type");
    return type === "object" || (type === undefined && isJsonObject(member(schema, "properties")));
  };
  return isJsonObject(root) && knownOf(root).holding.some(isObject);
}

/** A schema and all that hold wherever it does, each once. */
function everyHolding(document: SchemaDocument, schema: JsonObject): readonly JsonObject[] {
  const all = new Set([schema]);
  // A set that grows while it is walked is walked to its end.
  for (const one of all) for (const also of alsoHolding(document, one)) all.add(also);
  return [...all];
}

/**
 * The fragment for a condition: the member of its name, else what a typed `additionalProperties` says; of a shape that is no object the
 * whole.
 */
export function fragmentOf(root: JsonValue, conditionId: string, isOnly: boolean): Fragment | Complaint {
  if (isJsonObject(root) && member(root, "oneOf") !== undefined && member(root, "anyOf") !== undefined) {
    return { complaint: 'the shape has both "oneOf" and "anyOf"' };
  }
  if (!isJsonObject(root) || !isObjectShape(root)) {
    if (isOnly) return { schema: root, pointer: "#" };
    return { complaint: "the shape is no object, and the stage has more than one condition" };
  }
  const { document, holding } = knownOf(root);
  for (const schema of holding) {
    const properties = member(schema, "properties");
    const own = isJsonObject(properties) ? member(properties, conditionId) : undefined;
    if (own !== undefined) return { schema: own, pointer: pointerTo(document, schema, ["properties", conditionId]) };
  }
  for (const schema of holding) {
    const others = member(schema, "additionalProperties");
    if (isJsonObject(others)) return { schema: others, pointer: pointerTo(document, schema, ["additionalProperties"]) };
  }
  return { complaint: "the shape has no member of its name" };
}

/** JSON pointer within the document, as a fragment of a URI, to a place in a schema. */
function pointerTo(document: SchemaDocument, schema: JsonObject, steps: readonly string[]): string {
  const path = [...document.places.get(schema)?.path ?? [], ...steps];
  return ["#", ...path.map((step) => encodeURIComponent(String(step).replaceAll("~", "~0").replaceAll("/", "~1")))]
    .join("/");
}
