/**
 * Compiles predicates to closures over their expected value, which is parsed once. A judgement costs one comparison.
 *
 * Each JavaScript type has its own closure, since the engine specializes code by the types that it has seen.
 */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { compareDecimals, isDecimal } from "./decimal.ts";
import { jsonEqual } from "./json_equality.ts";
import { containsAllTest, setTest } from "./membership.ts";
import { type ComparisonOutcomes, PREDICATES } from "./predicates.ts";
import { substringTest } from "./text_search.ts";
import { compareTimestamps, parseTimestamp, timestampOfMillis } from "./timestamp.ts";
import {
  expectedOf,
  isRelativeTime,
  isTypedValue,
  type ObservationDomain,
  type Predicate,
  type TypedValue,
  type ValueType,
} from "./types.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "./truth.ts";

/**
 * Tests one present value. It never throws, and allocates nothing for scalars unless it compares with the time.
 *
 * @param evaluatedAt The evaluation time in Unix milliseconds. If it is null, a comparison with it is Unknown.
 */
export type CompiledPredicate = (value: TypedValue, evaluatedAt: number | null) => Tri;

const alwaysTrue: CompiledPredicate = () => TRUE;
const alwaysFalse: CompiledPredicate = () => FALSE;
const alwaysUnknown: CompiledPredicate = () => UNKNOWN;

/**
 * Compiles a predicate into a test of present values of a domain; the value is the left operand.
 *
 * A value of another `value_type` than the domain's is Unknown for any predicate except `Exists` and `NotExists`. So is
 * a value whose form the comparison cannot read. Within `Json`, a value of a kind that the predicate does not compare
 * is Unknown too, except that `Equals` is False and `NotEquals` True. Every value is Unknown for a predicate that
 * compares with a parameter: a run gives its value. `predicateOnAbsence` covers absence; errors of
 * acquisition are never tested.
 *
 * @param predicate A predicate that `checkPredicate` accepted; one that does not fit is Unknown for every value
 * @param domain The domain of the values
 * @returns The test
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compilePredicate } from "@/law/value/predicate.ts";
 * import { triName } from "@/law/value/truth.ts";
 *
 * const expected = { value: "1.5", value_type: "Decimal" } as const;
 * const test = compilePredicate({ predicate: "GreaterThan", expected }, { domain: "Decimal" });
 * assert.equal(triName(test({ value: "1.50001", value_type: "Decimal" }, null)), "true");
 * assert.equal(triName(test({ value: true, value_type: "Boolean" }, null)), "unknown");
 * ```
 */
export function compilePredicate(predicate: Predicate, domain: ObservationDomain): CompiledPredicate {
  const type = domain.domain;
  if (!("expected" in predicate)) return predicate.predicate === "Exists" ? alwaysTrue : alwaysFalse;
  const [given, ...more] = expectedOf(predicate);
  if (given !== undefined && more.length === 0 && isRelativeTime(given)) {
    const row = PREDICATES[predicate.predicate];
    if (row.family !== "order" || type !== "Timestamp") return alwaysUnknown;
    return relativeTimeTest(given.offset_milliseconds, row.outcomes);
  }
  const values = expectedOf(predicate).filter(isTypedValue);
  const [first] = values;
  if (first === undefined || values.length < expectedOf(predicate).length) return alwaysUnknown;
  if (predicate.predicate === "InSet") return setTest(values, type) ?? alwaysUnknown;
  const expected = first.value;
  if (predicate.predicate === "Contains") return containsTest(expected, type);
  const { family, outcomes } = PREDICATES[predicate.predicate];
  switch (family) {
    case "lexicographic":
      return lexicographicTest(expected, type, outcomes);
    case "deep":
      return deepTest(expected, type, outcomes);
    case "equality":
      return equalityTest(expected, type, outcomes);
    case "order":
      return orderTest(expected, type, outcomes);
  }
}

