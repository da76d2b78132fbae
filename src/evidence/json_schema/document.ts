/**
 * Finds the schemas of a JSON Schema document and resolves its references (JSON Schema 2020-12 Core, 8 and 9).
 *
 * Only values that a keyword of the specification defines as schemas are schemas. A reference to another value, for
 * example below an unknown keyword, does not resolve: as a schema it would accept every value.
 */

import { words } from "../../canonical/words.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { quote } from "../../law/suggest.ts";
import type { Spend } from "../regular_expression/search.ts";
import documents from "./metaschema.json" with { type: "json" };

/** A JSON Schema. */
export type Schema = boolean | JsonObject;

/** Nesting depth of schemas, counted in JSON containers. */
const SCHEMA_DEPTH_MAXIMUM = 64;

/** The only supported dialect. */
export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The base URI of a document without `$id`, against which its relative references resolve. */
const DEFAULT_BASE = "schema:/";

/** Characters of an identity or a reference: each is resolved against another. */
const URI_CHARACTERS = 2048;

/** Keywords whose value is one schema. */
const SCHEMA_KEYWORDS = new Set<string>(words(
  "additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems",
  "unevaluatedProperties",
));
/** Keywords whose value is an array of schemas. */
const SCHEMA_ARRAY_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords whose value maps names to schemas; `dependencies` also maps them to arrays of names. */
const SCHEMA_MAP_KEYWORDS = new Set<string>(
  words("$defs definitions dependentSchemas dependencies patternProperties properties"),
);

/** Keywords of other dialects. Authors would rely on them, while 2020-12 ignores them. */
const REFUSED_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["id", 'it is a keyword of older drafts; use "$id"'],
  ["nullable", 'it is not a keyword of JSON Schema 2020-12; use "type": [..., "null"]'],
  ["$recursiveAnchor", 'it is a keyword of older drafts; use "$dynamicAnchor"'],
  ["$recursiveRef", 'it is a keyword of older drafts; use "$dynamicRef"'],
]);

/** A schema with a base URI of its own, and the anchors in it. */
export interface Resource {
  readonly uri: string;
  readonly root: Schema;
  readonly anchors: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, JsonObject>;
}

/** The schemas of a document. */
export interface SchemaDocument {
  readonly resources: ReadonlyMap<string, Resource>;
  /** The resource and the path of each schema. */
  readonly places: ReadonlyMap<JsonObject, { readonly resource: Resource; readonly path: Path }>;
}

/** Member names and item indices from the document to a value in it. */
export type Path = readonly (string | number)[];

/** A document is not an enforceable schema; the message begins with the path. */
export class SchemaRefusal extends Error {
  constructor(path: Path, reason: string) {
    super(explain(path, reason));
    this.name = "SchemaRefusal";
  }
}

/** Characters of a reason and of a path in a message: names and patterns from outside may be as long as a request. */
const REASON_CHARACTERS = 1024;
const PATH_CHARACTERS = 512;

/** A message of bounded length with path and reason. */
export function explain(path: Path, reason: string): string {
  return `${cut(formatPath(path), PATH_CHARACTERS)}: ${cut(reason, REASON_CHARACTERS)}`;
}

/** Cuts the middle out, because the runtime's message about a pattern ends with the reason. */
function cut(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const half = maximum / 2;
  return `${text.slice(0, half).toWellFormed()}...${text.slice(-half).toWellFormed()}`;
}

interface Building {
  readonly resources: Map<string, Resource>;
  readonly places: Map<JsonObject, { readonly resource: Resource; readonly path: Path }>;
  readonly spend: Spend;
}

/** The documents of the metaschema, which every schema may refer to. */
export const METASCHEMA: SchemaDocument = readMetaschema();

function readMetaschema(): SchemaDocument {
  const building: Building = { resources: new Map(), places: new Map(), spend: () => undefined };
  for (const document of documents as readonly JsonObject[]) {
    runThrough(visiting(building, building, document));
  }
  return building;
}

/** Whether a value has the type of a schema. */
export function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === "boolean" || isJsonObject(value);
}

/**
 * Finds every schema of a document.
 *
 * @throws {SchemaRefusal} Where schemas are nested too deep or a URI or anchor is not unique; where a keyword would not
 * be enforced as its author expects
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readDocument } from "@/evidence/json_schema/document.ts";
 *
 * assert.equal(readDocument({ properties: { nullable: { type: "string" } } }).places.size, 2);
 * assert.throws(() => readDocument({ type: "string", nullable: true }), /^SchemaRefusal: \$\.nullable: /);
 * ```
 */
export function readDocument(root: Schema, spend: Spend = () => undefined): SchemaDocument {
  const building: Building = { resources: new Map(), places: new Map(), spend };
  runThrough(visiting(building, METASCHEMA, root));
  return building;
}

/**
 * Reads a document as {@link readDocument} does and yields after each schema, for callers that share their thread.
 *
 * @throws {SchemaRefusal} As {@link readDocument}
 */
export function* readingDocument(root: Schema): Generator<undefined, SchemaDocument> {
  const building: Building = { resources: new Map(), places: new Map(), spend: () => undefined };
  yield* visiting(building, METASCHEMA, root);
  return building;
}

function runThrough(work: Generator<undefined>): void {
  while (work.next().done !== true);
}

/** A schema whose subschemas are being visited. */
interface Visited {
  readonly resource: Resource;
  readonly path: Path;
  readonly inner: Iterator<readonly [steps: Path, inner: Schema]>;
}

/** @param known Another document whose URIs the schemas may not repeat */
function* visiting(document: Building, known: SchemaDocument, root: Schema): Generator<undefined> {
  const open = [enter(document, known, root, null, [])];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.inner.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const [steps, inner] = next.value;
    open.push(enter(document, known, inner, last.resource, [...last.path, ...steps]));
    yield;
  }
}

