/** Readers for specs, beyond plain JSON shapes: ids, lines of text, variants, and values with a canonical form. */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import {
  closedSchema,
  integer,
  named,
  oneOf,
  type Published,
  type Publisher,
  readArray,
  type Reader,
  readMember,
  readObject,
  shape,
  text,
} from "../canonical/shape.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { INTEGER_MAXIMUM, SPEC_LIMITS } from "./limits.ts";
import type { Collector } from "./refusals.ts";
import { describe, quote, quoteAll } from "./suggest.ts";

/** Reads one value at its path. */
export type Read<T> = Reader<T, Collector>;

/** A record of which any member may have failed to decode. */
export type Draft<T> = { readonly [K in keyof T]: T[K] | undefined };

// C0 controls, delete and C1 controls, which ids, labels and URIs must not have.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether a text has a control character. */
export function hasControl(value: string): boolean {
  return CONTROL.test(value);
}

function textReader(
  code: "value_invalid" | "identifier_invalid",
  problemOf: (value: string) => string | null,
  schema: JsonObject,
): Read<string> {
  return shape<string, Collector>((refusals, value, path) => {
    const given = text(refusals, value, path);
    const problem = given === undefined ? null : problemOf(given);
    if (problem === null) return given;
    return refusals.refuse(code, path, problem);
  }, () => ({ type: "string", ...schema }));
}

/** A string without lone surrogates, up to a limit in UTF-8 bytes. */
export function readText(maximumBytes: number): Read<string> {
  return textReader("value_invalid", (value) => textProblem(value, 0, maximumBytes), { maxLength: maximumBytes });
}

/** A non-empty string without control characters, up to a limit in UTF-8 bytes. */
export function readLine(maximumBytes: number): Read<string> {
  return textReader("value_invalid", (value) => lineProblem(value, maximumBytes), lineSchema(maximumBytes));
}

/** An id, version, label or tag: 1 to 256 UTF-8 bytes without control characters. */
export const readIdentifier: Read<string> = named(
  "id",
  textReader(
    "identifier_invalid",
    (value) => lineProblem(value, SPEC_LIMITS.identifierBytes),
    lineSchema(SPEC_LIMITS.identifierBytes),
  ),
);

/** A URI, or the target of an external system. */
export const readUri: Read<string> = named("line", readLine(SPEC_LIMITS.uriBytes));

/** An integer from 0 on. */
export const readCount: Read<number> = named("count", integer(0, INTEGER_MAXIMUM));
/** An integer from 1 on. */
export const readPositive: Read<number> = named("pos", integer(1, INTEGER_MAXIMUM));
/** An integer that a double holds exactly. */
export const readInteger: Read<number> = named("int", integer(-INTEGER_MAXIMUM, INTEGER_MAXIMUM));

