/**
 * Compiles user JSON Schemas (2020-12) to validators. Runs inside the worker, and in tests.
 *
 * @module
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { quote } from "../../law/suggest.ts";
import { ownKeywords } from "./schema_keywords.ts";
import { reviewSchema } from "./schema_rules.ts";

/** A compiled schema: null when the value is valid, else what is wrong with it and where. */
export type Validator = (value: JsonValue) => string | null;

/** A compiled schema, or why there is none. */
export type Compilation = { readonly validator: Validator } | { readonly refusal: string };

/**
 * Plain 2020-12, as the specification has it:
 * - `strict: false`, because unknown keywords are annotations there, not errors;
 * - `validateFormats: false`, because `format` is an annotation there unless a vocabulary says otherwise;
 * - `ownProperties`, so that `constructor` or `toString` is a member only where the document has it;
 * - `allErrors: false`, so that a hostile document cannot ask for a report without end;
 * - no `loadSchema`: a reference out of the document is an error, never a fetch.
 */
const OPTIONS = {
  strict: false,
  validateFormats: false,
  ownProperties: true,
  allErrors: false,
  logger: false,
} as const;

const metaschema = new Ajv2020(OPTIONS);

/**
 * Compiles a schema. Each gets a compiler of its own, so that no `$id` of one is seen by another.
 *
 * @param schema The JSON Schema document, an object or a boolean
 */
export function compileSchema(schema: JsonValue): Compilation {
  if (typeof schema !== "boolean" && (typeof schema !== "object" || schema === null || Array.isArray(schema))) {
    return { refusal: "$: expected an object or a boolean" };
  }
  const review = reviewSchema(schema);
  if ("refusal" in review) return review;
  const document = schema as boolean | Record<string, unknown>;
  try {
    if (metaschema.validateSchema(document) !== true) {
      return { refusal: describeErrors(metaschema.errors, schema) };
    }
    const compiler = new Ajv2020({ ...OPTIONS, validateSchema: false });
    for (const definition of ownKeywords(metaschema, review.schemas)) {
      compiler.removeKeyword(String(definition.keyword)).addKeyword(definition);
    }
    const validate = compiler.compile(document);
    return { validator: (value) => validate(value) === true ? null : describeErrors(validate.errors, value) };
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

interface ValidationError {
  /** JSON Pointer into what was validated. */
  readonly instancePath: string;
  readonly message?: string;
  readonly params: object;
}

function describeErrors(errors: readonly ValidationError[] | null | undefined, root: JsonValue): string {
  const first = errors?.[0];
  if (first === undefined) return "$: not valid";
  return `${pathOf(first.instancePath, root)}: ${first.message ?? "not valid"}${detailOf(first.params)}`;
}

/** A JSON Pointer as the JSON path that every other message has. */
function pathOf(pointer: string, root: JsonValue): string {
  let at: JsonValue | undefined = root;
  const steps = pointer.split("/").slice(1).map((part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const isIndex = isJsonArray(at);
    if (isJsonArray(at)) at = at[Number(name)];
    else at = isJsonObject(at) ? member(at, name) : undefined;
    return isIndex ? Number(name) : name;
  });
  return formatPath(steps);
}

/** Values of an enumeration that a message lists. */
const LISTED_VALUES = 16;

/** The name that is one too many, or what would have been allowed, where the library's own message leaves it out. */
function detailOf(params: object): string {
  const { additionalProperty, unevaluatedProperty, allowedValues } = params as Readonly<Record<string, unknown>>;
  const name = additionalProperty ?? unevaluatedProperty;
  if (typeof name === "string") return `: ${quote(name)}`;
  if (!Array.isArray(allowedValues) || allowedValues.length > LISTED_VALUES) return "";
  return `: ${allowedValues.map((value) => quoteValue(value)).join(", ")}`;
}

function quoteValue(value: unknown): string {
  return typeof value === "string" ? quote(value) : (JSON.stringify(value) ?? "").slice(0, LISTED_VALUES);
}
