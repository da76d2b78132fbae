/**
 * Where schemas stand in a JSON Schema document, and what its references lead to (JSON Schema 2020-12 Core, 8 and 9).
 *
 * Only what a keyword of the specification says is a schema is one: a text, a list, or what stands below an unknown keyword is
 * never found by a reference, because it would take every value.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { quote } from "../../law/suggest.ts";
import type { Spend } from "../regular_expression/search.ts";
import documents from "./metaschema.json" with { type: "json" };

/** A JSON Schema. */
export type Schema = boolean | JsonObject;

/** How deep schemas may be nested within each other, counted in JSON containers. */
const SCHEMA_DEPTH_MAXIMUM = 64;

/** The one dialect there is. */
export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** What a document without an identity of its own is called, so that its relative references have a base. */
const UNNAMED = "schema:/";

/** Characters of an identity or a reference: each is resolved against another. */
const URI_CHARACTERS = 2048;

/** Keywords whose value is one schema. */
const SCHEMA_KEYWORDS = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords whose value is an array of schemas. */
const SCHEMA_ARRAY_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords whose value maps names to schemas; the second last maps them to arrays of names as well. */
const SCHEMA_MAP_KEYWORDS = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
  "patternProperties",
  "properties",
]);

/** Keywords of other dialects that somebody would rely on, while 2020-12 does not look at them. */
const REFUSED_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["id", 'it is a keyword of older drafts; use "$id"'],
  ["nullable", 'it is no keyword of JSON Schema 2020-12; use "type": [..., "null"]'],
  ["$recursiveAnchor", 'it is a keyword of older drafts; use "$dynamicAnchor"'],
  ["$recursiveRef", 'it is a keyword of older drafts; use "$dynamicRef"'],
]);

/** A schema with an identity of its own, and what can be found in it by name. */
export interface Resource {
  readonly uri: string;
  readonly root: Schema;
  readonly anchors: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, JsonObject>;
}

/** Every schema of a document. */
export interface SchemaDocument {
  readonly resources: ReadonlyMap<string, Resource>;
  /** The resource that a schema is part of, and where it stands. */
  readonly places: ReadonlyMap<JsonObject, { readonly resource: Resource; readonly path: Path }>;
}

/** The steps from a document to what stands in it. */
export type Path = readonly (string | number)[];

/** Thrown where a document cannot be a schema; the message begins with the place. */
export class SchemaRefusal extends Error {
  constructor(path: Path, why: string) {
    super(explain(path, why));
    this.name = "SchemaRefusal";
  }
}

/** Characters of what is said to be wrong, and of where: names and patterns from outside may be as long as a request. */
const WHY_CHARACTERS = 1024;
const WHERE_CHARACTERS = 512;

/** What is wrong at a place, in a length that fits an answer. */
export function explain(path: Path, why: string): string {
  return `${cut(formatPath(path), WHERE_CHARACTERS)}: ${cut(why, WHY_CHARACTERS)}`;
}

/** Leaves the middle out: what the runtime says of a pattern ends with the reason. */
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

/** The documents of the dialect itself, which every schema may refer to. */
export const METASCHEMA: SchemaDocument = readMetaschema();

function readMetaschema(): SchemaDocument {
  const building: Building = { resources: new Map(), places: new Map(), spend: () => undefined };
  for (const document of documents as unknown as readonly JsonObject[]) {
    runThrough(visiting(building, building, document));
  }
  return building;
}

/** Tells a schema from what is none. */
export function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === "boolean" || isJsonObject(value);
}

/**
 * Looks at every schema of a document.
 *
 * @throws {SchemaRefusal} Where schemas are nested too deep, an identity or anchor stands twice, or a keyword would not be
 * enforced as its author means it
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
 * Reads a document as {@link readDocument} does, and stops after each schema: for readers who have others to let go first.
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

/** A schema whose inner schemas are being looked at. */
interface Open {
  readonly resource: Resource;
  readonly path: Path;
  readonly inner: Iterator<readonly [steps: Path, inner: Schema]>;
}

/** @param known What takes identities besides the document */
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

function enter(document: Building, known: SchemaDocument, schema: Schema, within: Resource | null, path: Path): Open {
  if (path.length > SCHEMA_DEPTH_MAXIMUM) {
    throw new SchemaRefusal(path, `schemas are nested deeper than ${SCHEMA_DEPTH_MAXIMUM}`);
  }
  document.spend(1);
  const resource = within !== null && !hasIdentity(schema)
    ? within
    : newResource(document, known, schema, within, path);
  if (typeof schema === "boolean") return { resource, path, inner: [].values() };
  document.places.set(schema, { resource, path });
  for (const [keyword, why] of REFUSED_KEYWORDS) {
    if (Object.hasOwn(schema, keyword)) throw new SchemaRefusal([...path, keyword], why);
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
  const uri = typeof id === "string" ? resolveUri(id, within?.uri ?? UNNAMED)?.document : UNNAMED;
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

/** The schemas that stand directly in a schema, each with the way to it. */
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

/** What a reference leads to, and by which anchor. */
export interface ResolvedReference {
  readonly resource: Resource;
  readonly schema: Schema;
  readonly anchor: string | null;
}

/** What a reference that stands in a resource leads to; null where that is no schema of the document or the metaschema. */
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

/** What a JSON Pointer (RFC 6901) leads to from a schema, if it is a schema. */
export function atPointer(root: Schema, pointer: string): Schema | undefined {
  const tokens = pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: JsonValue | undefined = root;
  while (tokens.length > 0 && isJsonObject(at)) at = step(at, tokens);
  return tokens.length === 0 && isSchema(at) ? at : undefined;
}

/** The value that a keyword's tokens lead to, taken off the list; undefined where they name no place of a schema. */
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
