/**
 * The keywords of OpenAPI schemas that become keywords of JSON Schema 2020-12, and the form that the value of each must
 * have. Every other keyword is an annotation or an extension, and is left out.
 */

import { isJsonArray, isJsonObject, type JsonArray, type JsonValue } from "../../../canonical/json.ts";

/** The types of JSON Schema. */
export const SCHEMA_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"] as const;

const isType = (value: JsonValue): boolean => (SCHEMA_TYPES as readonly JsonValue[]).includes(value);
const isDistinct = (values: JsonArray): boolean => new Set(values).size === values.length;
const isTypeArray = (value: JsonArray): boolean => value.length > 0 && value.every(isType) && isDistinct(value);
const isNumber = (value: JsonValue): boolean => typeof value === "number";
const isCount = (value: JsonValue): boolean => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isText = (value: JsonValue): boolean => typeof value === "string";
const isTextArray = (value: JsonValue): boolean => isJsonArray(value) && value.every(isText) && isDistinct(value);

/** Keywords without subschemas, each with the test of its value; the compiler of patterns tests `pattern` in addition. */
export const ASSERTION_FORMS: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ["type", (value: JsonValue) => isJsonArray(value) ? isTypeArray(value) : isType(value)],
  ["enum", isJsonArray],
  ["const", () => true],
  ["format", isText],
  ["multipleOf", (value: JsonValue) => typeof value === "number" && value > 0],
  ["maximum", isNumber],
  ["exclusiveMaximum", isNumber],
  ["minimum", isNumber],
  ["exclusiveMinimum", isNumber],
  ["maxLength", isCount],
  ["minLength", isCount],
  ["pattern", isText],
  ["maxItems", isCount],
  ["minItems", isCount],
  ["uniqueItems", (value: JsonValue) => typeof value === "boolean"],
  ["maxContains", isCount],
  ["minContains", isCount],
  ["maxProperties", isCount],
  ["minProperties", isCount],
  ["required", isTextArray],
  ["dependentRequired", (value: JsonValue) => isJsonObject(value) && Object.values(value).every(isTextArray)],
]);

/** Keywords whose value is one schema; the value that is true for those that apply it to the same value in place. */
export const SINGLE_SCHEMAS: ReadonlyMap<string, boolean> = new Map([
  ["additionalProperties", false],
  ["contains", false],
  ["items", false],
  ["propertyNames", false],
  ["unevaluatedItems", false],
  ["unevaluatedProperties", false],
  ["not", true],
  ["if", true],
  ["then", true],
  ["else", true],
]);

/** Keywords whose value is an array of schemas, as {@link SINGLE_SCHEMAS}. */
export const SCHEMA_LISTS: ReadonlyMap<string, boolean> = new Map([
  ["allOf", true],
  ["anyOf", true],
  ["oneOf", true],
  ["prefixItems", false],
]);

/** Keywords whose value maps names to schemas, as {@link SINGLE_SCHEMAS}. */
export const SCHEMA_MAPS: ReadonlyMap<string, boolean> = new Map([
  ["properties", false],
  ["patternProperties", false],
  ["dependentSchemas", true],
]);

/** Keywords that change what other keywords mean, and that an import does not follow. */
export const UNSUPPORTED_KEYWORDS = ["$id", "$dynamicRef", "$recursiveRef"] as const;
