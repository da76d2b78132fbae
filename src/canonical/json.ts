/**
 * The JSON data model that every room shares.
 *
 * @module
 */

/** A JSON value that holds no other value. */
export type JsonPrimitive = null | boolean | number | string;

/** An array of JSON values. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. Member names come from outside: `__proto__` is an ordinary one, so read with {@link member}. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Any value that JSON text can carry (RFC 8259). */
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

/** Tells whether a JSON value is an object, neither an array nor null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells whether a JSON value is an array. */
export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}

/**
 * The own member of an object, or undefined where it has none; inherited names such as `constructor` are never found.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { member } from "@/canonical/json.ts";
 *
 * assert.equal(member({ a: 1 }, "a"), 1);
 * assert.equal(member({}, "constructor"), undefined);
 * ```
 */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
