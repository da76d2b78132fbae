/**
 * Comparisons of JSONPath and its function `length`. They follow RFC 9535 where json-p3 follows JavaScript: in the
 * length and order of strings, and in the members of objects. Their work is counted.
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { hasChildren, type QueryWork } from "./work.ts";

/** The result of a query without nodes: not a value and not an error. */
export type Nothing = typeof NOTHING;

/** See {@link Nothing}. */
export const NOTHING = Symbol("nothing");

/** Characters of a string that one step compares. */
const CHARACTERS_OF_STEP = 16;
/** Steps for an item of compared arrays; for a member of compared objects, once to list it and once to look it up. */
const ITEM_STEPS = 4;
const MEMBER_STEPS = 8;

/** RFC 9535, 2.3.5.2.2. */
export function compare(
  left: JsonValue | Nothing,
  operator: string,
  right: JsonValue | Nothing,
  work: QueryWork,
): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right, work);
    case "!=":
      return !isEqual(left, right, work);
    case "<":
      return isLess(left, right, work);
    case ">":
      return isLess(right, left, work);
    case "<=":
      return isLess(left, right, work) || isEqual(left, right, work);
    default:
      return isLess(right, left, work) || isEqual(left, right, work);
  }
}

function isEqual(left: JsonValue | Nothing, right: JsonValue | Nothing, work: QueryWork): boolean {
  if (left === NOTHING || right === NOTHING) return left === right;
  return isSame(left, right, work);
}

/** Compares deeply; values of different sizes are not traversed. */
function isSame(left: JsonValue, right: JsonValue, work: QueryWork): boolean {
  if (typeof left === "string") {
    if (typeof right !== "string" || left.length !== right.length) return false;
    work.spend(Math.ceil(left.length / CHARACTERS_OF_STEP));
    return left === right;
  }
  if (!hasChildren(left) || !hasChildren(right)) return left === right;
  if (isJsonArray(left)) {
    if (!isJsonArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => (work.spend(ITEM_STEPS), isSame(item, right[index] ?? null, work)));
  }
  if (isJsonArray(right) || work.sizeOf(left) !== work.sizeOf(right)) return false;
  work.spend(work.sizeOf(left) * MEMBER_STEPS);
  return Object.keys(left).every((name) => {
    const other = member(right as JsonObject, name);
    return other !== undefined && (work.spend(MEMBER_STEPS), isSame((left as JsonObject)[name] ?? null, other, work));
  });
}

function isLess(left: JsonValue | Nothing, right: JsonValue | Nothing, work: QueryWork): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  if (typeof left !== "string" || typeof right !== "string") return false;
  work.spend(Math.ceil(Math.min(left.length, right.length) / CHARACTERS_OF_STEP));
  return compareCodePoints(left, right) < 0;
}

/** RFC 9535, 2.4.4: the length of a string counts Unicode scalar values, not code units. */
export function lengthOf(value: JsonValue | Nothing, work: QueryWork): number | Nothing {
  if (typeof value === "string") {
    work.spend(Math.ceil(value.length / CHARACTERS_OF_STEP));
    return scalarsOf(value);
  }
  if (value === NOTHING || !hasChildren(value)) return NOTHING;
  return work.sizeOf(value);
}

/** Counts scalar values: a surrogate pair once. */
function scalarsOf(text: string): number {
  let scalars = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isSurrogate(text.charCodeAt(index), 0xdc00) && isSurrogate(text.charCodeAt(index - 1), 0xd800)) scalars -= 1;
  }
  return scalars;
}

/** Whether a code unit is in the block of 1024 surrogates that begins at `first`. */
function isSurrogate(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first;
}
