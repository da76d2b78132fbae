/**
 * Decodes tool arguments with a schema, which the tool also publishes. All faults are reported together, each with its
 * path.
 *
 * @module
 */

import * as z from "../../config/schema_builder.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { describeValue } from "../../config/problems.ts";
import { publish } from "../../config/published_schema.ts";
import { expectationOf } from "../../config/issue_expectation.ts";
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

/**
 * Decodes arguments. Members declared as free JSON are handed on as they are, by reference.
 *
 * @param schema A strict object schema
 * @param input The arguments as received
 * @returns The decoded arguments, or an `invalid_input` error with `details.issues`
 */
export function decodeInput<S extends z.AnySchema>(schema: S, input: JsonObject): Decoded<z.output<S>> {
  const reading = z.safeParse(schema, input);
  if (reading.ok) return { ok: true, input: reading.value as z.output<S> };
  // Arguments may have hundreds of thousands of faults: only those that are shown are described.
  const shown: InputIssue[] = [];
  let count = 0;
  for (const issue of reading.issues) {
    count += issue.code === "unknown_members" ? issue.names.length : 1;
    const room = ISSUES_MAXIMUM - shown.length;
    if (room > 0) shown.push(...describeIssue(schema, input, issue, room));
  }
  const [first] = shown;
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  const message = `Cannot read arguments: ${first?.path ?? "$"}: ${first?.message ?? "not valid"}${more}`;
  return {
    ok: false,
    error: toolError("invalid_input", message, { issues: shown.map((issue) => ({ ...issue })) }),
  };
}

/** The faults of an issue, at most `room`. */
function describeIssue(schema: z.AnySchema, input: JsonObject, issue: z.Issue, room: number): InputIssue[] {
  const { path } = issue;
  if (issue.code === "unknown_members") {
    return issue.names.slice(0, room).map((name) => unknownMember(path, name, issue.known));
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

const TYPE_NAMES: Readonly<Record<z.TypeName, string>> = {
  object: "an object",
  array: "an array",
  string: "a string",
  integer: "an integer",
  boolean: "true or false",
  any: "any JSON value",
};

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
const PUBLISHED_FORMS = new WeakMap<z.AnySchema, JsonObject>();

/** The published schema at a path; undefined where alternatives make it depend on the value. */
function publishedAt(schema: z.AnySchema, path: Path): JsonValue | undefined {
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

/** The pattern of a fixed number of hex digits. */
const HEX_PATTERN = /^\^\[0-9a-f\]\{(\d+)\}\$$/;

/** What the published schema expects at a path, where it has more than a type; null else. */
function publishedWords(schema: z.AnySchema, path: Path): string | null {
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

/** Schemas around another one, whose form is already shortened. */
const WRAPPERS: readonly string[] = ["nullable", "optional", "default"];

/** The keywords to omit from a schema. */
function unlisted({ form, metadata }: z.AnySchema): readonly string[] {
  if (!WRAPPERS.includes(form.kind)) return UNLISTED;
  return metadata["description"] === undefined ? [] : ["description"];
}

/**
 * The JSON Schema (2020-12) that a tool publishes, without the bounds of every integer.
 *
 * @param isWhole Whether it is full: the list of tools omits descriptions, patterns and bounds
 */
export function publishSchema(schema: z.AnySchema, isWhole = false): JsonObject {
  return publish(schema, (published, part) => {
    const { [BRIEF]: brief, [BESIDES]: besides, [LISTED]: listed } = published;
    const shortened = brief === undefined ? unlisted(part) : Object.keys(published);
    const omitted = isWhole ? [] : shortened;
    for (const name of [BRIEF, BESIDES, LISTED, ...omitted]) delete published[name];
    Object.assign(published, isWhole ? besides : brief ?? listed);
    if (published["maximum"] === Number.MAX_SAFE_INTEGER) delete published["maximum"];
    if (published["minimum"] === Number.MIN_SAFE_INTEGER) delete published["minimum"];
    if (published["const"] !== undefined) delete published["type"];
  });
}
