/** The JSON data model of all modules. */

/** A JSON value without inner values. */
export type JsonPrimitive = null | boolean | number | string;

/** An array of JSON values. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. Names come from outside and `__proto__` is an ordinary name, so read members with {@link member}. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Any value of JSON text (RFC 8259). */
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

/** Whether a JSON value is an object: neither an array nor null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is an array. */
export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}

/**
 * The own member of an object, or undefined. Inherited names such as `constructor` are never found.
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
