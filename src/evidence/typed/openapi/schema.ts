/**
 * Converts the schemas of an OpenAPI document to JSON Schema 2020-12. Each schema that a reference names is converted
 * once, and becomes a definition of the schemas that use it. So recursive schemas need no unrolling.
 */

import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  member,
} from "../../../canonical/json.ts";
import { areSorted, sortNames } from "../../../canonical/members.ts";
import { below, type JsonPath, stepsTo } from "../../../canonical/path.ts";
import { utf8Length } from "../../../canonical/utf8.ts";
import { compileSearch } from "../../regular_expression/search.ts";
import { IMPORT_LIMITS } from "../import_result.ts";
import { CandidateFault, faultAt, followReference, type Found, type OpenApiDocument, pointerAt } from "./document.ts";
import { ASSERTION_FORMS, SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS, UNSUPPORTED_KEYWORDS } from "./schema_keywords.ts";

/**
 * Containers between a schema and its outermost one. The readers of contracts and of schemas accept 64. The contract, a
 * definition, the limits of a parameter and a listed value take some of them.
 */
const DEPTH_MAXIMUM = 50;
/** Containers of a value that `enum` or `const` lists. */
const VALUE_DEPTH_MAXIMUM = 4;
/** Characters of the name of a definition, percent-encoded. */
const NAME_CHARACTERS = 1024;
/** Definitions of one schema. */
const DEFINITIONS_MAXIMUM = 1024;
/** Closures that are kept, each with at most {@link DEFINITIONS_MAXIMUM} entries. */
const CLOSURES_MAXIMUM = 1000;
/** Work that the compilation of one pattern may take, and of all patterns of one schema. */
const PATTERN_STEPS = 20_000;
const ALL_PATTERN_STEPS = 100_000;

/** Who sends a value of the schema: properties of the other side are not required. */
export type Direction = "request" | "response";

/** A converted schema, and what it refers to. */
interface Definition {
  readonly schema: JsonValue;
  /** Canonical bytes, without the definitions that it refers to. */
  readonly bytes: number;
  /** Names of the definitions that it refers to. */
  readonly uses: ReadonlySet<string>;
  /** Those of them that it applies to the same value, not to a part of it. */
  readonly usesInPlace: ReadonlySet<string>;
}

/** The converted schemas of a document for one direction. */
export interface SchemaConverter {
  readonly document: OpenApiDocument;
  readonly direction: Direction;
  /** Definitions by name, or why one cannot be converted. */
  readonly definitions: Map<string, Definition | CandidateFault>;
  /** The name of each target of a reference. */
  readonly names: Map<Found, TargetName>;
  /** Where the definition of a name stands in the document. */
  readonly places: Map<string, Found>;
  /** Definitions from which no chain of references in place leads back. */
  readonly acyclic: Set<string>;
  /** Everything that a definition leads to, itself included: many operations have the same result. */
  readonly closures: Map<string, Closure>;
  /** Finished schemas by the definition that they are, or why one cannot be converted. */
  readonly finished: Map<string, JsonValue | CandidateFault>;
  /** Finished schemas by the converted schema: an operation is read, and later its check is made. */
  readonly finishedSchemas: WeakMap<JsonObject, JsonValue | CandidateFault>;
  /** At least the bytes of each finished schema. */
  readonly sizes: WeakMap<JsonObject, number>;
  /** The work that the compilation of each pattern takes; null for one that is refused. */
  readonly patterns: Map<string, number | null>;
}

interface TargetName {
  readonly name: string;
  /** The reference to it. */
  readonly text: string;
}

type Closure = ReadonlyMap<string, Definition>;

/** A schema while it is converted. */
interface Conversion {
  readonly converter: SchemaConverter;
  readonly uses: Set<string>;
  readonly usesInPlace: Set<string>;
}

/** Where a schema stands, and whether it applies to the same value as the outermost one. */
interface Position {
  readonly path: JsonPath;
  readonly depth: number;
  readonly isInPlace: boolean;
}

/** Creates a converter without definitions. */
export function createSchemaConverter(document: OpenApiDocument, direction: Direction): SchemaConverter {
  return {
    document,
    direction,
    definitions: new Map(),
    names: new Map(),
    places: new Map(),
    acyclic: new Set(),
    closures: new Map(),
    finished: new Map(),
    finishedSchemas: new WeakMap(),
    sizes: new WeakMap(),
    patterns: new Map(),
  };
}

