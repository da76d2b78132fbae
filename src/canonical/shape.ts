/**
 * Shapes of JSON: closed objects, bounded arrays, integers and texts. One shape yields the type in the code ({@link
 * Read}), the reader with its faults, and the JSON Schema ({@link schemaOf}).
 *
 * A reader returns the value that it accepts. Otherwise it adds a fault with the path of the value to a sink and
 * returns undefined. The sink decides the mode and the wording: it collects every fault, keeps the first one ({@link
 * readFirst}), or drops them all ({@link matches}).
 */

import type { ContentHash } from "./identity.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue, member } from "./json.ts";
import { below, type JsonPath } from "./path.ts";
import { utf8Length } from "./utf8.ts";

/** What is wrong with one value; a sink puts it into words. */
export type ShapeFault =
  | { readonly kind: "type"; readonly expected: string; readonly value: JsonValue }
  /** The value may have the type that is expected, yet not the form. */
  | { readonly kind: "form"; readonly expected: string; readonly value: JsonValue }
  | { readonly kind: "object"; readonly required: readonly string[]; readonly value: JsonValue }
  /** `known` are the values that it may have, where a member selects a shape. */
  | { readonly kind: "missing"; readonly name: string; readonly known?: readonly string[] }
  | { readonly kind: "unknown"; readonly name: string; readonly known: readonly string[] }
  /** With `text` the items are characters, counted as code points. */
  | {
    readonly kind: "items";
    readonly minimum: number;
    readonly maximum: number;
    readonly count: number;
    readonly text?: string;
  }
  | { readonly kind: "integer"; readonly minimum: number; readonly maximum: number; readonly value: JsonValue }
  | { readonly kind: "bytes"; readonly minimum: number; readonly maximum: number; readonly bytes: number }
  | { readonly kind: "duplicate"; readonly value: string; readonly earlier: number }
  | { readonly kind: "choice"; readonly known: readonly JsonPrimitive[]; readonly value: JsonValue };

/** Receives faults. The path of a missing or unknown member is the path of its object. */
export interface FaultSink {
  readonly add: (fault: ShapeFault, path: JsonPath) => void;
}

/** Reads one value at its path; returns undefined after it added a fault. */
export interface Reader<out T, in Sink extends FaultSink = FaultSink> {
  (faults: Sink, value: JsonValue, path: JsonPath): T | undefined;
  /** The JSON Schema of what it accepts; a reader without one cannot be published. */
  readonly schema?: (publisher: Publisher) => JsonValue;
  /** The value of an absent member of a table, undefined to leave it out; a reader without it requires its member. */
  readonly absent?: (faults: Sink, path: JsonPath) => T | undefined;
  /** What a reader around another one adds to the JSON Schema of that one. */
  readonly around?: JsonObject;
}

/** Writes the JSON Schemas of shapes. */
export interface Publisher {
  /** Whether schemas have the bounds of integers and arrays. Those of results of tools have none. */
  readonly isBounded: boolean;
  readonly of: (shape: Published) => JsonValue;
  /** A reference to a shape that is published once, under a name. */
  readonly refer: (name: string, shape: Published) => JsonObject;
}

/** Anything with a JSON Schema. */
export interface Published {
  readonly schema?: (publisher: Publisher) => JsonValue;
}

/** A reader with its JSON Schema. */
export function shape<T, Sink extends FaultSink>(
  read: (faults: Sink, value: JsonValue, path: JsonPath) => T | undefined,
  schema: (publisher: Publisher) => JsonValue,
  more: Pick<Reader<T, Sink>, "absent" | "around"> = {},
): Reader<T, Sink> {
  return Object.assign(read, { schema }, more);
}

/**
 * The JSON Schema of a shape, and those of the named shapes in it, by name.
 *
 * @throws {RangeError} If a reader in it has no schema
 */
