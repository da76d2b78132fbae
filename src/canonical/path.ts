/**
 * The path of a value within a JSON value: `$.stages[0].stage_id`. A path is a chain of steps while a value is read;
 * its text is made when a message needs it.
 */

import { compareCodePoints } from "./order.ts";

/** One step below another path; null is the root. */
export type JsonPath = null | { readonly up: JsonPath; readonly step: string | number };

/** The path of a member or an item. */
export function below(up: JsonPath, step: string | number): JsonPath {
  return { up, step };
}

/** The path at the end of several steps. */
export function pathAt(...steps: readonly (string | number)[]): JsonPath {
  return steps.reduce<JsonPath>(below, null);
}

/** The steps from the root down to a path. */
export function stepsTo(path: JsonPath): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at = path; at !== null; at = at.up) steps.push(at.step);
  return steps.reverse();
}

/** The text of a path, `$` being the root. */
export function pathOf(path: JsonPath): string {
  return formatPath(stepsTo(path));
}

/** Compares two lists of steps: items by number, members by code point, a container before its content. */
export function compareSteps(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const left = a[index] as string | number;
    const right = b[index] as string | number;
    if (left === right) continue;
    if (typeof left === "number" && typeof right === "number") return left - right;
    return compareCodePoints(String(left), String(right));
  }
  return a.length - b.length;
}

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * The text of a path from the root: `$`, then `.name` for a member whose name is an ASCII identifier, `["a b"]` (the
 * name as JSON) for any other, `[0]` for an item. Different paths have different texts.
 *
 * @param segments Member names and item indices from the outside in
 * @returns The path
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatPath } from "@/canonical/path.ts";
 *
 * assert.equal(formatPath([]), "$");
 * assert.equal(formatPath(["stages", 0, "stage_id"]), "$.stages[0].stage_id");
 * assert.equal(formatPath(["a b", "\u0000"]), '$["a b"]["\\u0000"]');
 * ```
 */
export function formatPath(segments: readonly (string | number)[]): string {
  let path = "$";
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`;
    else path += IDENTIFIER.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  }
  return path;
}
