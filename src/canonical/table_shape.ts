/**
 * Shapes of what people and clients write: settings, and the arguments of tools. A member may be absent or have a
 * default, and a text is counted in characters. Faults come in the order of the members, unknown ones last.
 */

import { countOf } from "./count.ts";
import { isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue, member } from "./json.ts";
import { below, type JsonPath } from "./path.ts";
import {
  annotated,
  type FaultSink,
  inside,
  oneOf,
  ownSchema,
  type Published,
  type Publisher,
  type Read,
  type Reader,
  reject,
  shape,
  type ShapeFault,
  text,
  without,
} from "./shape.ts";

type Members = Readonly<Record<string, Reader<unknown>>>;
/** Marks a shape whose member an object may lack; it does not exist at run time. */
interface Optional {
  readonly isOptional: true;
}
/** The value of a table: without a member that is absent, unless that one has a default. */
export type Table<M extends Members> =
  & { readonly [Name in keyof M as M[Name] extends Optional ? never : Name]: Read<M[Name]> }
  & { readonly [Name in keyof M as M[Name] extends Optional ? Name : never]?: Read<M[Name]> };

/** Reads a table; `members` does not exist at run time, and keeps their types where the shape is an argument. */
type TableReader<M extends Members> = Reader<Table<M>> & { readonly members?: M };

/** An object with no members but these, each of which may be optional or have a default. The value is a new object. */
export function table<M extends Members>(members: M, description?: string): TableReader<M> {
  const known = Object.keys(members);
  const entries = Object.entries<Reader<unknown>>(members);
  return shape<Table<M>, FaultSink>((faults, value, path) => {
    if (!isJsonObject(value)) return reject(faults, { kind: "object", required: known, value }, path);
    const result: Record<string, unknown> = {};
    let isWhole = true;
    let given = 0;
    for (const [name, read] of entries) {
      const one = member(value, name);
      if (Object.hasOwn(value, name)) given++;
      const at = inside(faults, path, name);
      const isAbsent = one === undefined && read.absent !== undefined;
      // Where a member is required, its own reader says what it expects in place of nothing.
      const accepted = isAbsent ? read.absent?.(faults, at) : read(faults, one as JsonValue, at);
      if (accepted !== undefined) result[name] = accepted;
      else if (!isAbsent) isWhole = false;
    }
    const names = Object.keys(value);
    if (names.length === given) return isWhole ? result as Table<M> : undefined;
    for (const name of names) if (!known.includes(name)) faults.add({ kind: "unknown", name, known }, path);
    return undefined;
  }, ({ of }) => {
    const required = entries.filter(([, read]) => read.absent === undefined).map(([name]) => name);
    return {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, read]) => [name, of(read)])),
      ...required.length > 0 && { required },
      additionalProperties: false,
      ...description !== undefined && { description },
    };
  });
}

/** A description, or members of a JSON Schema. */
type Remarks = string | JsonObject;

function remarks(given: Remarks): JsonObject {
  return typeof given === "string" ? { description: given } : given;
}

/** A shape around another one, for a member that may be absent. */
function around<T>(read: Reader<T>, own: JsonObject, absent: NonNullable<Reader<T>["absent"]>): Reader<T> {
  return shape<T, FaultSink>(
    (faults, value, path) => read(faults, value, path),
    ({ of }) => ({ ...own, ...without(of(read) as JsonObject, own) }),
    { absent, around: own },
  );
}

/** A member that may be absent. */
export function optional<T>(read: Reader<T>, about: Remarks = {}): Reader<T> & Optional {
  return around(read, remarks(about), () => undefined) as Reader<T> & Optional;
}

/** A member with the value that it has when absent. */
export function withDefault<T>(read: Reader<T>, value: NoInfer<T>, about: Remarks = {}): Reader<T> {
  return around(read, { default: value as JsonValue, ...remarks(about) }, () => value);
}

/** A member that counts as empty when absent, so that its own members have their defaults. */
export function orEmpty<T>(read: Reader<T>, about: Remarks = {}): Reader<T> {
  return around(read, { ...remarks(about), default: {} }, (faults, path) => read(faults, {}, path));
}

/** A shape with a description. */
export function described<R extends Reader<unknown>>(read: R, description: string): R {
  return annotated(read, { description });
}

/** One of several strings, to which versions may add: its JSON Schema lists even a single one. */
export function choices<const T extends string>(...known: readonly T[]): Reader<T> {
  return shape(oneOf(...known), () => ({ enum: known }));
}