export function schemaOf(
  shape: Published,
  isBounded: boolean,
): { schema: JsonValue; named: Record<string, JsonValue> } {
  const named: Record<string, JsonValue> = {};
  const of = (one: Published): JsonValue => ownSchema(one, publisher);
  const publisher: Publisher = {
    isBounded,
    of,
    refer(name, one): JsonObject {
      if (!Object.hasOwn(named, name)) {
        // A shape may refer to itself.
        named[name] = {};
        named[name] = of(one);
      }
      return { $ref: `#/$defs/${name}` };
    },
  };
  return { schema: of(shape), named };
}

/**
 * Names a new shape: JSON Schemas refer to it as `#/$defs/name`. It stays the same function, since records are read by
 * the thousand.
 */
export function named<S extends Published>(name: string, read: S): S {
  const own = { ...read.schema === undefined ? {} : { schema: read.schema } };
  return Object.assign(read, { schema: ({ refer }: Publisher): JsonObject => refer(name, own) });
}

/** A shape with further members in its JSON Schema. They belong to the same schema, whatever a publisher does to it. */
export function annotated<R extends Reader<unknown, never>>(read: R, members: JsonObject): R {
  const schema = (publisher: Publisher): JsonValue => ({ ...without(ownSchema(read, publisher), members), ...members });
  const around = read.around !== undefined && { around: { ...read.around, ...members } };
  return Object.assign(read.bind(null), read, { schema }, around) as R;
}

/** The members of an object whose names another one has not. */
export function without(object: JsonObject, names: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !Object.hasOwn(names, name)));
}

/** The JSON Schema of a shape by itself, before the publisher changes it. */
export function ownSchema({ schema }: Published, publisher: Publisher): JsonObject {
  if (schema === undefined) throw new RangeError("Cannot publish shape: a reader in it has no schema");
  return schema(publisher) as JsonObject;
}

/** Drops every fault. Readers build no paths for it and stop at the first fault: packs are checked record by record. */
const SILENT: FaultSink = { add: () => {} };

/** Checks whether a reader accepts a value. */
export function matches<T>(read: Reader<T>, value: JsonValue | undefined): value is JsonValue & T {
  return value !== undefined && read(SILENT, value, null) !== undefined;
}

/** The value that a reader returns, with its defaults; undefined for one that it does not accept. */
export function readSilently<T>(read: Reader<T>, value: JsonValue): T | undefined {
  return read(SILENT, value, null);
}

/** The value, if a reader accepts it, else null. */
export function accepted<T>(read: Reader<T>, value: JsonValue | undefined): T | null {
  return matches(read, value) ? value : null;
}

/** The value that a reader accepts, or its first fault. */
export function readFirst<T>(
  read: Reader<T>,
  value: JsonValue,
): { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly fault: ShapeFault;
  readonly path: JsonPath;
} {
  const faults: { readonly fault: ShapeFault; readonly path: JsonPath }[] = [];
  const add: FaultSink["add"] = (fault, path) => {
    if (faults.length === 0) faults.push({ fault, path });
  };
  const accepted = read({ add }, value, null);
  const [first] = faults;
  if (first !== undefined) return { ok: false, ...first };
  if (accepted === undefined) throw new Error("Cannot read shape: a reader rejected the value without a fault");
  return { ok: true, value: accepted };
}

/** An object with no members but the ones named; adds a fault for each unknown and each missing one. */
export function readObject(
  faults: FaultSink,
  value: JsonValue,
  path: JsonPath,
  required: readonly string[],
  optional: readonly string[] = [],
): JsonObject | undefined {
  if (!isJsonObject(value)) return reject(faults, { kind: "object", required, value }, path);
  const known = [...required, ...optional];
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) faults.add({ kind: "unknown", name, known }, path);
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) faults.add({ kind: "missing", name }, path);
  }
  return value;
}

/** A member of an object that {@link readObject} has checked; undefined, without another fault, where it is absent. */
export function readMember<T, Sink extends FaultSink>(
  faults: Sink,
  object: JsonObject,
  path: JsonPath,
  name: string,
  read: Reader<T, Sink>,
): T | undefined {
  const value = member(object, name);
  return value === undefined ? undefined : read(faults, value, below(path, name));
}

