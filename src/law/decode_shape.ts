/**
 * Reading JSON shapes: each reader gives the value in the type asked for, or records why it cannot and gives
 * undefined.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { INTEGER_MAXIMUM, SPEC_LIMITS } from "./limits.ts";
import { below, type Place } from "./json_path.ts";
import type { Collector } from "./refusals.ts";
import { didYouMean, quote, quoteAll } from "./suggest.ts";

/** Reads one value at its place. */
export type Read<T> = (refusals: Collector, value: JsonValue, place: Place) => T | undefined;

/** A record of which any member may have failed to decode. */
export type Draft<T> = { readonly [K in keyof T]: T[K] | undefined };

// C0 controls, delete, and C1 controls: what no id, label or URI may hold.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** What a value is, in words, for messages. */
export function describe(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return `the string ${quote(value)}`;
  return `${value}`;
}

/** An object with no members but the ones named; says which are missing and which are unknown. */
export function readObject(
  refusals: Collector,
  value: JsonValue,
  place: Place,
  required: readonly string[],
  optional: readonly string[] = [],
): JsonObject | undefined {
  if (!isJsonObject(value)) {
    const members = required.length === 0 ? "" : ` with ${quoteAll(required)}`;
    refusals.refuse("type_invalid", place, `Expected an object${members}, got ${describe(value)}`);
    return undefined;
  }
  const known = [...required, ...optional];
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) refuseUnknown(refusals, place, name, known);
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) {
      refusals.refuse("member_missing", below(place, name), `Member ${quote(name)} is required`);
    }
  }
  return value;
}

function refuseUnknown(refusals: Collector, place: Place, name: string, known: readonly string[]): void {
  // A path is made of the names it passes, so a name beyond all measure stays out of it.
  const at = name.length <= SPEC_LIMITS.identifierBytes ? below(place, name) : place;
  const hint = didYouMean(name, known) || `; expected ${known.length === 0 ? "none" : `only ${quoteAll(known)}`}`;
  refusals.refuse("member_unknown", at, `Member ${quote(name)} is unknown${hint}`);
}

/** A member of an object that {@link readObject} has looked at; undefined, without another refusal, where it is absent. */
export function readMember<T>(
  refusals: Collector,
  object: JsonObject,
  place: Place,
  name: string,
  read: Read<T>,
): T | undefined {
  const value = member(object, name);
  return value === undefined ? undefined : read(refusals, value, below(place, name));
}

/** How many items an array may hold. */
export interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** An array of so many items, whether or not they could be read; undefined where it is none or its length is wrong. */
export function readArray<T>(
  refusals: Collector,
  value: JsonValue,
  place: Place,
  bounds: Bounds,
  read: (refusals: Collector, value: JsonValue, place: Place) => T,
): T[] | undefined {
  if (!isJsonArray(value)) {
    refusals.refuse("type_invalid", place, `Expected an array, got ${describe(value)}`);
    return undefined;
  }
  if (value.length > bounds.maximum) {
    refusals.refuse("too_many", place, `Expected at most ${bounds.maximum} items, got ${value.length}`);
    return undefined;
  }
  if (value.length < bounds.minimum) {
    refusals.refuse("too_few", place, `Expected at least ${bounds.minimum} items, got ${value.length}`);
    return undefined;
  }
  return value.map((item, index) => read(refusals, item, below(place, index)));
}

/** An array all of whose items could be read. */
export function readWholeArray<T>(
  refusals: Collector,
  value: JsonValue,
  place: Place,
  bounds: Bounds,
  read: Read<T>,
): T[] | undefined {
  const items = readArray<T | undefined>(refusals, value, place, bounds, read);
  if (items === undefined) return undefined;
  const whole = items.filter((item): item is T => item !== undefined);
  return whole.length === items.length ? whole : undefined;
}

/** A string without lone surrogates, of at most so many UTF-8 bytes. */
export function readText(maximumBytes: number, minimumBytes = 0): Read<string> {
  return (refusals, value, place) => {
    if (typeof value !== "string") {
      refusals.refuse("type_invalid", place, `Expected a string, got ${describe(value)}`);
      return undefined;
    }
    const problem = textProblem(value, minimumBytes, maximumBytes);
    if (problem === null) return value;
    refusals.refuse("value_invalid", place, problem);
    return undefined;
  };
}

/** True or false. */
export const readBoolean: Read<boolean> = (refusals, value, place) => {
  if (typeof value === "boolean") return value;
  refusals.refuse("type_invalid", place, `Expected a boolean, got ${describe(value)}`);
  return undefined;
};

