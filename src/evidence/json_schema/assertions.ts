/** Keywords that check a value without subschemas (JSON Schema 2020-12 Validation, 6). */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import type { Search, Spend } from "../regular_expression/search.ts";

/** The reason why a value is invalid; null where it is valid. */
export type Assertion = (value: JsonValue, spend: Spend) => string | null;

/** Values of an enumeration that a message lists, and characters of a value that it quotes. */
const LISTED_VALUES = 16;

/** Compiles a keyword's value, which is valid under the metaschema. */
export type MakeAssertion = (given: JsonValue, search: (pattern: string) => Search) => Assertion;

/** The keywords and their compilers. */
export const ASSERTIONS: ReadonlyMap<string, MakeAssertion> = new Map<string, MakeAssertion>([
  ["type", (given: JsonValue) => typeAssertion(isJsonArray(given) ? given : [given])],
  ["const", constAssertion],
  ["enum", enumAssertion],
  ["multipleOf", multipleAssertion],
  ["maximum", numbers((value, limit) => value <= limit, "must be <=")],
  ["exclusiveMaximum", numbers((value, limit) => value < limit, "must be <")],
  ["minimum", numbers((value, limit) => value >= limit, "must be >=")],
  ["exclusiveMinimum", numbers((value, limit) => value > limit, "must be >")],
  ["maxLength", most(lengthOf, "characters")],
  ["minLength", least(lengthOf, "characters")],
  ["pattern", patternAssertion],
  ["maxItems", most(itemCount, "items")],
  ["minItems", least(itemCount, "items")],
  ["uniqueItems", uniqueAssertion],
  ["maxProperties", most(memberCount, "properties")],
  ["minProperties", least(memberCount, "properties")],
  ["required", (given: JsonValue) => requiredAssertion(given as readonly string[])],
  ["dependentRequired", (given: JsonValue) => dependentAssertion(given as JsonObject)],
]);

const TYPES: ReadonlyMap<JsonValue, (value: JsonValue) => boolean> = new Map([
  ["array", isJsonArray],
  ["boolean", (value: JsonValue) => typeof value === "boolean"],
  ["integer", (value: JsonValue) => Number.isInteger(value)],
  ["null", (value: JsonValue) => value === null],
  ["number", (value: JsonValue) => typeof value === "number"],
  ["object", isJsonObject],
  ["string", (value: JsonValue) => typeof value === "string"],
]);

function typeAssertion(names: JsonArray): Assertion {
  const tests = names.map((name) => TYPES.get(name)).filter((test) => test !== undefined);
  const wrong = `must be ${names.join(" or ")}`;
  return (value) => tests.some((test) => test(value)) ? null : wrong;
}

function constAssertion(allowed: JsonValue): Assertion {
  const wrong = `must be equal to ${quoteValue(allowed)}`;
  const text = isContainer(allowed) ? canonicalize(allowed) : null;
  return (value, spend) => {
    if (typeof value === "string") spend(costOf(value));
    // The whole value is written and counted: even listing the names of a larger container can take long.
    const isEqual = text !== null && isContainer(value) ? textOf(value, spend) === text : value === allowed;
    return isEqual ? null : wrong;
  };
}

function enumAssertion(given: JsonValue): Assertion {
  const allowed = given as JsonArray;
  const scalars = new Set(allowed.filter((value) => !hasText(value)));
  const texts = new Set(allowed.filter(hasText).map((value) => textOf(value, () => undefined)));
  const listed = allowed.length > LISTED_VALUES ? "" : `: ${allowed.map(quoteValue).join(", ")}`;
  const wrong = `must be equal to one of the allowed values${listed}`;
  return (value, spend) => {
    if (typeof value === "string") spend(costOf(value));
    const found = hasText(value) ? texts.size > 0 && texts.has(textOf(value, spend)) : scalars.has(value);
    return found ? null : wrong;
  };
}

/** Numbers are compared as decimals: 19.99 is a multiple of 0.01, although the division of the doubles has a remainder. */
function multipleAssertion(given: JsonValue): Assertion {
  const divisor = decimalParts(given as number);
  const wrong = `must be multiple of ${given}`;
  return (value) => {
    if (typeof value !== "number") return null;
    const dividend = decimalParts(value);
    const shift = BigInt(dividend.exponent - divisor.exponent);
    const rest = shift >= 0n
      ? dividend.digits * 10n ** shift % divisor.digits
      : dividend.digits % (divisor.digits * 10n ** -shift);
    return rest === 0n ? null : wrong;
  };
}

