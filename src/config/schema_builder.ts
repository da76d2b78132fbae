/**
 * Schemas of sections of the configuration and of the arguments of tools. One schema yields the checks, the type in the
 * code, the defaults, and the published JSON Schema (`published_schema.ts`). The functions are named as those of zod.
 *
 * A package would load ten times as much code before the first answer (docs/decisions/schemas.md).
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";

/** The path of a value: names and array indices from the root. */
type Path = readonly (string | number)[];

/** What is wrong with one value; the reporter puts it into words. */
export type Issue = { readonly path: Path } & Fault;

type Fault =
  | { readonly code: "invalid_type"; readonly expected: TypeName }
  | { readonly code: "invalid_value"; readonly values: readonly string[] }
  | { readonly code: "too_small" | "too_big"; readonly counted: Counted; readonly bound: number }
  /** `known` has the members of the object. */
  | { readonly code: "unknown_members"; readonly names: readonly string[]; readonly known: readonly string[] }
  /** The message is the end of a sentence. */
  | { readonly code: "custom"; readonly message: string };

/** The type that a value must have. */
export type TypeName = "string" | "integer" | "boolean" | "array" | "object" | "any";

/** What a bound counts: characters of a string, items of an array, or the number itself. */
type Counted = "string" | "array" | "integer" | "object";

/** A check of a value that has the type of its schema. */
export type Check =
  | { readonly kind: "minimum"; readonly bound: number }
  | { readonly kind: "maximum"; readonly bound: number }
  | { readonly kind: "pattern"; readonly pattern: RegExp; readonly message: string }
  /** The function returns a message, or null. JSON Schema cannot express it; metadata can. */
  | { readonly kind: "function"; readonly problem: (value: never) => string | null; readonly path: Path };

/** What a schema accepts, without its checks. */
export type Form =
  | { readonly kind: "string" | "integer" | "boolean" | "any" }
  | { readonly kind: "array"; readonly item: AnySchema }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, schema: AnySchema])[] }
  | { readonly kind: "union"; readonly options: readonly AnySchema[]; readonly message: string }
  | { readonly kind: "variants"; readonly name: string; readonly options: ReadonlyMap<string, AnySchema> }
  | { readonly kind: "custom"; readonly read: CustomReader }
  | { readonly kind: "nullable" | "optional"; readonly inner: AnySchema }
  /** `isRead`: the value is read like a given one, so that members get their own defaults. */
  | { readonly kind: "default"; readonly inner: AnySchema; readonly value: unknown; readonly isRead: boolean };

/** Reads a value of a custom form; adds an issue where it is invalid. */
type CustomReader = (value: unknown, issues: Issue[]) => unknown;

/** Any schema. */
export type AnySchema = Schema<unknown, boolean>;

/** The type of the values that a schema returns. */
export type output<S> = S extends { readonly type: infer Out } ? Out : never;