/** An id, version, label or tag: 1 to 256 UTF-8 bytes without control characters. */
export const readIdentifier: Read<string> = (refusals, value, place) => {
  if (typeof value !== "string") {
    refusals.refuse("type_invalid", place, `Expected a string, got ${describe(value)}`);
    return undefined;
  }
  const problem = textProblem(value, 1, SPEC_LIMITS.identifierBytes) ?? controlProblem(value);
  if (problem === null) return value;
  refusals.refuse("identifier_invalid", place, problem);
  return undefined;
};

/** A non-empty string of at most so many UTF-8 bytes without control characters. */
export function readLine(maximumBytes: number): Read<string> {
  const text = readText(maximumBytes, 1);
  return (refusals, value, place) => {
    const line = text(refusals, value, place);
    if (line === undefined) return undefined;
    const problem = controlProblem(line);
    if (problem === null) return line;
    refusals.refuse("value_invalid", place, problem);
    return undefined;
  };
}

function textProblem(text: string, minimumBytes: number, maximumBytes: number): string | null {
  if (text.length > maximumBytes || utf8Length(text) > maximumBytes) {
    return `Expected at most ${maximumBytes} UTF-8 bytes, got ${utf8Length(text)}`;
  }
  if (utf8Length(text) < minimumBytes) return "Expected a string that is not empty";
  return text.isWellFormed() ? null : "Expected Unicode text, got a lone surrogate";
}

function controlProblem(text: string): string | null {
  return CONTROL.test(text) ? `Expected no control characters, got ${quote(text)}` : null;
}

/** An integer within bounds, both included. */
export function readInteger(minimum: number, maximum: number = INTEGER_MAXIMUM): Read<number> {
  return (refusals, value, place) => {
    if (typeof value !== "number" || !Number.isInteger(value)) {
      refusals.refuse("type_invalid", place, `Expected an integer, got ${describe(value)}`);
      return undefined;
    }
    if (value >= minimum && value <= maximum) return value;
    refusals.refuse("value_invalid", place, `Expected an integer from ${minimum} to ${maximum}, got ${value}`);
    return undefined;
  };
}

/** One of several strings. */
export function readChoice<const Name extends string>(names: readonly Name[]): Read<Name> {
  return (refusals, value, place) => {
    if (typeof value !== "string") {
      refusals.refuse("type_invalid", place, `Expected a string, got ${describe(value)}`);
      return undefined;
    }
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    const hint = didYouMean(value, names) || `; expected ${names.length > 1 ? "one of " : ""}${quoteAll(names)}`;
    refusals.refuse("value_invalid", place, `Value ${quote(value)} is unknown${hint}`);
    return undefined;
  };
}

/** A member, or the default where it is absent; undefined only where it is there and malformed. */
export function readOr<T>(
  refusals: Collector,
  object: JsonObject,
  place: Place,
  name: string,
  read: Read<T>,
  absent: T,
): T | undefined {
  return Object.hasOwn(object, name) ? readMember(refusals, object, place, name, read) : absent;
}

/**
 * The member that tells the variants of an object apart: its value picks the variant. Gives undefined, with the
 * reason recorded, where there is no object or no such variant.
 *
 * @param hint Ends the message where the member is not there
 */
export function readVariant<const Name extends string>(
  refusals: Collector,
  value: JsonValue,
  place: Place,
  discriminator: string,
  names: readonly Name[],
  hint = "",
): Name | undefined {
  if (!isJsonObject(value)) {
    const choice = names.length > 1 ? "one of " : "";
    const message = `Expected an object whose ${quote(discriminator)} is ${choice}${quoteAll(names)}`;
    refusals.refuse("type_invalid", place, `${message}, got ${describe(value)}`);
    return undefined;
  }
  const name = member(value, discriminator);
  if (name !== undefined) return readChoice(names)(refusals, name, below(place, discriminator));
  const message = `Member ${quote(discriminator)} is required; expected ${names.length > 1 ? "one of " : ""}`;
  refusals.refuse("member_missing", below(place, discriminator), message + quoteAll(names) + hint);
  return undefined;
}

/** The canonical text of a free JSON value; undefined, with the reason recorded, where it has none. */
export function readCanonical(refusals: Collector, value: JsonValue, place: Place): string | undefined {
  try {
    return canonicalize(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    refusals.refuse("value_invalid", place, `Value has no canonical form: ${reason}`);
    return undefined;
  }
}