/** The limit in characters: a text of `maximumBytes` bytes has at most as many characters. */
function lineSchema(maximumBytes: number): JsonObject {
  return { minLength: 1, maxLength: maximumBytes, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" };
}

function lineProblem(value: string, maximumBytes: number): string | null {
  return textProblem(value, 1, maximumBytes) ??
    (hasControl(value) ? `Expected no control characters, got ${quote(value)}` : null);
}

function textProblem(value: string, minimumBytes: number, maximumBytes: number): string | null {
  if (value.length > maximumBytes || utf8Length(value) > maximumBytes) {
    return `Expected at most ${maximumBytes} UTF-8 bytes, got ${utf8Length(value)}`;
  }
  if (utf8Length(value) < minimumBytes) return "Expected a string that is not empty";
  return value.isWellFormed() ? null : "Expected Unicode text, got a lone surrogate";
}

/**
 * The member that selects the variant of an object. Returns undefined, after a refusal, if the value is no object or
 * the variant is unknown.
 *
 * @param hint Ends the message if the member is absent
 */
export function readVariant<const Name extends string>(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  discriminator: string,
  names: readonly Name[],
  hint = "",
): Name | undefined {
  const expected = `${names.length > 1 ? "one of " : ""}${quoteAll(names)}`;
  if (!isJsonObject(value)) {
    const message = `Expected an object whose ${quote(discriminator)} is ${expected}, got ${describe(value)}`;
    return refusals.refuse("type_invalid", path, message);
  }
  const name = member(value, discriminator);
  const at = below(path, discriminator);
  if (name !== undefined) return oneOf(...names)(refusals, name, at);
  const message = `Member ${quote(discriminator)} is required; expected ${expected}${hint}`;
  return refusals.refuse("member_missing", at, message);
}

/** The members of an object, each with its reader. */
type Members<T> = { readonly [Name in keyof T]: Read<T[Name]> };

/**
 * A closed object with required and optional members. Returns a new object with its members in the order of their
 * readers; undefined if one of them is missing or invalid.
 */
export function objectOf<T extends object, O extends object = Record<never, never>>(
  required: Members<T>,
  optional: Members<O> = {} as Members<O>,
): Read<T & Partial<O>> {
  const names = [Object.keys(required), Object.keys(optional)] as const;
  const readers = Object.entries<Read<unknown>>({ ...required, ...optional });
  return shape<T & Partial<O>, Collector>((refusals, value, path) => {
    const object = readObject(refusals, value, path, ...names);
    if (object === undefined) return undefined;
    const isAbsent = (name: string): boolean => Object.hasOwn(optional, name) && !Object.hasOwn(object, name);
    const read = readers.filter(([name]) => !isAbsent(name))
      .map(([name, reader]) => [name, readMember(refusals, object, path, name, reader)] as const);
    return read.some(([, one]) => one === undefined) ? undefined : Object.fromEntries(read) as T & Partial<O>;
  }, closedSchema(names[0], readers));
}

/** Allows that a member of a draft is absent. */
export function optional<T>(read: Read<T>, absent: T): Read<T> {
  return shape<T, Collector>((...at) => read(...at), ({ of }) => of(read), { absent: () => absent });
}

/** Where a reader records refusals, a value, and its path. */
export type At = Parameters<Read<unknown>>;

/** Reads a draft, which there is of every value. */
export interface DraftReader<T> extends Published {
  (...at: At): T;
}

/** An object that is read member by member: one with an invalid member still has the others. */
export function draftOf<T extends object>(members: Members<T>): DraftReader<Draft<T>> {
  const readers = Object.entries<Read<unknown>>(members);
  const required = readers.flatMap(([name, { absent }]) => absent === undefined ? [name] : []);
  const others = readers.flatMap(([name, { absent }]) => absent === undefined ? [] : [name]);
  const draft = (...[refusals, value, path]: At): Draft<T> => {
    const object = readObject(refusals, value, path, required, others) ?? {};
    const read = readers.map(([name, reader]) => [
      name,
      reader.absent !== undefined && !Object.hasOwn(object, name)
        ? reader.absent(refusals, path)
        : readMember(refusals, object, path, name, reader),
    ]);
    return Object.fromEntries(read) as Draft<T>;
  };
  return Object.assign(draft, { schema: closedSchema(required, readers) });
}

/** An array whose items are drafts, or undefined where they cannot be read. */
export function itemsOf<T>(
  item: DraftReader<T>,
  maximum: number,
  { minimum = 0, ...more }: { readonly minimum?: number; readonly uniqueItems?: true } = {},
): Read<T[]> {
  return shape<T[], Collector>(
    (refusals, value, path) => readArray(refusals, value, path, { minimum, maximum }, item),
    ({ of }) => ({
      type: "array",
      items: of(item),
      maxItems: maximum,
      ...minimum > 0 && { minItems: minimum },
      ...more,
    }),
  );
}

/** A shape whose JSON Schema begins with a description. */
export function titled<S extends Published>(description: string, read: S): S {
  const own = read.schema;
  const schema = (publisher: Publisher): JsonObject => ({ description, ...own?.(publisher) as JsonObject });
  return Object.assign(read, { schema });
}

/** The JSON Schema of one of several closed objects. */
export function variantsSchema(variants: readonly Published[]): (publisher: Publisher) => JsonObject {
  const schemaOfOne = (one: JsonValue): JsonObject => {
    const { type: _, ...members } = one as JsonObject;
    return members;
  };
  return ({ of }) => ({ type: "object", oneOf: [...new Set(variants)].map((one) => schemaOfOne(of(one))) });
}

/**
 * An object whose member `discriminator` selects its reader.
 *
 * @param hint Ends the message if the member is absent
 */
export function variantOf<T>(
  discriminator: string,
  variants: Readonly<Record<string, Read<T>>>,
  hint: (value: JsonValue) => string = () => "",
): Read<T> {
  const names = Object.keys(variants);
  return shape<T, Collector>((refusals, value, path) => {
    const name = readVariant(refusals, value, path, discriminator, names, hint(value));
    return name === undefined ? undefined : variants[name]?.(refusals, value, path);
  }, variantsSchema(Object.values(variants)));
}

/** The canonical text of a JSON value; undefined, after a refusal, if it has none. */
export function readCanonical(refusals: Collector, value: JsonValue, path: JsonPath): string | undefined {
  try {
    return canonicalize(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refusals.refuse("value_invalid", path, `Value has no canonical form: ${reason}`);
  }
}

/** A JSON value with a canonical form: only such a value can be hashed, ordered and compared. */
export const readCanonicalValue: Read<JsonValue> = shape<JsonValue, Collector>(
  (refusals, value, path) => readCanonical(refusals, value, path) === undefined ? undefined : value,
  () => true,
);
