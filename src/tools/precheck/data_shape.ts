/**
 * Which comparators fit the type that a data shape gives a member. A condition that compares incomparable types would
 * be Unknown for ever; strict validation reports it first.
 */

import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  member,
} from "../../canonical/json.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { alsoHolding, type Complaint, type DataShape, type Fragment } from "./data_shape_members.ts";

/** Whether a type class allows a comparator; an opt-in one has to be listed in `x-gate.allowed_comparators`. */
export type Allowance = "allowed" | "opt_in" | "forbidden";

/** Two bits for each comparator, of {@link BITS}. `&` of several gives the least allowance of each. */
export type Allowances = number;

const BITS = { allowed: 3, opt_in: 1, forbidden: 0 } as const;

const ALL = COMPARATORS;
const EQUAL = ["equals", "not_equals"];
const ORDER = ["greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"];
const LEX = ORDER.map((name) => `lex_${name}`);
const DEEP = ["deep_equals", "deep_not_equals"];
const PRESENCE = ["exists", "not_exists"];

function allow(allowed: readonly string[], optIn: readonly string[] = []): Allowances {
  const bitsOf = (name: string): number =>
    optIn.includes(name) ? BITS.opt_in : [...allowed, ...PRESENCE].includes(name) ? BITS.allowed : BITS.forbidden;
  return ALL.reduce((bits, name, index) => bits | bitsOf(name) << 2 * index, 0);
}