/** A finite number as `digits * 10 ** exponent`. The exponents of two doubles differ by less than 700. */
function decimalParts(number: number): { readonly digits: bigint; readonly exponent: number } {
  const [significand = "", exponent = ""] = number.toExponential().split("e");
  const [whole = "", fraction = ""] = significand.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function numbers(holds: (value: number, limit: number) => boolean, wrong: string): (given: JsonValue) => Assertion {
  return (given) => (value) => typeof value !== "number" || holds(value, given as number) ? null : `${wrong} ${given}`;
}

/** The size of a value; null where the keyword does not apply to it. */
type Measure = (value: JsonValue, spend: Spend) => number | null;

function most(measure: Measure, unit: string): (given: JsonValue) => Assertion {
  return (given) => (value, spend) =>
    (measure(value, spend) ?? 0) <= (given as number) ? null : `must NOT have more than ${given} ${unit}`;
}

function least(measure: Measure, unit: string): (given: JsonValue) => Assertion {
  return (given) => (value, spend) =>
    (measure(value, spend) ?? Infinity) >= (given as number) ? null : `must NOT have fewer than ${given} ${unit}`;
}

/** The number of code points. */
function lengthOf(value: JsonValue, spend: Spend): number | null {
  if (typeof value !== "string") return null;
  spend(costOf(value));
  let length = 0;
  for (const _ of value) length++;
  return length;
}

function itemCount(value: JsonValue): number | null {
  return isJsonArray(value) ? value.length : null;
}

function memberCount(value: JsonValue, spend: Spend): number | null {
  if (!isJsonObject(value)) return null;
  return namesOf(value, spend).length;
}

/** The names of an object's members. Listing all of them takes time even if the caller reads few. */
export function namesOf(value: JsonObject, spend: Spend): readonly string[] {
  const names = Object.keys(value);
  spend(names.length);
  return names;
}

function patternAssertion(given: JsonValue, compile: (pattern: string) => Search): Assertion {
  const search = compile(given as string);
  const wrong = `must match pattern ${quote(given as string)}`;
  return (value, spend) => typeof value !== "string" || search(value, spend) ? null : wrong;
}

function uniqueAssertion(given: JsonValue): Assertion {
  if (given !== true) return () => null;
  return (value, spend) => {
    if (!isJsonArray(value)) return null;
    const scalars = new Map<JsonValue, number>();
    const texts = new Map<JsonValue, number>();
    for (const [index, item] of value.entries()) {
      spend(1);
      const isText = hasText(item);
      const indices = isText ? texts : scalars;
      const key = isText ? textOf(item, spend) : item;
      if (typeof item === "string") spend(costOf(item));
      const before = indices.get(key);
      if (before !== undefined) return `must NOT have duplicate items (${before} and ${index})`;
      indices.set(key, index);
    }
    return null;
  };
}

function requiredAssertion(names: readonly string[]): Assertion {
  return (value, spend) => {
    const missing = isJsonObject(value) ? firstMissing(value, names, spend) : undefined;
    return missing === undefined ? null : `must have required property ${quote(missing)}`;
  };
}

function dependentAssertion(given: JsonObject): Assertion {
  const dependencies = Object.entries(given) as [string, readonly string[]][];
  return (value, spend) => {
    if (!isJsonObject(value)) return null;
    for (const [name, needed] of dependencies) {
      spend(1);
      const missing = Object.hasOwn(value, name) ? firstMissing(value, needed, spend) : undefined;
      if (missing !== undefined) return `must have property ${quote(missing)} when property ${quote(name)} is present`;
    }
    return null;
  };
}

function firstMissing(value: JsonObject, names: readonly string[], spend: Spend): string | undefined {
  const index = names.findIndex((name) => !Object.hasOwn(value, name));
  spend(index < 0 ? names.length : index);
  return names[index];
}

/** Steps of reading a string. */
function costOf(text: string): number {
  return text.length >> 4;
}

/**
 * Whether a value is looked up by its text. Numbers are, because the runtime's hash of a number is predictable, so that
 * an attacker could choose many with equal hashes; its hash of strings is seeded.
 */
function hasText(value: JsonValue): boolean {
  return isContainer(value) || typeof value === "number";
}

/** The canonical text of a value, which is equal for equal values. */
function textOf(value: JsonValue, spend: Spend): string {
  if (typeof value === "number") return `${value}`;
  const text = canonicalize(value);
  spend(costOf(text));
  return text;
}

function isContainer(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

function quoteValue(value: JsonValue): string {
  return typeof value === "string" ? quote(value) : JSON.stringify(value).slice(0, LISTED_VALUES);
}
