/**
 * Keywords that look at a value alone (JSON Schema 2020-12 Validation, 6).
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import { jsonEqual } from "../../law/value/json_equality.ts";
import type { Search, Spend } from "../regular_expression/search.ts";

/** What is wrong with a value, or null. */
export type Assertion = (value: JsonValue, spend: Spend) => string | null;

/** Values of an enumeration that a message lists, and characters of a value that it shows. */
const LISTED_VALUES = 16;

/** Makes an assertion of a keyword's value, at which the metaschema has looked; what compiles patterns counts them. */
export type MakeAssertion = (given: JsonValue, search: (pattern: string) => Search) => Assertion;

/** The keywords, each with what its value asks for. */
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
  const cost = isContainer(allowed) ? costOf(canonicalize(allowed)) : 0;
  return (value, spend) => {
    if (isContainer(value)) spend(cost);
    return jsonEqual(value, allowed) ? null : wrong;
  };
}

function enumAssertion(given: JsonValue): Assertion {
  const allowed = given as JsonArray;
  const scalars = new Set(allowed.filter((value) => !isContainer(value)));
  const containers = new Set(allowed.filter(isContainer).map(canonicalize));
  const listed = allowed.length > LISTED_VALUES ? "" : `: ${allowed.map(quoteValue).join(", ")}`;
  const wrong = `must be equal to one of the allowed values${listed}`;
  return (value, spend) => {
    const found = isContainer(value) ? containers.size > 0 && containers.has(textOf(value, spend)) : scalars.has(value);
    return found ? null : wrong;
  };
}

/** Numbers count as what they are written as: 19.99 is a multiple of 0.01, which no division of doubles says. */
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

/** How much of something a value has; null where the keyword is not about such values. */
type Measure = (value: JsonValue, spend: Spend) => number | null;

function most(measure: Measure, unit: string): (given: JsonValue) => Assertion {
  return (given) => (value, spend) =>
    (measure(value, spend) ?? 0) <= (given as number) ? null : `must NOT have more than ${given} ${unit}`;
}

function least(measure: Measure, unit: string): (given: JsonValue) => Assertion {
  return (given) => (value, spend) =>
    (measure(value, spend) ?? Infinity) >= (given as number) ? null : `must NOT have fewer than ${given} ${unit}`;
}

/** Characters, each code point one. */
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
  const { length } = Object.keys(value);
  spend(length);
  return length;
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
    spend(value.length);
    const scalars = new Map<JsonValue, number>();
    const containers = new Map<JsonValue, number>();
    for (const [index, item] of value.entries()) {
      const [seen, key] = isContainer(item) ? [containers, textOf(item, spend)] : [scalars, item];
      const before = seen.get(key);
      if (before !== undefined) return `must NOT have duplicate items (${before} and ${index})`;
      seen.set(key, index);
    }
    return null;
  };
}

function requiredAssertion(names: readonly string[]): Assertion {
  return (value) => {
    const missing = isJsonObject(value) ? names.find((name) => !Object.hasOwn(value, name)) : undefined;
    return missing === undefined ? null : `must have required property ${quote(missing)}`;
  };
}

function dependentAssertion(given: JsonObject): Assertion {
  const dependencies = Object.entries(given) as [string, readonly string[]][];
  return (value, spend) => {
    if (!isJsonObject(value)) return null;
    for (const [name, needed] of dependencies) {
      spend(1);
      const missing = Object.hasOwn(value, name) ? needed.find((one) => !Object.hasOwn(value, one)) : undefined;
      if (missing !== undefined) return `must have property ${quote(missing)} when property ${quote(name)} is present`;
    }
    return null;
  };
}

/** Steps of going through a text. */
function costOf(text: string): number {
  return text.length >> 4;
}

/** The canonical text of a value, which is equal for equal values. */
function textOf(value: JsonValue, spend: Spend): string {
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