function equalityTest(expected: JsonValue, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  switch (type) {
    case "String":
    case "Digest":
      return typeof expected === "string" ? sameTest(expected, type, outcomes) : alwaysUnknown;
    case "Boolean":
      return typeof expected === "boolean" ? sameTest(expected, type, outcomes) : alwaysUnknown;
    case "Json":
      return jsonEqualityTest(expected, outcomes);
    default:
      return orderTest(expected, type, outcomes);
  }
}

function orderTest(expected: JsonValue, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  if ((type === "Integer" || type === "Json") && typeof expected === "number") {
    return numberTest(expected, type, outcomes);
  }
  if (type === "Decimal" && typeof expected === "string") return decimalTest(expected, outcomes);
  if ((type === "Timestamp" || type === "Json") && typeof expected === "string") {
    return timestampTest(expected, type, outcomes);
  }
  return alwaysUnknown;
}

function sameTest(expected: string | boolean, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== typeof expected) return UNKNOWN;
    return value === expected ? level : above;
  };
}

/** Doubles have the same order as their shortest decimal digits. */
function numberTest(expected: number, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  const { below, level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== "number") return UNKNOWN;
    return value === expected ? level : value < expected ? below : above;
  };
}

function decimalTest(expected: string, outcomes: ComparisonOutcomes): CompiledPredicate {
  if (!isDecimal(expected)) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== "Decimal" || typeof value !== "string" || !isDecimal(value)) return UNKNOWN;
    return byOrder(compareDecimals(value, expected), outcomes);
  };
}

function timestampTest(expected: string, type: "Timestamp" | "Json", outcomes: ComparisonOutcomes): CompiledPredicate {
  const right = parseTimestamp(expected);
  if (right === null) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== "string") return UNKNOWN;
    const left = parseTimestamp(value);
    const order = left === null ? null : compareTimestamps(left, right);
    return order === null ? UNKNOWN : byOrder(order, outcomes);
  };
}

/** The order of an instant and the evaluation time moved by an offset. A day is no instant, so it is Unknown. */
function relativeTimeTest(offset: number, outcomes: ComparisonOutcomes): CompiledPredicate {
  return ({ value, value_type }, evaluatedAt) => {
    if (evaluatedAt === null || value_type !== "Timestamp" || typeof value !== "string") return UNKNOWN;
    const left = parseTimestamp(value);
    const order = left === null ? null : compareTimestamps(left, timestampOfMillis(evaluatedAt + offset));
    return order === null ? UNKNOWN : byOrder(order, outcomes);
  };
}

function lexicographicTest(expected: JsonValue, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  if (typeof expected !== "string" || (type !== "String" && type !== "Json")) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== "string") return UNKNOWN;
    return byOrder(compareCodePoints(value, expected), outcomes);
  };
}

function jsonEqualityTest(expected: JsonValue, outcomes: ComparisonOutcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Json") return UNKNOWN;
    return jsonEqual(value, expected) ? level : above;
  };
}

function deepTest(expected: JsonValue, type: ValueType, outcomes: ComparisonOutcomes): CompiledPredicate {
  const sameKind = isJsonArray(expected) ? isJsonArray : isJsonObject(expected) ? isJsonObject : null;
  if (sameKind === null || type !== "Json") return alwaysUnknown;
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Json" || !sameKind(value)) return UNKNOWN;
    return jsonEqual(value, expected) ? level : above;
  };
}

function containsTest(expected: JsonValue, type: ValueType): CompiledPredicate {
  if (typeof expected === "string" && (type === "String" || type === "Json")) {
    const isIn = substringTest(expected);
    return ({ value, value_type }) => {
      if (value_type !== type || typeof value !== "string") return UNKNOWN;
      return isIn(value) ? TRUE : FALSE;
    };
  }
  return type === "Json" && isJsonArray(expected) ? containsAllTest(expected) ?? alwaysUnknown : alwaysUnknown;
}

function byOrder(order: number, outcomes: ComparisonOutcomes): Tri {
  if (order === 0) return outcomes.level;
  return order < 0 ? outcomes.below : outcomes.above;
}