/** How many items an array may hold. */
export interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** The items of an array within bounds, each as it was read; undefined for any other value. */
export function readArray<T, Sink extends FaultSink>(
  faults: Sink,
  value: JsonValue,
  path: JsonPath,
  { minimum, maximum }: Bounds,
  read: (faults: Sink, value: JsonValue, path: JsonPath) => T,
): T[] | undefined {
  if (!isJsonArray(value)) return reject(faults, { kind: "type", expected: "an array", value }, path);
  const count = value.length;
  if (count < minimum || count > maximum) return reject(faults, { kind: "items", minimum, maximum, count }, path);
  return value.map((item, index) => read(faults, item, below(path, index)));
}

/** An array whose items are all accepted. */
export function readWholeArray<T, Sink extends FaultSink>(
  faults: Sink,
  value: JsonValue,
  path: JsonPath,
  bounds: Bounds,
  read: Reader<T, Sink>,
): T[] | undefined {
  const items = readArray<T | undefined, Sink>(faults, value, path, bounds, read);
  if (items === undefined) return undefined;
  const whole = items.filter((item): item is T => item !== undefined);
  return whole.length === items.length ? whole : undefined;
}

/** Adds a fault. */
export function reject(faults: FaultSink, fault: ShapeFault, path: JsonPath): undefined {
  faults.add(fault, path);
  return undefined;
}

/** The path of a member or an item, where the faults have paths. */
export function inside(faults: FaultSink, path: JsonPath, step: string | number): JsonPath {
  return faults === SILENT ? null : below(path, step);
}

type Readers = Readonly<Record<string, Reader<unknown>>>;
/** The value that a reader gives. */
export type Read<R> = R extends Reader<infer T> ? T : never;
/** The value of a closed object: its required and its optional members. */
export type Closed<R extends Readers, O extends Readers> =
  & { readonly [Name in keyof R]: Read<R[Name]> }
  & { readonly [Name in keyof O]?: Read<O[Name]> };

/**
 * An object with exactly the required members, and any of the optional ones. The value itself is returned. A shape
 * names no member that every object inherits, so an absent one reads as undefined.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { closed, integer, matches } from "@/canonical/shape.ts";
 *
 * const point = closed({ x: integer(0), y: integer(0) });
 * assert.ok(matches(point, { x: 1, y: 2 }));
 * assert.ok(!matches(point, { x: 1, y: 2, z: 3 }));
 * ```
 */
export function closed<R extends Readers, O extends Readers = Record<never, never>>(
  required: R,
  optional?: O,
): Reader<Closed<R, O>> {
  const needed = Object.entries<Reader<unknown>>(required);
  const allowed = Object.entries<Reader<unknown>>(optional ?? {});
  const neededNames = Object.keys(required);
  const allowedNames = Object.keys(optional ?? {});
  return shape<Closed<R, O>, FaultSink>((faults, value, path) => {
    const silent = faults === SILENT;
    if (!silent) readObject(faults, value, path, neededNames, allowedNames);
    if (!isJsonObject(value)) return undefined;
    let count = needed.length;
    let whole = true;
    for (const [name, read] of needed) {
      const given = value[name];
      if (given !== undefined && read(faults, given, inside(faults, path, name)) !== undefined) continue;
      if (silent) return undefined;
      whole = false;
    }
    for (const [name, read] of allowed) {
      const given = value[name];
      if (given === undefined) continue;
      count++;
      if (read(faults, given, inside(faults, path, name)) !== undefined) continue;
      if (silent) return undefined;
      whole = false;
    }
    // As many members as were read: each one is known.
    for (const _ in value) count--;
    return whole && count === 0 ? value as JsonValue & Closed<R, O> : undefined;
  }, closedSchema(neededNames, [...needed, ...allowed]));
}

/** The JSON Schema of a closed object. */
export function closedSchema(
  required: readonly string[],
  members: readonly (readonly [name: string, shape: Published])[],
): (publisher: Publisher) => JsonObject {
  return ({ of }) => ({
    type: "object",
    properties: Object.fromEntries(members.map(([name, read]) => [name, of(read)])),
    required,
    additionalProperties: false,
  });
}

