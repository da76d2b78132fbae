/**
 * Where in a JSON value something is: `$.stages[0].stage_id`.
 *
 * @module
 */

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
