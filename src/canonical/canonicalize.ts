/**
 * Canonical JSON text, RFC 8785 (JCS): every value has exactly one text.
 *
 * The native serializer writes numbers and strings as RFC 8785 requires. It does not order members, reject values
 * outside of I-JSON or bound depth. So one walk checks the value, and copies only the objects whose members are out of
 * order.
 */

import type { JsonArray, JsonObject, JsonValue } from "./json.ts";
import { areSorted, isPlainObject, refuseDeeper, refuseValue, sortNames } from "./members.ts";

/**
 * The canonical text of any JSON value, RFC 8785, written member by member. It is slower than the native serializer on
 * an ordered copy, but it can write names such as `10` and `2` in canonical order.
 *
 * @param value A JSON value
 * @param depthLimit Maximum nesting of containers
 * @returns The canonical text
 * @throws {TypeError} On a value outside of I-JSON
 * @throws {RangeError} On a value nested deeper than the limit
 */
export function writeText(value: JsonValue, depthLimit: number): string {
  if (typeof value === "string") return writeString(value);
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : refuseValue(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null) return "null";
  if (typeof value !== "object") return refuseValue(value);
  return writeContainer(value, 1, depthLimit);
}

function writeContainer(value: JsonArray | JsonObject, depth: number, depthLimit: number): string {
  if (depth > depthLimit) return refuseDeeper(depthLimit);
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      if (index > 0) text += ",";
      text += writeInner(value[index] as JsonValue, depth, depthLimit);
    }
    return text + "]";
  }
  if (!isPlainObject(value)) return refuseValue(value);
  const names = Object.keys(value);
  sortNames(names);
  let text = "{";
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (index > 0) text += ",";
    text += writeString(name) + ":" + writeInner((value as JsonObject)[name] as JsonValue, depth, depthLimit);
  }
  return text + "}";
}

function writeInner(value: JsonValue, depth: number, depthLimit: number): string {
  return typeof value === "object" && value !== null
    ? writeContainer(value, depth + 1, depthLimit)
    : writeText(value, depthLimit);
}

function writeString(text: string): string {
  return text.isWellFormed() ? JSON.stringify(text) : refuseValue(text);
}

/**
 * Maximum nesting of containers in canonical text. It is twice the limit of the scanner, so that gate can wrap a value
 * that it received.
 */
export const CANONICAL_DEPTH_LIMIT = 128;

const encoder = new TextEncoder();

/**
 * The canonical text of a JSON value, RFC 8785: no white space, and members ordered by the UTF-16 code units of their
 * names. Numbers have their shortest ECMAScript form (`-0` is `0`), strings the fewest escapes.
 *
 * @param value A JSON value
 * @returns The canonical text
 * @throws {TypeError} On a value outside of I-JSON (RFC 7493): undefined, functions, symbols, bigints, numbers that are
 * not finite, strings or names with a lone surrogate, objects of a class, holes in arrays
 * @throws {RangeError} On a value nested deeper than {@link CANONICAL_DEPTH_LIMIT}, so also on a cycle
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalize } from "@/canonical/canonicalize.ts";
 *
 * assert.equal(canonicalize({ b: [1.0, 1e21], a: "\u20ac" }), '{"a":"\u20ac","b":[1,1e+21]}');
 * ```
 */
export function canonicalize(value: JsonValue): string {
  const ordered = inOrder(value, 1);
  if (ordered === undefined) return writeText(value, CANONICAL_DEPTH_LIMIT);
  const text = JSON.stringify(ordered);
  // The native serializer escapes lone surrogates; nothing else that it writes starts with an unescaped "\ud". A string
  // may itself contain a backslash before "ud", so the values are checked.
  if (text.includes("\\ud")) refuseLoneSurrogates(ordered);
  return text;
}

