/**
 * Writes canonical text piece by piece, for the few values whose member order no JavaScript object can have.
 *
 * @module
 */

import type { JsonArray, JsonObject, JsonValue } from "./json.ts";
import { isPlainObject, refuseDeeper, refuseValue, sortNames } from "./members.ts";

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