function enter(
  document: Building,
  known: SchemaDocument,
  schema: Schema,
  within: Resource | null,
  path: Path,
): Visited {
  if (path.length > SCHEMA_DEPTH_MAXIMUM) {
    throw new SchemaRefusal(path, `schemas are nested deeper than ${SCHEMA_DEPTH_MAXIMUM}`);
  }
  document.spend(1);
  const resource = within !== null && !hasIdentity(schema)
    ? within
    : newResource(document, known, schema, within, path);
  if (typeof schema === "boolean") return { resource, path, inner: [].values() };
  document.places.set(schema, { resource, path });
  for (const [keyword, reason] of REFUSED_KEYWORDS) {
    if (Object.hasOwn(schema, keyword)) throw new SchemaRefusal([...path, keyword], reason);
  }
  const dialect = member(schema, "$schema");
  if (typeof dialect === "string" && dialect.replace(/#$/, "") !== DIALECT) {
    throw new SchemaRefusal([...path, "$schema"], `must be ${quote(DIALECT)}, got ${quote(dialect)}`);
  }
  addAnchors(resource, schema, path);
  return { resource, path, inner: subschemas(schema) };
}

function hasIdentity(schema: Schema): boolean {
  return isJsonObject(schema) && typeof member(schema, "$id") === "string";
}

function newResource(
  { resources, spend }: Building,
  known: SchemaDocument,
  schema: Schema,
  within: Resource | null,
  path: Path,
): Resource {
  const id = isJsonObject(schema) ? member(schema, "$id") : undefined;
  const uri = typeof id === "string" ? resolveUri(id, within?.uri ?? DEFAULT_BASE)?.document : DEFAULT_BASE;
  if (uri === undefined) {
    throw new SchemaRefusal([...path, "$id"], `expected a URI reference of at most ${URI_CHARACTERS} characters`);
  }
  spend(uri.length);
  if (resources.has(uri) || known.resources.has(uri)) {
    throw new SchemaRefusal([...path, "$id"], `another schema has the identity ${quote(uri)}`);
  }
  const resource: Resource = { uri, root: schema, anchors: new Map(), dynamicAnchors: new Map() };
  resources.set(uri, resource);
  return resource;
}

function addAnchors({ anchors, dynamicAnchors }: Resource, schema: JsonObject, path: Path): void {
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const name = member(schema, keyword);
    if (typeof name !== "string") continue;
    if ((anchors.get(name) ?? schema) !== schema) {
      throw new SchemaRefusal([...path, keyword], `another schema has the anchor ${quote(name)}`);
    }
    anchors.set(name, schema);
    if (keyword === "$dynamicAnchor") dynamicAnchors.set(name, schema);
  }
}

/** The direct subschemas of a schema, each with its path. */
function* subschemas(schema: JsonObject): Generator<readonly [steps: Path, inner: Schema]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (SCHEMA_KEYWORDS.has(keyword)) {
      if (isSchema(value)) yield [[keyword], value];
    } else if (SCHEMA_ARRAY_KEYWORDS.has(keyword) && isJsonArray(value)) {
      for (const [index, inner] of value.entries()) if (isSchema(inner)) yield [[keyword, index], inner];
    } else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) if (isSchema(inner)) yield [[keyword, name], inner];
    }
  }
}

/** The target of a reference, and the anchor that it names. */
export interface ResolvedReference {
  readonly resource: Resource;
  readonly schema: Schema;
  readonly anchor: string | null;
}

/** Resolves a reference in a resource; null where its target is not a schema of the document or the metaschema. */
export function resolveReference(
  { resources }: SchemaDocument,
  from: Resource,
  reference: string,
): ResolvedReference | null {
  const uri = resolveUri(reference, from.uri);
  const resource = uri === null ? undefined : resources.get(uri.document) ?? METASCHEMA.resources.get(uri.document);
  if (uri === null || resource === undefined) return null;
  const { fragment } = uri;
  if (fragment === "") return { resource, schema: resource.root, anchor: null };
  const isPointer = fragment.startsWith("/");
  const schema = isPointer ? atPointer(resource.root, fragment) : resource.anchors.get(fragment);
  return schema === undefined ? null : { resource, schema, anchor: isPointer ? null : fragment };
}

function resolveUri(reference: string, base: string): { readonly document: string; readonly fragment: string } | null {
  if (reference.length > URI_CHARACTERS) return null;
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = "";
    return url.href.length > URI_CHARACTERS ? null : { document: url.href, fragment };
  } catch {
    return null;
  }
}

/** Resolves a JSON Pointer (RFC 6901) from a schema; undefined where its target is not a schema. */
export function atPointer(root: Schema, pointer: string): Schema | undefined {
  const tokens = pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: JsonValue | undefined = root;
  while (tokens.length > 0 && isJsonObject(at)) at = step(at, tokens);
  return tokens.length === 0 && isSchema(at) ? at : undefined;
}

/** Removes the tokens of one keyword and returns the value that they name; undefined where it cannot be a schema. */
function step(schema: JsonObject, tokens: string[]): JsonValue | undefined {
  const keyword = tokens.shift() ?? "";
  const value = member(schema, keyword);
  if (SCHEMA_KEYWORDS.has(keyword)) return value;
  const name = tokens.shift();
  if (name === undefined) return undefined;
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isJsonObject(value)) return member(value, name);
  return SCHEMA_ARRAY_KEYWORDS.has(keyword) && isJsonArray(value) && /^(0|[1-9]\d*)$/.test(name)
    ? value[Number(name)]
    : undefined;
}