/** An object whose member `name` selects one of several shapes. One shape may have several names. */
export function variant<S extends Readers>(name: string, shapes: S): Reader<Read<S[keyof S]>> {
  const known = Object.keys(shapes);
  return shape<Read<S[keyof S]>, FaultSink>(
    (faults, value, path) => {
      if (!isJsonObject(value)) return reject(faults, { kind: "object", required: [name], value }, path);
      const kind = member(value, name);
      if (kind === undefined) return reject(faults, { kind: "missing", name, known }, path);
      const read = typeof kind === "string" && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
      if (read !== undefined) return read(faults, value, path) as Read<S[keyof S]> | undefined;
      return reject(faults, { kind: "choice", known, value: kind }, inside(faults, path, name));
    },
    ({ of, isBounded }) => ({ ...isBounded && { type: "object" }, oneOf: [...new Set(Object.values(shapes))].map(of) }),
  );
}

/** An array whose items have one shape, from `minimum` to `maximum` of them. */
export function listOf<T>(
  item: Reader<T>,
  maximum: number = Number.MAX_SAFE_INTEGER,
  minimum = 0,
): Reader<readonly T[]> {
  return shape<readonly T[], FaultSink>((faults, value, path) => {
    if (faults !== SILENT) return readWholeArray(faults, value, path, { minimum, maximum }, item);
    if (!isJsonArray(value) || value.length < minimum || value.length > maximum) return undefined;
    // Most items are returned as they are, and then so is the array.
    let changed: T[] | undefined;
    for (const [index, given] of value.entries()) {
      const one = item(faults, given, null);
      if (one === undefined) return undefined;
      if (changed === undefined && one !== given) changed = value.slice(0, index) as (JsonValue & T)[];
      changed?.push(one);
    }
    return changed ?? value as readonly (JsonValue & T)[];
  }, ({ of, isBounded }) => ({
    type: "array",
    items: of(item),
    ...isBounded && minimum > 0 && { minItems: minimum },
    ...isBounded && maximum < Number.MAX_SAFE_INTEGER && { maxItems: maximum },
  }));
}

/** An array of distinct strings, from `minimum` to `maximum` of them. */
export function setOf<T extends string, Sink extends FaultSink>(
  item: Reader<T, Sink>,
  maximum: number,
  minimum = 0,
): Reader<readonly T[], Sink> {
  return shape<readonly T[], Sink>((faults, value, path) => {
    const first = new Map<string, number>();
    let index = 0;
    return readWholeArray<T, Sink>(faults, value, path, { minimum, maximum }, (_, one, at) => {
      const text = item(faults, one, at);
      const earlier = first.get(text ?? "");
      if (text !== undefined && earlier !== undefined) {
        return reject(faults, { kind: "duplicate", value: text, earlier }, at);
      }
      if (text !== undefined) first.set(text, index);
      index++;
      return text;
    });
  }, ({ of }) => ({
    type: "array",
    items: of(item),
    ...minimum > 0 && { minItems: minimum },
    maxItems: maximum,
    uniqueItems: true,
  }));
}

/** One of several values. */
export function oneOf<const T extends JsonPrimitive>(...known: readonly T[]): Reader<T> {
  return shape(
    (faults, value, path) =>
      known.includes(value as T) ? value as T : reject(faults, { kind: "choice", known, value }, path),
    () => known.length === 1 ? { const: known[0] ?? null } : { enum: known },
  );
}

/** A value that the reader accepts, or null. */
export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return shape<T | null, FaultSink>(
    (faults, value, path) => value === null ? null : read(faults, value, path),
    ({ of, isBounded }) => {
      const inner = of(read) as JsonObject;
      if (isBounded) return { anyOf: [inner, { type: "null" }] };
      const { type } = inner;
      const isBare = typeof type === "string" && Object.keys(inner).length === 1;
      return isBare ? { type: [type, "null"] } : { oneOf: [inner, { type: "null" }] };
    },
    { around: {} },
  );
}

