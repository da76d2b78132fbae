/**
 * Decoding of tool arguments: a zod schema says what they are, and is also what the tool publishes. All faults are
 * reported together, each with its place.
 *
 * @module
 */

import { z } from "zod";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { describeValue } from "../../config/problems.ts";
import { expectationOf } from "../../config/zod_expectation.ts";
import { didYouMean, quote, quoteAll } from "../../law/suggest.ts";
import { toolError } from "./errors.ts";
import type { ToolError } from "./types.ts";

/** One thing that is wrong with the arguments. */
export interface InputIssue {
  /** JSON path into the arguments. */
  readonly path: string;
  readonly message: string;
  readonly expected: string;
  /** What was there, in words that do not repeat it; absent where nothing was. */
  readonly got?: string;
}

/** Decoded arguments, or the error to answer with. */
export type Decoded<T> = { readonly ok: true; readonly input: T } | { readonly ok: false; readonly error: ToolError };

/** Issues of one answer; further ones are counted only. */
export const ISSUES_MAXIMUM = 64;

/** Metadata of a part: what is published of it in place of its whole schema. */
export const BRIEF = "brief";

/** Metadata of a part: what is published of it beside its schema where nothing is shortened. */
export const BESIDES = "besides";

/** Metadata of a part: what `tools/list` shows of it beside its shortened schema. */
export const LISTED = "listed";

/** What `tools/list` leaves out: the whole schema has it, and errors name it. */
const UNLISTED = ["description", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"];

/** A member name longer than this stays out of paths. */
const PATH_NAME_MAXIMUM = 256;

type Path = readonly (string | number)[];
type ZodIssue = z.core.$ZodIssue;

/**
 * Decodes arguments. Members declared as free JSON are handed on as they are, by reference.
 *
 * @param schema A strict object schema
 * @param input The arguments as received
 * @returns The decoded arguments, or an `invalid_input` error with `details.issues`
 */
export function decodeInput<S extends z.ZodType>(schema: S, input: JsonObject): Decoded<z.output<S>> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, input: parsed.data };
  const issues = telling(parsed.error.issues).flatMap((issue) => describeIssue(schema, input, issue));
  const shown = issues.slice(0, ISSUES_MAXIMUM);
  const first = shown[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const message = `Cannot read arguments: ${first?.path ?? "$"}: ${first?.message ?? "not valid"}${more}`;
  return {
    ok: false,
    error: toolError("invalid_input", message, { issues: shown.map((issue) => ({ ...issue })) }),
  };
}

/** Issues without what else is said of a value of the wrong type, such as how long it is. */
function telling(issues: readonly ZodIssue[]): readonly ZodIssue[] {
  const place = (issue: ZodIssue): string => formatPath(issue.path as Path);
  const mistyped = new Set(issues.filter(({ code }) => code === "invalid_type").map(place));
  return issues.filter((issue) => issue.code === "invalid_type" || !mistyped.has(place(issue)));
}

function describeIssue(schema: z.ZodType, input: JsonObject, issue: ZodIssue): InputIssue[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    const known = knownMembers(schema, path);
    return issue.keys.map((name) => unknownMember(path, name, known));
  }
  const value = valueAt(input, path);
  const expected = (issue.code === "invalid_type" ? publishedWords(schema, path) : null) ??
    expectationOf(issue, TYPE_NAMES);
  if (value === undefined) {
    return [{ path: formatPath(path), message: `Member is required: expected ${expected}`, expected }];
  }
  // Arguments may hold secrets, so a message describes a value and does not repeat it.
  const got = describeValue(value, "an object");
  return [{ path: formatPath(path), message: `Expected ${expected}, got ${got}`, expected, got }];
}

function unknownMember(path: Path, name: string, known: readonly string[]): InputIssue {
  const at = name.length <= PATH_NAME_MAXIMUM ? [...path, name] : path;
  const expected = known.length === 0 ? "no such member" : `only ${quoteAll(known)}`;
  const hint = didYouMean(name, known) || `; expected ${expected}`;
  return { path: formatPath(at), message: `Member ${quote(name)} is unknown${hint}`, expected };
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["object", "an object"],
  ["array", "an array"],
  ["string", "a string"],
  ["int", "an integer"],
  ["number", "an integer"],
  ["boolean", "true or false"],
  ["null", "null"],
  ["nonoptional", "any JSON value"],
]);

function quoteValue(value: unknown): string {
  return typeof value === "string" ? quote(value) : String(value);
}