/** A string of `minimum` to `maximum` characters, which are code points as in JSON Schema. */
export function characters(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Reader<string> {
  return shape((faults, value, path) => {
    const given = text(faults, value, path);
    if (given === undefined) return undefined;
    // A character has one code unit or two, which most often decide.
    if (given.length >= 2 * minimum && given.length <= maximum) return given;
    const count = given.length > 2 * maximum ? given.length : codePoints(given);
    if (count >= minimum && count <= maximum) return given;
    return reject(faults, { kind: "items", minimum, maximum, count, text: given }, path);
  }, () => ({
    type: "string",
    ...minimum > 0 && { minLength: minimum },
    ...maximum < Number.MAX_SAFE_INTEGER && { maxLength: maximum },
  }));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** A text in which a function finds no problem; it returns the end of a message, or null. */
export function checked(read: Reader<string>, problem: (value: string) => string | null): Reader<string> {
  const check: Reader<string> = (faults, value, path) => {
    const given = read(faults, value, path);
    const expected = given === undefined ? null : problem(given);
    return expected === null ? given : reject(faults, { kind: "form", expected, value }, path);
  };
  return Object.assign(check, read);
}

/** A table in which one member requires another one. It is checked where every member has its type. */
export function requiring<R extends Reader<unknown>>(read: R, name: string, other: string, expected: string): R {
  const check: Reader<unknown> = (faults, value, path) => {
    let isTyped = true;
    const add: FaultSink["add"] = (fault, at) => {
      isTyped &&= !isOfOtherType(fault);
      faults.add(fault, at);
    };
    const given = read({ add }, value, path);
    if (!isTyped || !isJsonObject(value) || !Object.hasOwn(value, name)) return given;
    const required = member(value, other) as JsonValue;
    if (required !== undefined) return given;
    return reject(faults, { kind: "form", expected, value: required }, below(path, other));
  };
  return Object.assign(check, read) as R;
}

/** A text that matches a pattern, with the end of a message for one that does not. */
export function patterned(read: Reader<string>, pattern: RegExp, message: string): Reader<string> {
  const source = { pattern: pattern.source };
  const checkedText = checked(read, (given) => pattern.test(given) ? null : message);
  return shape(checkedText, (publisher) => {
    const { pattern: earlier, ...own } = ownSchema(read, publisher);
    return earlier === undefined ? { ...own, ...source } : { ...own, allOf: [{ pattern: earlier }, source] };
  });
}

/** A value that one of several shapes accepts; else the faults of the only one whose types it has, or one with the message. */
export function union<R extends readonly Reader<unknown>[]>(message: string, ...readers: R): Reader<Read<R[number]>> {
  return shape<Read<R[number]>, FaultSink>((faults, value, path) => {
    const readings = readers.map((read) => {
      const own: { readonly fault: ShapeFault; readonly path: JsonPath }[] = [];
      const accepted = read({ add: (fault, at) => own.push({ fault, path: at }) }, value, path);
      return { accepted: accepted as Read<R[number]> | undefined, own };
    });
    const found = readings.find(({ accepted }) => accepted !== undefined);
    if (found !== undefined) return found.accepted;
    const [close, other] = readings.filter(({ own }) => own.every(({ fault }) => !isOfOtherType(fault)));
    if (close === undefined || other !== undefined) {
      return reject(faults, { kind: "form", expected: message, value }, path);
    }
    for (const one of close.own) faults.add(one.fault, one.path);
    return undefined;
  }, ({ of }) => ({ anyOf: readers.map(of) }));
}

/** Whether the value of a fault has another type than the one expected, or none of the values. */
export function isOfOtherType(fault: ShapeFault): boolean {
  return fault.kind === "integer"
    ? !Number.isInteger(fault.value)
    : ["type", "object", "choice", "missing"].includes(fault.kind);
}

/** What a fault expects, as the end of a sentence: `an integer`, `one of "a", "b"`, `at least 3 characters`. */
export function expectation(fault: ShapeFault): string {
  switch (fault.kind) {
    case "type":
    case "form":
      return fault.expected;
    case "object":
      return "an object";
    case "choice":
    case "missing":
      return oneOfThese(fault.known ?? []);
    case "integer":
      if (!Number.isInteger(fault.value)) return "an integer";
      return bound(fault, fault.value as number, String);
    case "items":
      return bound(fault, fault.count, (count) => countOf(count, fault.text === undefined ? "item" : "character"));
    default:
      return "no other members";
  }
}

function bound(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  amount: number,
  counted: (bound: number) => string,
): string {
  return amount < minimum ? `at least ${counted(minimum)}` : `at most ${counted(maximum)}`;
}

function oneOfThese(values: readonly JsonPrimitive[]): string {
  const quoted = values.map((value) => JSON.stringify(value)).join(", ");
  return values.length === 1 ? quoted : `one of ${quoted}`;
}

/** Changes the JSON Schema of one shape, after those of the shapes inside it. */
export type Change = (published: Record<string, JsonValue>, shape: Published & Pick<Reader<unknown>, "around">) => void;

/** The JSON Schema (2020-12) of a table. */
export function publishTable(read: Published, change: Change = () => {}): Record<string, JsonValue> {
  const of = (one: Parameters<Change>[1]): Record<string, JsonValue> => {
    const own = ownSchema(one, publisher);
    const published = one.around === undefined ? spelledOut(own) : { ...own };
    change(published, one);
    const types = bareTypes(published["anyOf"]);
    if (types === null) return published;
    const { anyOf: _, ...others } = published;
    return { ...others, type: types };
  };
  const publisher: Publisher = { isBounded: true, of, refer: (_, one) => of(one) };
  return of(read);
}

/** Editors show the type of a choice; the variants of an object have theirs. */
function spelledOut(schema: JsonObject): Record<string, JsonValue> {
  const { minItems, maxItems, ...others } = schema;
  if (schema["type"] === "array") {
    return { ...minItems !== undefined && { minItems }, ...maxItems !== undefined && { maxItems }, ...others };
  }
  if (schema["enum"] !== undefined || schema["const"] !== undefined) return { type: "string", ...schema };
  if (schema["oneOf"] !== undefined) return without(schema, { type: true });
  return { ...schema };
}

/** The types of alternatives that are nothing but a type; null where one is more. */
function bareTypes(options: JsonValue | undefined): JsonValue | null {
  const alternatives = (options ?? []) as readonly JsonObject[];
  const isBare = alternatives.every((option) => Object.keys(option).length === 1 && option["type"] !== undefined);
  return isBare && alternatives.length > 0
    ? [...new Set(alternatives.flatMap((option) => option["type"] as string | string[]))]
    : null;
}