/**
 * Converts a schema and every definition that it refers to. References stay references until {@link finishSchema}.
 *
 * @throws {CandidateFault} Where it cannot be converted within the limits
 */
export function convertSchema(converter: SchemaConverter, given: Found): JsonValue {
  const conversion: Conversion = { converter, uses: new Set(), usesInPlace: new Set() };
  const schema = convert(conversion, given.value, { path: given.path, depth: 0, isInPlace: true });
  closureOf(converter, conversion.uses, given.path);
  return schema;
}

/**
 * A schema of a contract: not a reference, because comparators and bindings read the type of the schema itself, and
 * with its definitions in `$defs`.
 *
 * @param schema A converted schema, or a part of one
 * @param path Its path, for reasons
 * @throws {CandidateFault} Where it is too large
 */
export function finishSchema(converter: SchemaConverter, schema: JsonValue, path: JsonPath): JsonValue {
  const name = onlyReference(schema);
  const known = name !== null
    ? converter.finished.get(name)
    : isJsonObject(schema)
    ? converter.finishedSchemas.get(schema)
    : schema;
  const finished = known ?? attempt(() => withDefinitions(converter, targetOf(converter, schema), path));
  if (name !== null) converter.finished.set(name, finished);
  else if (isJsonObject(schema)) converter.finishedSchemas.set(schema, finished);
  if (finished instanceof CandidateFault) throw finished;
  return finished;
}

function attempt<T>(make: () => T): T | CandidateFault {
  try {
    return make();
  } catch (error) {
    if (error instanceof CandidateFault) return error;
    throw error;
  }
}

function withDefinitions(converter: SchemaConverter, schema: JsonValue, path: JsonPath): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const used = closureOf(converter, referencesIn(schema), path);
  let bytes = byteLength(schema);
  for (const definition of used.values()) bytes += definition.bytes;
  if (bytes > IMPORT_LIMITS.schemaBytes) {
    throw faultAt("schema_too_large", path, `${bytes} bytes; the most are ${IMPORT_LIMITS.schemaBytes}`);
  }
  const names = [...used.keys()].sort();
  const definitions = names.map((name) => [name, used.get(name)?.schema ?? true] as const);
  const finished = names.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
  const most = names.reduce((sum, name) => sum + NAME_UNIT_BYTES * name.length + NAME_BYTES, bytes + NAME_BYTES);
  converter.sizes.set(finished, most);
  return finished;
}

/** At most so many bytes of JSON for each UTF-16 unit of a name, as an escape, and for what stands around the name. */
const NAME_UNIT_BYTES = 6;
const NAME_BYTES = 16;

/** At least the bytes of a finished schema in JSON. */
export function sizeBound(converter: SchemaConverter, schema: JsonValue): number {
  return (isJsonObject(schema) ? converter.sizes.get(schema) : undefined) ?? byteLength(schema);
}

/** The schema at the end of the references of a schema that has nothing beside them. */
export function targetOf(converter: SchemaConverter, given: JsonValue): JsonValue {
  let schema = given;
  for (;;) {
    const name = onlyReference(schema);
    if (name === null) return schema;
    schema = definitionOf(converter, name).schema;
  }
}

/** The definition that a schema is, where it has nothing beside the reference. */
function onlyReference(schema: JsonValue): string | null {
  return isJsonObject(schema) && Object.keys(schema).length === 1 ? nameOfReference(schema) : null;
}

/** The schema that a converted `$ref` names; undefined for a schema without one. */
export function referencedBy(converter: SchemaConverter, schema: JsonObject): JsonValue | undefined {
  const name = nameOfReference(schema);
  return name === null ? undefined : definitionOf(converter, name).schema;
}

