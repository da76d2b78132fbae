/** Tests of membership by hashing. The time is linear in the value, for any number of expected ones. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, type JsonArray, type JsonPrimitive, type JsonValue } from "../../canonical/json.ts";
import { parseTimestamp, timestampKey } from "./timestamp.ts";
import { scalarKey } from "./typed_value.ts";
import type { TypedValue, ValueType } from "./types.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "./truth.ts";

/** Up to this many expected items the array is searched for each, which is faster than hashing its items. */
const SCAN_LIMIT = 8;

/**
 * The test of `InSet`: True if the value equals an expected one by domain equality, else False. A `Timestamp` of
 * another kind than one of the expected ones, which equals no other, is Unknown, as that comparison is. So is a `Json`
 * array or object.
 *
 * @param expected The expected values
 * @param type The value type of the domain
 * @returns The test, or null if an expected value is not of the type
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
 * The test of `Contains` with an array: True if every expected item equals an item of the value, by value at every
 * depth. Repetitions do not count. It is False if one is missing, and Unknown if the value is no array.
 *
 * @param expected The items to find; an empty list is contained in every array
 * @returns The test, or null if an expected item has no canonical form
 */
export function containsAllTest(expected: JsonArray): ((value: TypedValue) => Tri) | null {
  const wanted = indexOf(expected);
  if (wanted === null) return null;
  const scalars = [...wanted.scalars];
  if (wanted.containers.size === 0 && scalars.length <= SCAN_LIMIT) {
    return ({ value, value_type }) => {
      if (value_type !== "Json" || !isJsonArray(value)) return UNKNOWN;
      // `includes` finds null and equates both zeros.
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

/**
 * The items of an array by value: scalars as they are, containers by canonical text, which is the same for equal ones.
 */
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

/** The canonical text of a value; null if it has none. Such values are refused before, but a test must never throw. */
function canonicalTextOf(value: JsonValue): string | null {
  try {
    return canonicalize(value);
  } catch {
    return null;
  }
}
