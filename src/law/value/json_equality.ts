import { isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";

/**
 * Whether two JSON values are equal: numbers by value, strings by code units without normalization, arrays item by
 * item, objects by their own members in any order, at every depth.
 *
 * It uses a list of pairs and no recursion, so nesting cannot exhaust the call stack.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonEqual } from "@/law/value/json_equality.ts";
 *
 * assert.ok(jsonEqual({ a: [1.0], b: null }, { b: null, a: [1] }));
 * assert.ok(!jsonEqual([1], { 0: 1 }));
 * ```
 */
export function jsonEqual(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  const pending: JsonValue[] = [left, right];
  while (pending.length > 0) {
    const a = pending.pop();
    const b = pending.pop();
    if (a === undefined || b === undefined || !sameLevel(a, b, pending)) return false;
  }
  return true;
}

/** Compares two values without their inner containers, which are added to the list in pairs. */
function sameLevel(a: JsonValue, b: JsonValue, pending: JsonValue[]): boolean {
  if (isJsonArray(a)) return isJsonArray(b) && sameItems(a, b, pending);
  if (isJsonObject(a)) return isJsonObject(b) && sameMembers(a, b, pending);
  return a === b;
}

function sameItems(a: JsonArray, b: JsonArray, pending: JsonValue[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) {
    if (!sameOrPending(a[index], b[index], pending)) return false;
  }
  return true;
}

function sameMembers(a: JsonObject, b: JsonObject, pending: JsonValue[]): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(b, name) || !sameOrPending(a[name], b[name], pending)) return false;
  }
  return true;
}

/** False if two values differ. Two containers are added to the list and compared later. */
function sameOrPending(a: JsonValue | undefined, b: JsonValue | undefined, pending: JsonValue[]): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  pending.push(a, b);
  return true;
}
