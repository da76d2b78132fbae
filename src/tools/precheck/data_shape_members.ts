/** Finds the members that the JSON Schema of a data shape describes, anywhere in its document. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readingDocument, resolveReference, type SchemaDocument } from "../../evidence/json_schema/document.ts";

/** A parsed data shape. */
export interface DataShape {
  readonly root: JsonValue;
  readonly document: SchemaDocument;
  /** Whether its values are objects, so that each condition has a member of its own. */
  readonly isObject: boolean;
  /** By name of a member, the schema whose `properties` describe it. */
  readonly members: ReadonlyMap<string, JsonObject>;
  /** The schema whose `additionalProperties` describe all other members. */
  readonly others: JsonObject | null;
  /** Cached results of {@link alsoHolding}. */
  readonly also: Map<JsonObject, readonly JsonObject[]>;
}

/** The schema of a member, with its location. */
export interface Fragment {
  readonly schema: JsonValue;
  /** JSON pointer within the document. */
  readonly pointer: string;
}

/** Why a shape cannot be used, as a sentence. */
export type Complaint = { readonly complaint: string };

/**
 * Parses a data shape; yields after every small step.
 *
 * @throws {SchemaRefusal} Where the root is not a schema that can be registered
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

/** A schema and all schemas that apply wherever it does, each once. */
function* everyHolding(shape: Pick<DataShape, "document" | "also">, root: JsonValue): Generator<JsonObject> {
  const all = new Set(isJsonObject(root) ? [root] : []);
  // The iteration of a set visits items that are added during it.
  for (const one of all) {
    for (const other of alsoHolding(shape, one)) all.add(other);
    yield one;
  }
}

/** The schemas that apply wherever a schema does: its references, and its `allOf`. */
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
 * The fragment for a condition: the member with its name, else the schema of `additionalProperties`. A shape that is
 * not an object is one fragment.
 */
export function fragmentOf(shape: DataShape, conditionId: string, isOnly: boolean): Fragment | Complaint {
  const { root, members, others } = shape;
  if (isJsonObject(root) && member(root, "oneOf") !== undefined && member(root, "anyOf") !== undefined) {
    return { complaint: 'the shape has both "oneOf" and "anyOf"' };
  }
  if (!shape.isObject) {
    if (isOnly) return { schema: root, pointer: "" };
    return { complaint: "the shape is not an object, and the stage has more than one condition" };
  }
  const describing = members.get(conditionId);
  if (describing !== undefined) return within(shape, describing, ["properties", conditionId]);
  if (others !== null) return within(shape, others, ["additionalProperties"]);
  return { complaint: "the shape has no member of its name" };
}

/** A subschema with its JSON pointer; a metaschema is not in the document and has no pointer. */
function within({ document }: DataShape, schema: JsonObject, steps: readonly string[]): Fragment | Complaint {
  const place = document.places.get(schema);
  if (place === undefined) return { complaint: "the shape leaves its member to a metaschema" };
  const path = [...place.path, ...steps];
  const pointer = path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const found = steps.reduce((at: JsonValue, step) => isJsonObject(at) ? member(at, step) ?? null : null, schema);
  return { schema: found, pointer };
}