type Members = Readonly<Record<string, AnySchema>>;
type OptionalNames<M extends Members> = {
  [Name in keyof M]: M[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof M];
type Simplify<T> = { [Name in keyof T]: T[Name] };
type ObjectOutput<M extends Members> = Simplify<
  & { [Name in Exclude<keyof M, OptionalNames<M>>]: output<M[Name]> }
  & { [Name in OptionalNames<M>]?: output<M[Name]> }
>;

/** A schema. It never changes: each method returns another one. */
export class Schema<Out, IsOptional extends boolean = false> {
  /** The type of the values; it does not exist at run time. */
  declare readonly type: Out;
  /** Whether an object may lack a member of this schema; it does not exist at run time. */
  declare readonly isOptional: IsOptional;

  /** Makes a schema of a form. `metadata` is added to the JSON Schema. */
  constructor(readonly form: Form, readonly checks: readonly Check[] = [], readonly metadata: JsonObject = {}) {}

  /** Requires at least so many characters or items, or a number of at least this. */
  min<Self extends Schema<string> | Schema<number> | Schema<unknown[]>>(this: Self, bound: number): Self {
    return withCheck(this, { kind: "minimum", bound });
  }

  /** Requires at most so many characters or items, or a number of at most this. */
  max<Self extends Schema<string> | Schema<number> | Schema<unknown[]>>(this: Self, bound: number): Self {
    return withCheck(this, { kind: "maximum", bound });
  }

  /** Requires a text that matches a pattern. */
  regex<Self extends Schema<string>>(this: Self, pattern: RegExp, message: string): Self {
    return withCheck(this, { kind: "pattern", pattern, message });
  }

  /** Requires that a test accepts the value of a string or an object; `path` is the member that is wrong. */
  refine(test: (value: Out) => boolean, message: string, path: Path = []): this {
    return withCheck(this, { kind: "function", problem: (value: Out) => test(value) ? null : message, path });
  }

  /** Requires that a function finds no problem in a string; it returns the message, or null. */
  check<Self extends Schema<string>>(this: Self, problem: (value: string) => string | null): Self {
    return withCheck(this, { kind: "function", problem, path: [] });
  }

  /** Accepts null too. */
  nullable(): Schema<Out | null> {
    return new Schema({ kind: "nullable", inner: this });
  }

  /** Allows that the member is absent. */
  exactOptional(): Schema<Out, true> {
    return new Schema({ kind: "optional", inner: this });
  }

  /** The value of an absent member. */
  default(value: Out): Schema<Out> {
    return new Schema({ kind: "default", inner: this, value, isRead: false });
  }

  /** The value of an absent member, which is read like a given one. */
  prefault(value: unknown): Schema<Out> {
    return new Schema({ kind: "default", inner: this, value, isRead: true });
  }

  /** Adds members to the JSON Schema. */
  meta(metadata: JsonObject): this {
    return new Schema(this.form, this.checks, { ...this.metadata, ...metadata }) as this;
  }

  /** Describes the value in the JSON Schema. */
  describe(description: string): this {
    return this.meta({ description });
  }
}

function withCheck<Self extends AnySchema>({ form, checks, metadata }: Self, check: Check): Self {
  return new Schema(form, [...checks, check], metadata) as AnySchema as Self;
}

/** A string. */
export function string(): Schema<string> {
  return new Schema({ kind: "string" });
}

/** An integer within 2^53-1. */
export function int(): Schema<number> {
  return new Schema({ kind: "integer" });
}

/** True or false. */
export function boolean(): Schema<boolean> {
  return new Schema({ kind: "boolean" });
}

/** Any value, by reference. */
export function unknown(): Schema<unknown> {
  return new Schema({ kind: "any" });
}

/** One of several strings. */
function enumOf<const Values extends readonly string[]>(values: Values): Schema<Values[number]> {
  return new Schema({ kind: "enum", values });
}
export { enumOf as enum };

/** One string. */
export function literal<const Value extends string>(value: Value): Schema<Value> {
  return new Schema({ kind: "literal", value });
}

/** An array. */
export function array<Item extends AnySchema>(item: Item): Schema<output<Item>[]> {
  return new Schema({ kind: "array", item });
}

/** An object with no members but these. */
export function strictObject<M extends Members>(members: M): Schema<ObjectOutput<M>> {
  return new Schema({ kind: "object", members: Object.entries(members) });
}

/** A value that one of several schemas accepts. */
export function union<Options extends readonly AnySchema[]>(
  options: Options,
  message: string = "one of the alternatives",
): Schema<output<Options[number]>> {
  return new Schema({ kind: "union", options, message });
}

/** An object whose member `name` is a literal that selects one of several objects. */
export function discriminatedUnion<Options extends readonly AnySchema[]>(
  name: string,
  options: Options,
): Schema<output<Options[number]>> {
  return new Schema({
    kind: "variants",
    name,
    options: new Map(options.map((option) => [literalOf(option, name), option])),
  });
}

function literalOf({ form }: AnySchema, name: string): string {
  const found = form.kind === "object" ? form.members.find(([member]) => member === name)?.[1].form : undefined;
  if (found?.kind !== "literal") throw new TypeError(`Cannot distinguish options: each needs a literal "${name}"`);
  return found.value;
}

/** A value that a test accepts, by reference. JSON Schema has the metadata of the schema alone. */
export function custom<Out>(test: (value: unknown) => boolean, message: string): Schema<Out> {
  return transformed((value, issues) => {
    if (!test(value)) issues.push({ code: "custom", message, path: [] });
    return value as Out;
  });
}

/** A value that a function reads. JSON Schema has the metadata of the schema alone. */
export function transformed<Out>(read: (value: unknown, issues: Issue[]) => Out): Schema<Out> {
  return new Schema({ kind: "custom", read });
}

/** A value that was read, or every issue of it. */
export type Reading<Out> =
  | { readonly ok: true; readonly value: Out }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads a value from outside. An undefined value counts as absent. */
export function safeParse<Out>(schema: Schema<Out, boolean>, given: unknown): Reading<Out> {
  const issues: Issue[] = [];
  const value = read(schema, given, issues);
  return issues.length === 0 ? { ok: true, value: value as Out } : { ok: false, issues };
}

/**
 * Reads a value that was checked before.
 *
 * @throws {TypeError} If it has an issue
 */
export function parse<Out>(schema: Schema<Out, boolean>, given: unknown): Out {
  const reading = safeParse(schema, given);
  if (!reading.ok) throw new TypeError(`Cannot parse value: it has ${reading.issues.length} issues`);
  return reading.value;
}

/** Reads a value; adds the issues, with their paths from this value on. */
function read({ form, checks }: AnySchema, value: unknown, issues: Issue[]): unknown {
  switch (form.kind) {
    case "string":
      return typeof value === "string"
        ? checked(value, value.length, form.kind, checks, issues)
        : mistyped(form.kind, issues);
    case "integer":
      return readInteger(value, checks, issues);
    case "boolean":
      return typeof value === "boolean" ? value : mistyped(form.kind, issues);
    case "any":
      return value !== undefined ? value : mistyped(form.kind, issues);
    case "enum":
      return form.values.includes(value as string)
        ? value
        : fail({ code: "invalid_value", values: form.values }, issues);
    case "literal":
      return value === form.value ? value : fail({ code: "invalid_value", values: [form.value] }, issues);
    case "array":
      return readArray(form.item, value, checks, issues);
    case "object":
      return readObject(form.members, value, checks, issues);
    case "union":
      return readUnion(form.options, form.message, value, issues);
    case "variants":
      return readVariant(form.name, form.options, value, issues);
    case "custom":
      return form.read(value, issues);
    case "nullable":
      return value === null ? null : read(form.inner, value, issues);
    case "optional":
      return value === undefined ? undefined : read(form.inner, value, issues);
    case "default":
      if (value !== undefined) return read(form.inner, value, issues);
      return form.isRead ? read(form.inner, form.value, issues) : form.value;
  }
}

function fail(fault: Fault, issues: Issue[]): undefined {
  issues.push({ ...fault, path: [] });
}

function mistyped(expected: TypeName, issues: Issue[]): undefined {
  fail({ code: "invalid_type", expected }, issues);
}

/** The value, after an issue for each check that fails; `amount` is what bounds are compared with, code units of a string. */
function checked(
  value: unknown,
  amount: number,
  counted: Counted,
  checks: readonly Check[],
  issues: Issue[],
): unknown {
  for (const check of checks) {
    if (check.kind === "minimum") {
      if (amountBeside(check.bound, value, amount) < check.bound) {
        fail({ code: "too_small", counted, bound: check.bound }, issues);
      }
    } else if (check.kind === "maximum") {
      if (amountBeside(check.bound, value, amount) > check.bound) {
        fail({ code: "too_big", counted, bound: check.bound }, issues);
      }
    } else if (check.kind === "pattern") {
      if (!check.pattern.test(value as string)) fail({ code: "custom", message: check.message }, issues);
    } else if (check.kind === "function") {
      const message = check.problem(value as never);
      if (message !== null) issues.push({ code: "custom", message, path: check.path });
    }
  }
  return value;
}

/** The amount to compare with a bound. JSON Schema counts code points of a string: they are counted where code units do not decide. */
function amountBeside(bound: number, value: unknown, units: number): number {
  if (typeof value !== "string" || units < bound || units > 2 * bound) return units;
  let points = 0;
  for (const _ of value) points++;
  return points;
}

function readInteger(value: unknown, checks: readonly Check[], issues: Issue[]): unknown {
  if (typeof value !== "number" || !Number.isInteger(value)) return mistyped("integer", issues);
  const before = issues.length;
  checked(value, value, "integer", checks, issues);
  if (issues.length > before || Number.isSafeInteger(value)) return value;
  const isBig = value > 0;
  const bound = isBig ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
  return fail({ code: isBig ? "too_big" : "too_small", counted: "integer", bound }, issues);
}

function readArray(item: AnySchema, value: unknown, checks: readonly Check[], issues: Issue[]): unknown {
  if (!Array.isArray(value)) return mistyped("array", issues);
  // The items of a longer array are not read: their faults would be as many as a caller sends.
  const most = checks.find((check) => check.kind === "maximum" && value.length > check.bound);
  if (most !== undefined) return checked(value, value.length, "array", [most], issues);
  const result = value.map((one, index) => readAt(index, item, one, issues));
  return checked(result, value.length, "array", checks, issues);
}

/** Reads a member or an item; the paths of its issues begin with the step to it. */
function readAt(step: string | number, schema: AnySchema, value: unknown, issues: Issue[]): unknown {
  const before = issues.length;
  const result = read(schema, value, issues);
  for (let at = before; at < issues.length; at++) {
    const issue = issues[at] as Issue;
    issues[at] = { ...issue, path: [step, ...issue.path] };
  }
  return result;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readObject(
  members: readonly (readonly [name: string, schema: AnySchema])[],
  value: unknown,
  checks: readonly Check[],
  issues: Issue[],
): unknown {
  if (!isObject(value)) return mistyped("object", issues);
  const before = issues.length;
  const result: Record<string, unknown> = {};
  let given = 0;
  for (const [name, schema] of members) {
    const isGiven = Object.hasOwn(value, name);
    if (isGiven) given++;
    else if (schema.form.kind === "optional") continue;
    result[name] = readAt(name, schema, isGiven ? value[name] : undefined, issues);
  }
  const names = Object.keys(value);
  if (names.length > given) {
    const known = members.map(([name]) => name);
    fail({ code: "unknown_members", names: names.filter((name) => !known.includes(name)), known }, issues);
  }
  const isTyped = checks.length > 0 && issues.slice(before).every(isDetail);
  return isTyped ? checked(result, names.length, "object", checks, issues) : result;
}

/** The value of the first option that accepts it, or the issues of the only option whose types it has. */
function readUnion(options: readonly AnySchema[], message: string, value: unknown, issues: Issue[]): unknown {
  const readings = options.map((option) => {
    const own: Issue[] = [];
    return { value: read(option, value, own), issues: own };
  });
  const accepted = readings.find((reading) => reading.issues.length === 0);
  if (accepted !== undefined) return accepted.value;
  const [close, other] = readings.filter((reading) => reading.issues.every(isDetail));
  if (close === undefined || other !== undefined) return fail({ code: "custom", message }, issues);
  issues.push(...close.issues);
  return close.value;
}

/** Whether the value of an issue has the right type. */
function isDetail({ code }: Issue): boolean {
  return code !== "invalid_type" && code !== "invalid_value";
}

function readVariant(
  name: string,
  options: ReadonlyMap<string, AnySchema>,
  value: unknown,
  issues: Issue[],
): unknown {
  if (!isObject(value)) return mistyped("object", issues);
  const option = Object.hasOwn(value, name) ? options.get(value[name] as string) : undefined;
  if (option === undefined) {
    issues.push({ code: "invalid_value", values: [...options.keys()], path: [name] });
    return undefined;
  }
  return read(option, value, issues);
}