/** The allowance of a comparator. */
export function allowanceOf(allowances: Allowances, comparator: string): Allowance {
  const index = (ALL as readonly string[]).indexOf(comparator);
  const bits = index < 0 ? BITS.forbidden : allowances >>> 2 * index & BITS.allowed;
  return bits === BITS.allowed ? "allowed" : bits === BITS.opt_in ? "opt_in" : "forbidden";
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

/** The keywords of each class (docs/guide/agent_playbook.md, "Which data shapes fit"). */
const KEYWORDS: Readonly<Record<Class, string>> = {
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

/** The types of members that fit a comparator, in words. */
export function membersFor(comparator: string): string {
  const fitting = (Object.keys(KEYWORDS) as Class[]).filter((name) =>
    allowanceOf(CLASSES[name], comparator) !== "forbidden"
  );
  return fitting.map((name) => KEYWORDS[name]).join(", or ");
}

/** Most references, alternatives and items on one path. */
const REFERENCES = 16;

/** Steps for the conditions of one stage: enough for 50,000 schemas and a million listed values. */
const SHAPE_STEPS = 3_000_000;
/** Steps of one schema; a listed value or an alternative takes one step. */
const SCHEMA_STEPS = 40;

/**
 * The queries of the conditions of one stage on a shape. Answers that depend on no starting point are cached for all.
 */
export interface Inquiry {
  readonly shape: DataShape;
  /** Answers by schema. */
  readonly answers: Map<JsonObject, Allowances | Complaint>;
  readonly enums: Map<JsonArray, Class | Complaint>;
  readonly lists: Map<JsonObject, ReadonlySet<string> | Complaint | null>;
  stepsLeft: number;
}

/** Begins the queries on a shape. */
export function inquire(shape: DataShape, stepsLeft = SHAPE_STEPS): Inquiry {
  return { shape, answers: new Map(), enums: new Map(), lists: new Map(), stepsLeft };
}

/** Takes steps from the budget; false where it is spent. */
function spend(inquiry: Inquiry, steps: number): boolean {
  inquiry.stepsLeft -= steps;
  return inquiry.stepsLeft >= 0;
}

const TOO_MANY: Complaint = { complaint: "the shape leads to more schemas than are checked" };

/** One query with its answer for each schema: alternatives may lead to the same schema many times. */
interface Query {
  readonly inquiry: Inquiry;
  readonly found: Map<JsonObject, Allowances | Complaint>;
}

/** Computes an answer; yields after each schema. */
type Answering<T = Allowances | Complaint> = Generator<undefined, T>;

function annotationOf(schema: JsonObject): JsonObject | null {
  const annotation = member(schema, "x-gate");
  return isJsonObject(annotation) ? annotation : null;
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  return typeof value;
}

/** The class of an enum. */
function enumClass(inquiry: Inquiry, values: JsonArray): Class | Complaint {
  const before = inquiry.enums.get(values);
  if (before !== undefined) return before;
  const found = spend(inquiry, values.length) ? classOf(values) : TOO_MANY;
  inquiry.enums.set(values, found);
  return found;
}

function classOf(values: JsonArray): Class | Complaint {
  const [first = null] = values;
  const only = typeName(first);
  const isSound = values.length > 0 && only !== "object" && only !== "array";
  if (!isSound || !values.every((value) => typeName(value) === only)) {
    return { complaint: "its enum is not of scalars of one type" };
  }
  return only === "null" ? "null" : "scalar";
}

function allowancesFor(found: Class | Complaint): Allowances | Complaint {
  return typeof found === "string" ? CLASSES[found] : found;
}

function* itemsClass(query: Query, schema: JsonObject, references: number): Answering<Class> {
  const items = member(schema, "items");
  const found = items === undefined ? null : yield* allowancesAt(query, items, references + 1);
  return typeof found === "number" && allowanceOf(found, "deep_equals") === "forbidden" ? "scalars" : "complex";
}

function* typeClass(
  query: Query,
  schema: JsonObject,
  type: JsonValue,
  references: number,
): Answering<Class | Complaint> {
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
      return yield* itemsClass(query, schema, references);
    case "object":
      return "complex";
    default:
      return { complaint: `its type ${JSON.stringify(type)} is not one of JSON` };
  }
}

/** The common allowances of several alternatives, apart from `null`. */
function intersect(found: readonly (Allowances | Complaint)[]): Allowances | Complaint {
  const complaint = found.find((one) => typeof one !== "number");
  if (complaint !== undefined) return complaint;
  const present = (found as readonly Allowances[]).filter((one) => one !== CLASSES.null);
  return present.length === 0 ? CLASSES.null : present.reduce((least, one) => least & one);
}

function* typesClass(query: Query, schema: JsonObject, types: JsonArray, references: number): Answering {
  if (types.length === 0) return { complaint: "its list of types is empty" };
  const found: (Allowances | Complaint)[] = [];
  for (const type of types) found.push(allowancesFor(yield* typeClass(query, schema, type, references)));
  return intersect(found);
}

/** The comparators that each of several schemas allows. */
function* allowancesAtEach(
  query: Query,
  schemas: JsonArray,
  references: number,
): Answering<(Allowances | Complaint)[]> {
  const found: (Allowances | Complaint)[] = [];
  for (const schema of schemas) {
    const known = isJsonObject(schema) ? query.found.get(schema) : NO_TYPE;
    found.push(known ?? (yield* allowancesAt(query, schema, references)));
  }
  return found;
}

/** The comparators that a schema allows, or why that is unknown; it is for a schema that leads back to itself. */
function* allowancesAt({ inquiry, found }: Query, schema: JsonValue, references: number): Answering {
  if (!isJsonObject(schema)) return NO_TYPE;
  const before = found.get(schema);
  if (before !== undefined) return before;
  if (!spend(inquiry, SCHEMA_STEPS)) return TOO_MANY;
  yield;
  found.set(schema, NO_TYPE);
  const answer = yield* judge({ inquiry, found }, schema, references);
  found.set(schema, answer);
  return answer;
}

const NO_TYPE: Complaint = { complaint: "it has no type" };

function* judge(query: Query, schema: JsonObject, references: number): Answering {
  const { inquiry } = query;
  if (annotationOf(schema)?.["dynamic_type"] === true) return CLASSES.dynamic;
  const values = member(schema, "enum");
  if (isJsonArray(values)) return allowancesFor(enumClass(inquiry, values));
  const constant = member(schema, "const");
  if (constant !== undefined && !isJsonObject(constant) && !isJsonArray(constant)) {
    return allowancesFor(classOf([constant]));
  }
  const type = member(schema, "type");
  if (type !== undefined) return yield* typesClass(query, schema, isJsonArray(type) ? type : [type], references);
  const branches = member(schema, "oneOf") ?? member(schema, "anyOf");
  if (isJsonArray(branches)) {
    if (branches.length === 0 || references >= REFERENCES) return { complaint: "its alternatives have no type" };
    if (!spend(inquiry, branches.length)) return TOO_MANY;
    return intersect(yield* allowancesAtEach(query, branches, references + 1));
  }
  if (references >= REFERENCES) return NO_TYPE;
  const found = yield* allowancesAtEach(query, alsoHolding(inquiry.shape, schema), references + 1);
  return found.find((one) => typeof one === "number") ?? found.find((one) => one !== NO_TYPE) ?? NO_TYPE;
}

/** The comparators that a fragment allows. */
export function* allowancesOf(inquiry: Inquiry, { schema }: Fragment): Answering {
  if (!isJsonObject(schema)) return NO_TYPE;
  const before = inquiry.answers.get(schema);
  if (before !== undefined) return before;
  const answer = yield* allowancesAt({ inquiry, found: new Map() }, schema, 0);
  inquiry.answers.set(schema, answer);
  return answer;
}

/** The comparators in `x-gate.allowed_comparators` of a fragment; null without that keyword. */
export function listedComparators({ lists }: Inquiry, { schema }: Fragment): ReadonlySet<string> | Complaint | null {
  if (!isJsonObject(schema)) return null;
  const before = lists.get(schema);
  if (before !== undefined) return before;
  const annotation = annotationOf(schema);
  const listed = annotation === null ? undefined : member(annotation, "allowed_comparators");
  const found = listed === undefined ? null : readList(listed);
  lists.set(schema, found);
  return found;
}

function readList(listed: JsonValue): ReadonlySet<string> | Complaint {
  const known = isJsonArray(listed) && listed.length > 0 && listed.every((name) => ALL.includes(String(name)));
  return known
    ? new Set(listed.map(String))
    : { complaint: "its x-gate.allowed_comparators is not a list of comparators" };
}