/** The definition that a converted `$ref` names; null for a schema without one. */
function nameOfReference(schema: JsonObject): string | null {
  const reference = member(schema, "$ref");
  if (typeof reference !== "string") return null;
  const token = decodeURIComponent(reference.slice(PREFIX.length));
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

const PREFIX = "#/$defs/";

/** A component has its own name, every other target its pointer; the two differ by the first character. */
function definitionName(path: JsonPath): string {
  const steps = stepsTo(path);
  const [first, second, name] = steps;
  const isComponent = steps.length === 3 && first === "components" && second === "schemas";
  const text = isComponent && /^[\w.-]+$/.test(String(name)) ? String(name) : `#${pointerAt(path)}`;
  return text.toWellFormed();
}

function byteLength(schema: JsonValue): number {
  return utf8Length(JSON.stringify(schema));
}

/** Every definition that the names lead to, converted; the first fault of one of them is that of the schema. */
function closureOf(converter: SchemaConverter, names: ReadonlySet<string>, path: JsonPath): Closure {
  const only = names.size === 1 ? [...names][0] : undefined;
  const known = only === undefined ? undefined : converter.closures.get(only);
  if (known !== undefined) return known;
  const used = new Map<string, Definition>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue;
    if (used.size >= DEFINITIONS_MAXIMUM) {
      throw faultAt("schema_too_large", path, `more than ${DEFINITIONS_MAXIMUM} parts`);
    }
    const definition = definitionOf(converter, name);
    converter.document.spend(1 + definition.uses.size);
    used.set(name, definition);
    for (const next of definition.uses) if (!used.has(next)) waiting.push(next);
  }
  for (const name of used.keys()) refuseCycle(converter, name);
  if (only !== undefined && converter.closures.size < CLOSURES_MAXIMUM) converter.closures.set(only, used);
  return used;
}

function definitionOf(converter: SchemaConverter, name: string): Definition {
  const known = converter.definitions.get(name);
  const definition = known ?? makeDefinition(converter, name);
  if (known === undefined) converter.definitions.set(name, definition);
  if (definition instanceof CandidateFault) throw definition;
  return definition;
}

function makeDefinition(converter: SchemaConverter, name: string): Definition | CandidateFault {
  const place = converter.places.get(name);
  if (place === undefined) throw new Error(`Cannot convert definition "${name}": it has no place`);
  const conversion: Conversion = { converter, uses: new Set(), usesInPlace: new Set() };
  return attempt(() => {
    const schema = convert(conversion, place.value, { path: place.path, depth: 2, isInPlace: true });
    const { uses, usesInPlace } = conversion;
    return { schema, bytes: byteLength(schema) + name.length, uses, usesInPlace };
  });
}

/** Refuses references that apply a schema to the same value again: no value would ever be judged. */
function refuseCycle(converter: SchemaConverter, name: string): void {
  const { acyclic } = converter;
  const open = new Set<string>();
  const stack: { readonly name: string; readonly inner: Iterator<string> }[] = [];
  const enter = (next: string): void => {
    if (acyclic.has(next)) return;
    const definition = definitionOf(converter, next);
    if (open.has(next)) throw faultAt("reference_cycle", converter.places.get(next)?.path ?? null);
    open.add(next);
    stack.push({ name: next, inner: definition.usesInPlace.values() });
  };
  enter(name);
  for (let last = stack.at(-1); last !== undefined; last = stack.at(-1)) {
    converter.document.spend(1);
    const next = last.inner.next();
    if (next.done !== true) {
      enter(next.value);
      continue;
    }
    stack.pop();
    open.delete(last.name);
    acyclic.add(last.name);
  }
}

function referencesIn(schema: JsonValue): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting: JsonValue[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!isJsonObject(next)) continue;
    const name = nameOfReference(next);
    if (name !== null) found.add(name);
    for (const [keyword, inner] of Object.entries(next)) {
      if (SINGLE_SCHEMAS.has(keyword)) waiting.push(inner);
      else if (SCHEMA_LISTS.has(keyword)) { for (const one of inner as JsonArray) waiting.push(one); }
      else if (SCHEMA_MAPS.has(keyword)) { for (const one of Object.values(inner as JsonObject)) waiting.push(one); }
    }
  }
  return found;
}

const APPLICATORS = new Set([...SINGLE_SCHEMAS.keys(), ...SCHEMA_LISTS.keys(), ...SCHEMA_MAPS.keys()]);