function valueAt(input: JsonValue, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const step of path) {
    if (typeof step === "number") value = isJsonArray(value) ? value[step] : undefined;
    else value = isJsonObject(value) ? member(value, step) : undefined;
  }
  return value;
}

/** What is published of the schemas that were not met: arguments may have thousands of faults. */
const KNOWN = new WeakMap<z.ZodType, JsonObject>();

/** What is published at a path; nothing where alternatives make that depend on the value. */
function publishedAt(schema: z.ZodType, path: Path): JsonValue | undefined {
  const published = KNOWN.get(schema) ?? publishSchema(schema, true);
  KNOWN.set(schema, published);
  let at: JsonValue | undefined = published;
  for (const step of path) {
    if (!isJsonObject(at)) return undefined;
    const inside: JsonValue | undefined = typeof step === "number" ? at["items"] : at["properties"];
    at = besidesNull(typeof step === "number" ? inside : isJsonObject(inside) ? member(inside, step) : undefined);
  }
  return at;
}

/** What a value may be that may also be null; the schema itself where that is not one thing. */
function besidesNull(schema: JsonValue | undefined): JsonValue | undefined {
  const options = isJsonObject(schema) ? schema["anyOf"] : undefined;
  if (!isJsonArray(options)) return schema;
  const others = options.filter((option) => !isJsonObject(option) || option["type"] !== "null");
  return others.length === 1 ? others[0] : schema;
}

/** The member names that a schema knows at a path. */
function knownMembers(schema: z.ZodType, path: Path): string[] {
  const properties = propertiesOf(publishedAt(schema, path));
  return properties === null ? [] : Object.keys(properties);
}

/** The length of texts that are hex digits. */
const HEX_PATTERN = /^\^\[0-9a-f\]\{(\d+)\}\$$/;

/** What has to be at a path, where more is published of it than a type; null else. */
function publishedWords(schema: z.ZodType, path: Path): string | null {
  const at = publishedAt(schema, path);
  if (!isJsonObject(at)) return null;
  const { pattern, required } = at;
  const digits = typeof pattern === "string" ? HEX_PATTERN.exec(pattern)?.[1] : undefined;
  if (digits !== undefined) return `${digits} lower-case hex digits`;
  return isJsonArray(required) && required.length > 0
    ? `an object with ${required.map(quoteValue).join(", ")}`
    : alternatives(at);
}

/** The objects that are told apart by a constant member, in words; null where there are none. */
function alternatives(at: JsonObject): string | null {
  const options = at["oneOf"];
  const constants = (isJsonArray(options) ? options : []).map((option) => {
    const told = Object.entries(propertiesOf(option) ?? {});
    return told.find(([, value]) => isJsonObject(value) && typeof value["const"] === "string") ?? null;
  });
  const name = constants[0]?.[0];
  if (name === undefined || !constants.every((told) => told?.[0] === name)) return null;
  return `an object whose ${name} is ${
    constants.map((told) => quoteValue((told?.[1] as JsonObject)["const"])).join(" or ")
  }`;
}

function propertiesOf(published: JsonValue | undefined): JsonObject | null {
  const properties = isJsonObject(published) ? published["properties"] : undefined;
  return isJsonObject(properties) ? properties : null;
}

/** What to leave out of a part. What a wrapper such as an optional holds is shortened already, but for the wrapper's own words. */
function unlisted(schema: z.core.$ZodType): readonly string[] {
  if (!("innerType" in schema._zod.def)) return UNLISTED;
  return z.globalRegistry.get(schema)?.description === undefined ? [] : ["description"];
}

/**
 * The JSON Schema (2020-12) that a tool publishes for a zod schema, without what says nothing: `$schema`, and the bounds
 * that every integer has.
 *
 * @param schema What the arguments are decoded with
 * @param isWhole Whether nothing is shortened: the list of tools leaves out descriptions, patterns and bounds
 */
export function publishSchema(schema: z.ZodType, isWhole = false): JsonObject {
  const published = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const { [BRIEF]: brief, [BESIDES]: besides, [LISTED]: listed } = jsonSchema;
      const left = isWhole ? [] : brief === undefined ? unlisted(zodSchema) : Object.keys(jsonSchema);
      for (const name of [BRIEF, BESIDES, LISTED, ...left]) delete jsonSchema[name];
      Object.assign(jsonSchema, isWhole ? besides : brief ?? listed);
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.const !== undefined) delete jsonSchema.type;
    },
  });
  delete published.$schema;
  return published as JsonObject;
}
