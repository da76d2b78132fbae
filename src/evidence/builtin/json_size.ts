/**
 * Measures a JSON value without writing it.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";

/**
 * A lower bound of the bytes of a value's canonical text. Counting stops once it exceeds the budget, so measuring costs no more
 * than the budget.
 *
 * @param value Nested at most as deep as inputs may be
 */
export function measureJson(value: JsonValue, budget: number): number {
  if (typeof value === "string") return value.length + 2;
  if (isJsonArray(value)) {
    let bytes = value.length + 1;
    for (const item of value) {
      if (bytes > budget) break;
      bytes += measureJson(item, budget - bytes);
    }
    return bytes;
  }
  if (!isJsonObject(value)) return 1;
  let bytes = 1;
  for (const name of Object.keys(value)) {
    if (bytes > budget) break;
    bytes += name.length + 4;
    bytes += measureJson(value[name] ?? null, budget - bytes);
  }
  return bytes;
}