/** Converts one schema and its parts. */
function convert(conversion: Conversion, schema: JsonValue, position: Position): JsonValue {
  const { document } = conversion.converter;
  document.spend(1);
  if (position.depth > DEPTH_MAXIMUM) throw faultAt("schema_too_deep", position.path);
  if (typeof schema === "boolean") return schema;
  if (!isJsonObject(schema)) throw faultAt("schema_invalid", position.path, "Expected an object");
  for (const keyword of UNSUPPORTED_KEYWORDS) {
    if (Object.hasOwn(schema, keyword)) throw faultAt("schema_keyword", below(position.path, keyword), keyword);
  }
  const members: Members = {};
  const reference = member(schema, "$ref");
  if (reference !== undefined) members["$ref"] = convertReference(conversion, reference, position);
  // In 3.0 the members beside a reference have no meaning.
  if (reference === undefined || !document.isVersion30) convertKeywords(conversion, schema, position, members);
  const inner = withoutWrapper(members);
  return member(schema, "nullable") === true ? withNull(inner) : inner;
}

/** The keywords of a converted schema: names of the tables of keywords alone. */
type Members = Record<string, JsonValue>;

/** A schema without keywords accepts everything, and `allOf` of one schema alone is that schema. */
function withoutWrapper(members: Members): JsonValue {
  const names = Object.keys(members);
  if (names.length === 0) return true;
  const { allOf: all } = members;
  return names.length === 1 && isJsonArray(all) && all.length === 1 ? all[0] ?? true : members;
}