/** An integer within bounds, both included. */
export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  return shape(
    (faults, value, path) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= minimum && value <= maximum
        ? value
        : reject(faults, { kind: "integer", minimum, maximum, value }, path),
    ({ isBounded }) => ({ type: "integer", ...isBounded && { minimum, maximum } }),
  );
}

/** An integer within 2^53-1. */
export const anyInteger: Reader<number> = integer(Number.MIN_SAFE_INTEGER);

/** A string. */
export const text: Reader<string> = shape(
  (faults, value, path) =>
    typeof value === "string" ? value : reject(faults, { kind: "type", expected: "a string", value }, path),
  () => ({ type: "string" }),
);

/** A string of `minimum` to `maximum` UTF-8 bytes. Its JSON Schema counts characters, of which there are not more. */
export function boundedText(minimum: number, maximum: number): Reader<string> {
  return shape((faults, value, path) => {
    const given = text(faults, value, path);
    if (given === undefined) return undefined;
    const bytes = utf8Length(given);
    if (bytes >= minimum && bytes <= maximum) return given;
    return reject(faults, { kind: "bytes", minimum, maximum, bytes }, path);
  }, () => ({ type: "string", ...minimum > 0 && { minLength: minimum }, maxLength: maximum }));
}

/** True or false. */
export const boolean: Reader<boolean> = shape(
  (faults, value, path) =>
    typeof value === "boolean" ? value : reject(faults, { kind: "type", expected: "a boolean", value }, path),
  () => ({ type: "boolean" }),
);

/** Any object. */
export const object: Reader<JsonObject> = shape(
  (faults, value, path) => isJsonObject(value) ? value : reject(faults, { kind: "object", required: [], value }, path),
  () => ({ type: "object" }),
);

/** Any value. */
export const anything: Reader<JsonValue> = shape(
  (faults, value, path) =>
    value === undefined ? reject(faults, { kind: "type", expected: "any JSON value", value }, path) : value,
  ({ isBounded }) => isBounded ? true : {},
);

/** A part of a published shape that nothing reads, as its JSON Schema. */
export function published(schema: JsonObject | ((publisher: Publisher) => JsonObject)): Reader<JsonValue> {
  return shape((_, value) => value, typeof schema === "function" ? schema : () => schema);
}

/** A value that one of several readers accepts. */
export function anyOf<R extends readonly Reader<unknown>[]>(...readers: R): Reader<Read<R[number]>> {
  return shape<Read<R[number]>, FaultSink>(
    (faults, value, path) =>
      readers.some((read) => matches(read, value))
        ? value as JsonValue & Read<R[number]>
        : reject(faults, { kind: "form", expected: "a value of a known shape", value }, path),
    ({ of }) => ({ oneOf: readers.map(of) }),
  );
}

/** A value that passes a test, with the JSON Schema of the test. */
export function matching<T extends JsonValue>(
  expected: string,
  test: (value: JsonValue) => value is T,
  schema: JsonObject = {},
): Reader<T> {
  return shape(
    (faults, value, path) => test(value) ? value : reject(faults, { kind: "form", expected, value }, path),
    () => schema,
  );
}

/** So many lower-case hex digits. A record has a dozen of them; a regular expression takes several times as long. */
function hexDigits(length: number): Reader<string> {
  return matching(`${length} lower-case hex digits`, (value): value is string => {
    if (typeof value !== "string" || value.length !== length) return false;
    for (let at = 0; at < length; at++) {
      const unit = value.charCodeAt(at);
      if (unit < 0x30 || unit > 0x66 || (unit > 0x39 && unit < 0x61)) return false;
    }
    return true;
  }, { type: "string", pattern: `^[0-9a-f]{${length}}$` });
}

/** 64 lower-case hex digits. */
export const identity: Reader<string> = hexDigits(64);
/** 32 lower-case hex digits. */
export const operationIdentity: Reader<string> = hexDigits(32);
/** `{algorithm: "sha256", value}`. */
export const contentHash: Reader<ContentHash> = closed({ algorithm: oneOf("sha256"), value: identity });
