/**
 * Decodes tool arguments with a zod schema, which the tool also publishes. All faults are reported together, each with
 * its
 * path.
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

/** One fault of the arguments. */
export interface InputIssue {
  /** JSON path into the arguments. */
  readonly path: string;
  readonly message: string;
  readonly expected: string;
  /** A description of the value that does not repeat it; absent where the member is missing. */
  readonly got?: string;
}

/** Decoded arguments, or the error to answer with. */
export type Decoded<T> = { readonly ok: true; readonly input: T } | { readonly ok: false; readonly error: ToolError };

/** Most issues of one answer; further ones are only counted. */
export const ISSUES_MAXIMUM = 64;

/** Metadata of a schema: `tools/list` publishes this in its place. */
export const BRIEF = "brief";

/** Metadata of a schema: the full schema has these members too. */
export const BESIDES = "besides";

/** Metadata of a schema: `tools/list` adds these members to the shortened schema. */
export const LISTED = "listed";

/** Keywords that `tools/list` omits: the full schema has them, and errors name them. */
const UNLISTED = ["description", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"];

/** Longest member name in a path. */
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
  const issues = withoutFollowUps(parsed.error.issues).flatMap((issue) => describeIssue(schema, input, issue));
  const shown = issues.slice(0, ISSUES_MAXIMUM);
  const first = shown[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const message = `Cannot read arguments: ${first?.path ?? "$"}: ${first?.message ?? "not valid"}${more}`;
  return {
    ok: false,
    error: toolError("invalid_input", message, { issues: shown.map((issue) => ({ ...issue })) }),
  };
}

/** The issues, where a value of the wrong type has no further ones, such as its length. */
function withoutFollowUps(issues: readonly ZodIssue[]): readonly ZodIssue[] {
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

/** Published forms of schemas with faults, kept since arguments may have thousands of faults. */
const PUBLISHED_FORMS = new WeakMap<z.ZodType, JsonObject>();

/** The published schema at a path; undefined where alternatives make it depend on the value. */
function publishedAt(schema: z.ZodType, path: Path): JsonValue | undefined {
  const published = PUBLISHED_FORMS.get(schema) ?? publishSchema(schema, true);
  PUBLISHED_FORMS.set(schema, published);
  let at: JsonValue | undefined = published;
  for (const step of path) {
    if (!isJsonObject(at)) return undefined;
    const inside: JsonValue | undefined = typeof step === "number" ? at["items"] : at["properties"];
    at = besidesNull(typeof step === "number" ? inside : isJsonObject(inside) ? member(inside, step) : undefined);
  }
  return at;
}

/** The one alternative besides null; the schema itself where there are several. */
function besidesNull(schema: JsonValue | undefined): JsonValue | undefined {
  const options = isJsonObject(schema) ? schema["anyOf"] : undefined;
  if (!isJsonArray(options)) return schema;
  const others = options.filter((option) => !isJsonObject(option) || option["type"] !== "null");
  return others.length === 1 ? others[0] : schema;
}

/** The member names of a schema at a path. */
function knownMembers(schema: z.ZodType, path: Path): string[] {
  const properties = propertiesOf(publishedAt(schema, path));
  return properties === null ? [] : Object.keys(properties);
}

/** The pattern of a fixed number of hex digits. */
const HEX_PATTERN = /^\^\[0-9a-f\]\{(\d+)\}\$$/;

/** What the published schema expects at a path, where it has more than a type; null else. */
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

/** The alternatives that a constant member distinguishes, in words; null without such a member. */
function alternatives(at: JsonObject): string | null {
  const options = at["oneOf"];
  const constants = (isJsonArray(options) ? options : []).map((option) => {
    const properties = Object.entries(propertiesOf(option) ?? {});
    return properties.find(([, value]) => isJsonObject(value) && typeof value["const"] === "string") ?? null;
  });
  const name = constants[0]?.[0];
  if (name === undefined || !constants.every((constant) => constant?.[0] === name)) return null;
  const values = constants.map((constant) => quoteValue((constant?.[1] as JsonObject)["const"]));
  return `an object whose ${name} is ${values.join(" or ")}`;
}

function propertiesOf(published: JsonValue | undefined): JsonObject | null {
  const properties = isJsonObject(published) ? published["properties"] : undefined;
  return isJsonObject(properties) ? properties : null;
}

/** The keywords to omit from a schema. The inner schema of a wrapper, such as an optional, is already shortened. */
function unlisted(schema: z.core.$ZodType): readonly string[] {
  if (!("innerType" in schema._zod.def)) return UNLISTED;
  return z.globalRegistry.get(schema)?.description === undefined ? [] : ["description"];
}

/**
 * The JSON Schema (2020-12) that a tool publishes for a zod schema, without `$schema` and the bounds of every integer.
 *
 * @param isWhole Whether it is full: the list of tools omits descriptions, patterns and bounds
 */
export function publishSchema(schema: z.ZodType, isWhole = false): JsonObject {
  const published = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const { [BRIEF]: brief, [BESIDES]: besides, [LISTED]: listed } = jsonSchema;
      const shortened = brief === undefined ? unlisted(zodSchema) : Object.keys(jsonSchema);
      const omitted = isWhole ? [] : shortened;
      for (const name of [BRIEF, BESIDES, LISTED, ...omitted]) delete jsonSchema[name];
      Object.assign(jsonSchema, isWhole ? besides : brief ?? listed);
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.const !== undefined) delete jsonSchema.type;
    },
  });
  delete published.$schema;
  return published as JsonObject;
}