/** The name of a definition and the reference to it, once for each target. */
function nameOfTarget({ names }: SchemaConverter, target: Found): TargetName {
  const known = names.get(target);
  if (known !== undefined) return known;
  const name = definitionName(target.path);
  const made = { name, text: PREFIX + encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")) };
  names.set(target, made);
  return made;
}

function convertReference(conversion: Conversion, reference: JsonValue, position: Position): string {
  const { converter } = conversion;
  const target = followReference(converter.document, reference, below(position.path, "$ref"));
  const { name, text } = nameOfTarget(converter, target);
  if (text.length > NAME_CHARACTERS) throw faultAt("schema_invalid", position.path, "The reference is too long");
  converter.places.set(name, target);
  conversion.uses.add(name);
  if (position.isInPlace) conversion.usesInPlace.add(name);
  return text;
}

function convertKeywords(
  conversion: Conversion,
  schema: JsonObject,
  position: Position,
  members: Members,
): void {
  for (const keyword of sortedNames(schema)) {
    const value = schema[keyword] ?? null;
    const isValid = ASSERTION_FORMS.get(keyword);
    if (isValid !== undefined) setAssertion(conversion, members, { keyword, value, isValid, schema, position });
    else convertApplicator(conversion, members, keyword, value, position);
  }
}

/** The names in order, so that the first fault does not depend on their order in the document. */
function sortedNames(object: JsonObject): readonly string[] {
  const names = Object.keys(object);
  if (!areSorted(names)) sortNames(names);
  return names;
}

interface GivenAssertion {
  readonly keyword: string;
  readonly value: JsonValue;
  readonly isValid: (value: JsonValue) => boolean;
  readonly schema: JsonObject;
  readonly position: Position;
}

function setAssertion(conversion: Conversion, members: Members, given: GivenAssertion): void {
  const { keyword, value, schema, position } = given;
  if (keyword === "exclusiveMinimum" || keyword === "exclusiveMaximum") {
    if (value === false) return;
    const limit = member(schema, keyword === "exclusiveMinimum" ? "minimum" : "maximum");
    // OpenAPI 3.0: a flag beside the limit.
    if (value === true && typeof limit === "number") return void (members[keyword] = limit);
  }
  if (keyword === "required" && isJsonArray(value)) return setRequired(conversion, members, value, given);
  if ((keyword === "enum" || keyword === "const") && isDeeper(value, VALUE_DEPTH_MAXIMUM)) {
    throw faultAt("schema_too_deep", below(position.path, keyword));
  }
  const isKept = given.isValid(value) && (keyword !== "pattern" || isPattern(conversion, String(value)));
  if (isKept) members[keyword] = value;
  else ignoreKeyword(conversion, below(position.path, keyword), keyword);
}

function ignoreKeyword(conversion: Conversion, path: JsonPath, keyword: string): void {
  const message = `The keyword "${keyword}" was left out: its value cannot be enforced`;
  conversion.converter.document.warnings.warn("keyword_ignored", pointerAt(path), message);
}

function isPattern({ converter }: Conversion, pattern: string): boolean {
  const known = converter.patterns.get(pattern);
  const steps = known === undefined ? patternSteps(converter, pattern) : known;
  if (known === undefined) converter.patterns.set(pattern, steps);
  return steps !== null;
}

function patternSteps({ document }: SchemaConverter, pattern: string): number | null {
  let taken = 0;
  try {
    compileSearch(pattern, (steps) => {
      document.spend(steps);
      if ((taken += steps) > PATTERN_STEPS) throw new SyntaxError("the pattern is too large");
    });
    return taken;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Whether all patterns together could be too large for one schema. */
export function patternsAreLarge({ patterns }: SchemaConverter): boolean {
  let all = 0;
  for (const steps of patterns.values()) all += steps ?? 0;
  return all > ALL_PATTERN_STEPS;
}

/** Whether containers are nested deeper than the limit. */
export function isDeeper(value: JsonValue, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  return Object.values(value).some((inner: JsonValue) => isDeeper(inner, limit - 1));
}

/** Names once each, without those that only the other side sends. */
function setRequired(
  conversion: Conversion,
  members: Members,
  value: JsonArray,
  { schema, position }: GivenAssertion,
): void {
  const names = new Set(value.filter((name): name is string => typeof name === "string"));
  if (names.size < value.length) ignoreKeyword(conversion, below(position.path, "required"), "required");
  const properties = member(schema, "properties");
  const other = conversion.converter.direction === "response" ? "writeOnly" : "readOnly";
  const kept = [...names].filter((name) => {
    const property = isJsonObject(properties) ? member(properties, name) : undefined;
    return !(isJsonObject(property) && member(property, other) === true);
  });
  if (kept.length > 0) members["required"] = kept;
}

function convertApplicator(
  conversion: Conversion,
  members: Members,
  keyword: string,
  value: JsonValue,
  { path, depth, isInPlace }: Position,
): void {
  // Most other keywords are annotations.
  if (!APPLICATORS.has(keyword)) return;
  const at = below(path, keyword);
  const inside = (flag: boolean): boolean => flag && isInPlace;
  const single = SINGLE_SCHEMAS.get(keyword);
  if (single !== undefined) {
    const position = { path: at, depth: depth + 1, isInPlace: inside(single) };
    return void (members[keyword] = convert(conversion, value, position));
  }
  const list = SCHEMA_LISTS.get(keyword);
  if (list !== undefined) {
    if (!isJsonArray(value) || value.length === 0) return ignoreKeyword(conversion, at, keyword);
    const convertOne = (one: JsonValue, index: number): JsonValue =>
      convert(conversion, one, { path: below(at, index), depth: depth + 2, isInPlace: inside(list) });
    return void (members[keyword] = value.map(convertOne));
  }
  const map = SCHEMA_MAPS.get(keyword);
  if (map === undefined) return;
  if (!isJsonObject(value)) return ignoreKeyword(conversion, at, keyword);
  const names = sortedNames(value).filter((name) => keyword !== "patternProperties" || isPattern(conversion, name));
  const convertEntry = (name: string): readonly [string, JsonValue] => [
    name,
    convert(conversion, value[name] ?? null, { path: below(at, name), depth: depth + 2, isInPlace: inside(map) }),
  ];
  // Object.fromEntries defines members, so `__proto__` is an ordinary name.
  members[keyword] = Object.fromEntries(names.map(convertEntry));
}

/** The schema, which accepts null too. */
function withNull(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return true;
  const type = member(schema, "type");
  const values = member(schema, "enum");
  const isSimple = !["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"].some((name) =>
    Object.hasOwn(schema, name)
  );
  if (!isSimple || type === undefined) return { anyOf: [schema, { type: "null" }] };
  const types = isJsonArray(type) ? type : [type];
  const nullable: JsonObject = types.includes("null") ? schema : { ...schema, type: [...types, "null"] };
  if (!isJsonArray(values) || values.includes(null)) return nullable;
  return { ...nullable, enum: [...values, null] };
}
