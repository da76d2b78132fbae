/**
 * Decodes tool arguments with a schema, which the tool also publishes. All faults are reported together, each with its
 * path.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath, stepsTo } from "../../canonical/path.ts";
import { type Published, type Reader, readSilently, type ShapeFault } from "../../canonical/shape.ts";
import { expectation, isOfOtherType, publishTable } from "../../canonical/table_shape.ts";
import { describeValue } from "../../config/problems.ts";
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
 * @param schema A table
 * @param input The arguments as received
 * @returns The decoded arguments, or an `invalid_input` error with `details.issues`
 */
export function decodeInput<T>(schema: Reader<T>, input: JsonObject): Decoded<T> {
  const decoded = readSilently(schema, input);
  if (decoded !== undefined) return { ok: true, input: decoded };
  // Arguments may have hundreds of thousands of faults: only those that are shown are described.
  const shown: InputIssue[] = [];
  let count = 0;
  schema(
    {
      add: (fault, path) => {
        count++;
        if (shown.length < ISSUES_MAXIMUM) shown.push(describeFault(schema, fault, stepsTo(path)));
      },
    },
    input,
    null,
  );
  const [first] = shown;
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  const message = `Cannot read arguments: ${first?.path ?? "$"}: ${first?.message ?? "not valid"}${more}`;
  return {
    ok: false,
    error: toolError("invalid_input", message, { issues: shown.map((issue) => ({ ...issue })) }),
  };
}

function describeFault(schema: Published, fault: ShapeFault, steps: Path): InputIssue {
  if (fault.kind === "unknown") return unknownMember(steps, fault.name, fault.known);
  const at = fault.kind === "missing" ? [...steps, fault.name] : steps;
  const path = formatPath(at);
  const expected = isOfOtherType(fault) && publishedWords(schema, at) || expectedWords(fault);
  const value = "value" in fault ? fault.value : undefined;
  if (value === undefined && fault.kind !== "items") {
    return { path, message: `Member is required: expected ${expected}`, expected };
  }
  // Arguments may hold secrets, so a message describes a value and does not repeat it.
  const got = fault.kind === "items"
    ? describeValue(fault.text ?? Array(fault.count))
    : describeValue(value, "an object");
  return { path, message: `Expected ${expected}, got ${got}`, expected, got };
}

function expectedWords(fault: ShapeFault): string {
  const expected = expectation(fault);
  return expected === "a boolean" ? "true or false" : expected;
}

function unknownMember(path: Path, name: string, known: readonly string[]): InputIssue {
  const at = name.length <= PATH_NAME_MAXIMUM ? [...path, name] : path;
  const expected = known.length === 0 ? "no such member" : `only ${quoteAll(known)}`;
  const hint = didYouMean(name, known) || `; expected ${expected}`;
  return { path: formatPath(at), message: `Member ${quote(name)} is unknown${hint}`, expected };
}

function quoteValue(value: unknown): string {
  return typeof value === "string" ? quote(value) : String(value);
}

/** Published forms of schemas with faults, kept since arguments may have thousands of faults. */
const PUBLISHED_FORMS = new WeakMap<Published, JsonObject>();

/** The published schema at a path; undefined where alternatives make it depend on the value. */
function publishedAt(schema: Published, path: Path): JsonValue | undefined {
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
function publishedWords(schema: Published, path: Path): string | null {
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

/** The keywords to omit from a schema. What a schema is around is shortened by itself. */
function unlisted({ around }: Pick<Reader<unknown>, "around">): readonly string[] {
  if (around === undefined) return UNLISTED;
  return around["description"] === undefined ? [] : ["description"];
}

/**
 * The JSON Schema (2020-12) that a tool publishes, without the bounds of every integer.
 *
 * @param isWhole Whether it is full: the list of tools omits descriptions, patterns and bounds
 */
export function publishSchema(schema: Published, isWhole = false): JsonObject {
  return publishTable(schema, (published, part) => {
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
