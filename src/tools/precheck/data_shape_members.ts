/**
 * A data shape as conditions see it: which members its JSON Schema describes, wherever in the document it does.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readingDocument, resolveReference, type SchemaDocument } from "../../evidence/json_schema/document.ts";

/** A data shape that was read. */
export interface DataShape {
  readonly root: JsonValue;
  readonly document: SchemaDocument;
  /** Whether documents of it are objects, so that each condition has a member of its own. */
  readonly isObject: boolean;
  /** By name of a member, the schema whose `properties` describe it. */
  readonly members: ReadonlyMap<string, JsonObject>;
  /** The schema whose `additionalProperties` describe all other members. */
  readonly others: JsonObject | null;
  /** What was found to hold wherever a schema holds: asked over and over. */
  readonly also: Map<JsonObject, readonly JsonObject[]>;
}

/** A member of the shape: its schema, and where that stands. */
export interface Fragment {
  readonly schema: JsonValue;
  /** JSON pointer within the document. */
  readonly pointer: string;
}

/** Sentence that says why a shape does not serve. */
export type Complaint = { readonly complaint: string };

/**
 * Reads a data shape, and stops after every small step.
 *
 * @throws {SchemaRefusal} Where the root is no schema that could be registered
 */
export function* readingShape(root: JsonValue): Generator<undefined, DataShape> {
  const document = yield* readingDocument(isJsonObject(root) ? root : false);
  const also: DataShape["also"] = new Map();
  const members = new Map<string, JsonObject>();
  let others: JsonObject | null = null;
  let isObject = false;
  for (const schema of everyHolding({ document, also }, root)) {
    yield;
    isObject ||= describesObjects(schema);
    if (others === null && isJsonObject(member(schema, "additionalProperties"))) others = schema;
    const properties = member(schema, "properties");
    for (const name of isJsonObject(properties) ? Object.keys(properties) : []) {
      yield;
      if (!members.has(name)) members.set(name, schema);
    }
  }
  return { root, document, isObject, members, others, also };
}

function describesObjects(schema: JsonObject): boolean {
  const type = member(schema, "type");
  return type === "object" || (type === undefined && isJsonObject(member(schema, "properties")));
}

/** A schema and all that hold wherever it does, each once. */
function* everyHolding(shape: Pick<DataShape, "document" | "also">, root: JsonValue): Generator<JsonObject> {
  const all = new Set(isJsonObject(root) ? [root] : []);
  // A set that grows while it is walked is walked to its end.
  for (const one of all) {
    for (const other of alsoHolding(shape, one)) all.add(other);
    yield one;
  }
}

/** The schemas that hold wherever a schema holds: what it refers to, and all of several. */
export function alsoHolding(
  { document, also }: Pick<DataShape, "document" | "also">,
  schema: JsonObject,
): readonly JsonObject[] {
  const before = also.get(schema);
  if (before !== undefined) return before;
  const place = document.places.get(schema);
  const referred = ["$ref", "$dynamicRef"].flatMap((keyword) => {
    const reference = member(schema, keyword);
    if (typeof reference !== "string" || place === undefined) return [];
    return resolveReference(document, place.resource, reference)?.schema ?? [];
  });
  const all = member(schema, "allOf");
  const found = [...referred, ...isJsonArray(all) ? all : []].filter(isJsonObject);
  also.set(schema, found);
  return found;
}

/**
 * The fragment for a condition: the member of its name, else what a typed `additionalProperties` says; of a shape that is no object the
 * whole.
 */
export function fragmentOf(shape: DataShape, conditionId: string, isOnly: boolean): Fragment | Complaint {
  const { root, members, others } = shape;
  if (isJsonObject(root) && member(root, "oneOf") !== undefined && member(root, "anyOf") !== undefined) {
    return { complaint: 'the shape has both "oneOf" and "anyOf"' };
  }
  if (!shape.isObject) {
    if (isOnly) return { schema: root, pointer: "" };
    return { complaint: "the shape is no object, and the stage has more than one condition" };
  }
  const describing = members.get(conditionId);
  if (describing !== undefined) return within(shape, describing, ["properties", conditionId]);
  if (others !== null) return within(shape, others, ["additionalProperties"]);
  return { complaint: "the shape has no member of its name" };
}

/** What stands in a schema, and its JSON pointer within the document; a metaschema is in no document of ours. */
function within({ document }: DataShape, schema: JsonObject, steps: readonly string[]): Fragment | Complaint {
  const place = document.places.get(schema);
  if (place === undefined) return { complaint: "the shape leaves its member to a metaschema" };
  const path = [...place.path, ...steps];
  const pointer = path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const found = steps.reduce((at: JsonValue, step) => isJsonObject(at) ? member(at, step) ?? null : null, schema);
  return { schema: found, pointer };
}
