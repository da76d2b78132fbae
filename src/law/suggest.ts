/** Parts of messages: quoted values, and hints at the names nearest to an unknown one. */

import { isJsonArray, type JsonValue } from "../canonical/json.ts";
import { nearestNames } from "../canonical/nearest.ts";

/** Names longer than this are not quoted in full. */
const NAME_MAXIMUM = 64;

/** A text from outside in quotes, escaped and cut to a length that fits a message. */
export function quote(text: string): string {
  const wellFormed = text.slice(0, NAME_MAXIMUM).toWellFormed();
  return JSON.stringify(text.length > NAME_MAXIMUM ? `${wellFormed}...` : wellFormed);
}

/** The type of a value, with the value if it is short. */
export function describe(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return `the string ${quote(value)}`;
  return `${value}`;
}

/** Names in quotes, joined by commas. */
export function quoteAll(names: readonly string[]): string {
  return names.map(quote).join(", ");
}

/**
 * A hint at the known names nearest to the one given, such as `; did you mean "x"?`; empty if no name is near.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { didYouMean } from "@/law/suggest.ts";
 *
 * assert.equal(didYouMean("stage_ids", ["stage_id", "prerequisite"]), '; did you mean "stage_id"?');
 * assert.equal(didYouMean("colour", ["stage_id"]), "");
 * ```
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearestNames(name, known).map(quote);
  const last = near.pop();
  if (last === undefined) return "";
  return `; did you mean ${near.length === 0 ? last : `${near.join(", ")} or ${last}`}?`;
}
