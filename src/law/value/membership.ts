/**
 * Tests of membership by hashing: their time is linear in the value and does not grow with the number of expected ones.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, type JsonArray, type JsonPrimitive, type JsonValue } from "../../canonical/json.ts";
import { parseTimestamp, timestampKey } from "./timestamp.ts";
import { scalarKey } from "./typed_value.ts";
import type { TypedValue, ValueType } from "./types.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "./truth.ts";

/** Up to this many expected items an array is searched for each, which is quicker than to hash what it holds. */
const SCAN_LIMIT = 8;

/**
 * The test of `InSet`: True when the value equals an expected one by domain equality, else False. A `Timestamp` that
 * equals none but is of another kind than one of them is Unknown, as its comparison with that one is; so is a `Json`
 * array or object.
 *
 * @param expected The expected values
 * @param type The value type of the domain
 * @returns The test, or null when an expected value is none of the type
 */
export function setTest(expected: readonly TypedValue[], type: ValueType): ((value: TypedValue) => Tri) | null {
  const keys = new Set<JsonPrimitive>();
  for (const item of expected) {
    const key = item.value_type === type ? scalarKey(item) : undefined;
    if (key === undefined) return null;
    keys.add(key);
  }
  if (type === "Timestamp") return timestampSetTest(expected, keys);
  return (value) => {
    const key = value.value_type === type ? scalarKey(value) : undefined;
    if (key === undefined) return UNKNOWN;
    return keys.has(key) ? TRUE : FALSE;
  };
}

/**
 * The test of `Contains` with an array: True when every expected item is an item of the value, by value at every depth
 * and however often it stands in either; False when one is missing; Unknown when the value is no array.
 *
 * @param expected The items to be found; none are in every array
 * @returns The test, or null when an expected item has no canonical form
 */
export function containsAllTest(expected: JsonArray): ((value: TypedValue) => Tri) | null {
  const wanted = indexOf(expected);
  if (wanted === null) return null;
  const scalars = [...wanted.scalars];
  if (wanted.containers.size === 0 && scalars.length <= SCAN_LIMIT) {
    return ({ value, value_type }) => {
      if (value_type !== "Json" || !isJsonArray(value)) return UNKNOWN;
      // Unlike indexOf, includes finds null and equates the two zeros without exceptions for either.
      for (const scalar of scalars) if (!value.includes(scalar)) return FALSE;
      return TRUE;
    };
  }
  return ({ value, value_type }) => {
    const held = value_type === "Json" && isJsonArray(value) ? indexOf(value) : null;
    if (held === null) return UNKNOWN;
    return wanted.scalars.isSubsetOf(held.scalars) && wanted.containers.isSubsetOf(held.containers) ? TRUE : FALSE;
  };
}

function timestampSetTest(
  expected: readonly TypedValue[],
  keys: ReadonlySet<JsonPrimitive>,
): (value: TypedValue) => Tri {
  const kinds = new Set(expected.map((item) => timestampOf(item.value)?.kind));
  return ({ value, value_type }) => {
    const timestamp = value_type === "Timestamp" ? timestampOf(value) : null;
    if (timestamp === null) return UNKNOWN;
    if (keys.has(timestampKey(timestamp))) return TRUE;
    return kinds.size === 1 && kinds.has(timestamp.kind) ? FALSE : UNKNOWN;
  };
}

function timestampOf(value: JsonValue): ReturnType<typeof parseTimestamp> {
  return typeof value === "string" ? parseTimestamp(value) : null;
}

/** The items of an array by value: scalars as they are, containers by their canonical text, which equal ones share. */
interface ItemIndex {
  readonly scalars: Set<JsonPrimitive>;
  readonly containers: Set<string>;
}

function indexOf(array: JsonArray): ItemIndex | null {
  const index: ItemIndex = { scalars: new Set(), containers: new Set() };
  for (const item of array) {
    if (typeof item !== "object" || item === null) {
      index.scalars.add(item);
      continue;
    }
    const text = canonicalTextOf(item);
    if (text === null) return null;
    index.containers.add(text);
  }
  return index;
}

/** The canonical text of a value, or null for one that has none: every edge refuses those, and no test may throw. */
function canonicalTextOf(value: JsonValue): string | null {
  try {
    return canonicalize(value);
  } catch {
    return null;
  }
}
