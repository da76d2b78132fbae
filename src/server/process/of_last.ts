/** Keeps the last result of a function. Requests of one client repeat their header fields. */

/**
 * A function that computes only where its argument differs from the last one. The comparison takes longer the more is
 * equal, so it is not for secrets.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ofLast } from "@/server/process/of_last.ts";
 *
 * let computed = 0;
 * const lower = ofLast((text: string) => {
 *   computed++;
 *   return text.toLowerCase();
 * });
 * assert.deepEqual([lower("A"), lower("A"), lower("B"), computed], ["a", "a", "b", 2]);
 * ```
 */
export function ofLast<Value, Result>(compute: (value: Value) => Result): (value: Value) => Result {
  let last: { readonly value: Value; readonly result: Result } | null = null;
  return (value) => {
    if (last === null || last.value !== value) last = { value, result: compute(value) };
    return last.result;
  };
}