/**
 * The canonical bytes of a JSON value: its canonical text in UTF-8.
 *
 * @param value A JSON value
 * @returns The bytes that hashes and signatures cover
 * @throws {TypeError} As {@link canonicalize}
 * @throws {RangeError} As {@link canonicalize}
 */
export function canonicalBytes(value: JsonValue): Uint8Array<ArrayBuffer> {
  return encoder.encode(canonicalize(value));
}

/**
 * The value with the members of every object in canonical order: the value itself if they are in order, else a copy of
 * the objects out of order. Undefined if no JavaScript object can have that order: names such as `10` and `2` are
 * always enumerated first, as numbers.
 */
function inOrder(value: JsonValue, depth: number): JsonValue | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : refuseValue(value);
  if (typeof value !== "object") return refuseValue(value);
  if (depth > CANONICAL_DEPTH_LIMIT) return refuseDeeper(CANONICAL_DEPTH_LIMIT);
  return Array.isArray(value) ? arrayInOrder(value as JsonArray, depth) : objectInOrder(value as JsonObject, depth);
}

function arrayInOrder(array: JsonArray, depth: number): JsonArray | undefined {
  let copy: JsonValue[] | null = null;
  for (let index = 0; index < array.length; index++) {
    const item = array[index] as JsonValue;
    const ordered = inOrder(item, depth + 1);
    if (ordered === item) continue;
    if (ordered === undefined) return undefined;
    copy ??= array.slice();
    copy[index] = ordered;
  }
  return copy ?? array;
}

function objectInOrder(object: JsonObject, depth: number): JsonObject | undefined {
  if (!isPlainObject(object)) return refuseValue(object);
  const names = Object.keys(object);
  if (!areSorted(names)) {
    // A name that is an array index is always enumerated first, so the first name is enough.
    if (startsWithDigit(names[0] as string)) return undefined;
    sortNames(names);
    return copyInOrder(object, names, depth);
  }
  for (let index = 0; index < names.length; index++) {
    const value = object[names[index] as string] as JsonValue;
    const ordered = inOrder(value, depth + 1);
    if (ordered === undefined) return undefined;
    if (ordered !== value) return copyFrom(object, names, index, ordered, depth);
  }
  return object;
}

/** A copy of an object with its members in the order of `names`. */
function copyInOrder(object: JsonObject, names: readonly string[], depth: number): JsonObject | undefined {
  const copy: Record<string, JsonValue> = {};
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const ordered = inOrder(object[name] as JsonValue, depth + 1);
    if (ordered === undefined) return undefined;
    setMember(copy, name, ordered);
  }
  return copy;
}

/**
 * A copy of an object whose members are in the order of `names`. The members before `from` need no copy, and `ordered`
 * is the copy of the one at `from`. So no member is walked twice; otherwise each level would double the work.
 */
function copyFrom(
  object: JsonObject,
  names: readonly string[],
  from: number,
  ordered: JsonValue,
  depth: number,
): JsonObject | undefined {
  const copy: Record<string, JsonValue> = {};
  for (let index = 0; index < from; index++) {
    setMember(copy, names[index] as string, object[names[index] as string] as JsonValue);
  }
  setMember(copy, names[from] as string, ordered);
  for (let index = from + 1; index < names.length; index++) {
    const name = names[index] as string;
    const value = inOrder(object[name] as JsonValue, depth + 1);
    if (value === undefined) return undefined;
    setMember(copy, name, value);
  }
  return copy;
}

/** Adds a member; assignment to `__proto__` would set the prototype instead. */
function setMember(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}

function startsWithDigit(name: string): boolean {
  const unit = name.charCodeAt(0);
  return unit >= 0x30 && unit <= 0x39;
}

function refuseLoneSurrogates(value: JsonValue): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) refuseValue(value);
  } else if (Array.isArray(value)) {
    for (const item of value as JsonArray) refuseLoneSurrogates(item);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value as JsonObject)) {
      if (!name.isWellFormed()) refuseValue(name);
      refuseLoneSurrogates(item);
    }
  }
}
