/**
 * Predicates as closures over their expected value, read once, so that judging a value costs one comparison.
 *
 * Each JavaScript type has a closure of its own: the engine specialises code by the types it has seen there.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { compareDecimals, isDecimal } from "./decimal.ts";
import { jsonEqual } from "./json_equality.ts";
import { containsAllTest, setTest } from "./membership.ts";
import { substringTest } from "./text_search.ts";
import { compareTimestamps, parseTimestamp } from "./timestamp.ts";
import {
  type ComparisonPredicateName,
  FALSE,
  type ObservationDomain,
  type Predicate,
  type Tri,
  TRUE,
  type TypedValue,
  UNKNOWN,
  type ValueType,
} from "./types.ts";

/** A test of one present value; it allocates nothing for scalars and never throws. */
export type CompiledPredicate = (value: TypedValue) => Tri;

/**
 * What a comparison says when the value is below, level with or above the expected one. Where values have no order, any
 * that differs counts as above.
 */
interface Outcomes {
  readonly below: Tri;
  readonly level: Tri;
  readonly above: Tri;
}

const EQUAL: Outcomes = { below: FALSE, level: TRUE, above: FALSE };
const DIFFERENT: Outcomes = { below: TRUE, level: FALSE, above: TRUE };
const ABOVE: Outcomes = { below: FALSE, level: FALSE, above: TRUE };
const NOT_BELOW: Outcomes = { below: FALSE, level: TRUE, above: TRUE };
const BELOW: Outcomes = { below: TRUE, level: FALSE, above: FALSE };
const NOT_ABOVE: Outcomes = { below: TRUE, level: TRUE, above: FALSE };

const OUTCOMES: Readonly<Record<Exclude<ComparisonPredicateName, "Contains">, Outcomes>> = {
  Equals: EQUAL,
  NotEquals: DIFFERENT,
  GreaterThan: ABOVE,
  GreaterThanOrEqual: NOT_BELOW,
  LessThan: BELOW,
  LessThanOrEqual: NOT_ABOVE,
  LexGreaterThan: ABOVE,
  LexGreaterThanOrEqual: NOT_BELOW,
  LexLessThan: BELOW,
  LexLessThanOrEqual: NOT_ABOVE,
  DeepEquals: EQUAL,
  DeepNotEquals: DIFFERENT,
};

const alwaysTrue: CompiledPredicate = () => TRUE;
const alwaysFalse: CompiledPredicate = () => FALSE;
const alwaysUnknown: CompiledPredicate = () => UNKNOWN;

/**
 * Compiles a predicate into a test of present values of a domain; the value is the left operand.
 *
 * A value of another `value_type` than the domain's is Unknown, for any predicate but `Exists` and `NotExists`, and so
 * is a value whose form the comparison cannot read. Within `Json`, a value of a kind that the predicate does not compare
 * is Unknown too, only that `Equals` is False and `NotEquals` True. Absence and errors of acquisition never come here,
 * see `predicateOnAbsence`.
 *
 * @param predicate A predicate that `checkPredicate` has accepted; one that does not fit is Unknown for every value
 * @param domain The domain of the values to come
 * @returns The test
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compilePredicate } from "@/law/value/predicate.ts";
 * import { triName } from "@/law/value/types.ts";
 *
 * const expected = { value: "1.5", value_type: "Decimal" } as const;
 * const test = compilePredicate({ predicate: "GreaterThan", expected }, { domain: "Decimal" });
 * assert.equal(triName(test({ value: "1.50001", value_type: "Decimal" })), "true");
 * assert.equal(triName(test({ value: true, value_type: "Boolean" })), "unknown");
 * ```
 */
export function compilePredicate(predicate: Predicate, domain: ObservationDomain): CompiledPredicate {
  const type = domain.domain;
  switch (predicate.predicate) {
    case "Exists":
      return alwaysTrue;
    case "NotExists":
      return alwaysFalse;
    case "InSet":
      return setTest(predicate.expected, type) ?? alwaysUnknown;
    case "Contains":
      return containsTest(predicate.expected.value, type);
    case "LexGreaterThan":
    case "LexGreaterThanOrEqual":
    case "LexLessThan":
    case "LexLessThanOrEqual":
      return lexicographicTest(predicate.expected.value, type, OUTCOMES[predicate.predicate]);
    case "DeepEquals":
    case "DeepNotEquals":
      return deepTest(predicate.expected.value, type, OUTCOMES[predicate.predicate]);
    case "Equals":
    case "NotEquals":
      return equalityTest(predicate.expected.value, type, OUTCOMES[predicate.predicate]);
    default:
      return orderTest(predicate.expected.value, type, OUTCOMES[predicate.predicate]);
  }
}

function equalityTest(expected: JsonValue, type: ValueType, outcomes: Outcomes): CompiledPredicate {
  switch (type) {
    case "String":
      return typeof expected === "string" ? stringEqualityTest(expected, outcomes) : alwaysUnknown;
    case "Digest":
      return typeof expected === "string" ? digestEqualityTest(expected, outcomes) : alwaysUnknown;
    case "Boolean":
      return typeof expected === "boolean" ? booleanEqualityTest(expected, outcomes) : alwaysUnknown;
    case "Json":
      return jsonEqualityTest(expected, outcomes);
    default:
      return orderTest(expected, type, outcomes);
  }
}

function orderTest(expected: JsonValue, type: ValueType, outcomes: Outcomes): CompiledPredicate {
  if (type === "Integer" && typeof expected === "number") return integerTest(expected, outcomes);
  if (type === "Decimal" && typeof expected === "string") return decimalTest(expected, outcomes);
  if (type === "Timestamp" && typeof expected === "string") return timestampTest(expected, type, outcomes);
  if (type === "Json" && typeof expected === "number") return jsonNumberTest(expected, outcomes);
  if (type === "Json" && typeof expected === "string") return timestampTest(expected, type, outcomes);
  return alwaysUnknown;
}

function stringEqualityTest(expected: string, outcomes: Outcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "String" || typeof value !== "string") return UNKNOWN;
    return value === expected ? level : above;
  };
}

function digestEqualityTest(expected: string, outcomes: Outcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Digest" || typeof value !== "string") return UNKNOWN;
    return value === expected ? level : above;
  };
}

function booleanEqualityTest(expected: boolean, outcomes: Outcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Boolean" || typeof value !== "boolean") return UNKNOWN;
    return value === expected ? level : above;
  };
}

function integerTest(expected: number, outcomes: Outcomes): CompiledPredicate {
  const { below, level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Integer" || typeof value !== "number") return UNKNOWN;
    return value === expected ? level : value < expected ? below : above;
  };
}

/** Doubles compare as the decimal numbers they are written as: shortest digits keep their order. */
function jsonNumberTest(expected: number, outcomes: Outcomes): CompiledPredicate {
  const { below, level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Json" || typeof value !== "number") return UNKNOWN;
    return value === expected ? level : value < expected ? below : above;
  };
}

function decimalTest(expected: string, outcomes: Outcomes): CompiledPredicate {
  if (!isDecimal(expected)) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== "Decimal" || typeof value !== "string" || !isDecimal(value)) return UNKNOWN;
    return byOrder(compareDecimals(value, expected), outcomes);
  };
}

function timestampTest(expected: string, type: "Timestamp" | "Json", outcomes: Outcomes): CompiledPredicate {
  const right = parseTimestamp(expected);
  if (right === null) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== "string") return UNKNOWN;
    const left = parseTimestamp(value);
    const order = left === null ? null : compareTimestamps(left, right);
    return order === null ? UNKNOWN : byOrder(order, outcomes);
  };
}

function lexicographicTest(expected: JsonValue, type: ValueType, outcomes: Outcomes): CompiledPredicate {
  if (typeof expected !== "string" || (type !== "String" && type !== "Json")) return alwaysUnknown;
  return ({ value, value_type }) => {
    if (value_type !== type || typeof value !== "string") return UNKNOWN;
    return byOrder(compareCodePoints(value, expected), outcomes);
  };
}

function jsonEqualityTest(expected: JsonValue, outcomes: Outcomes): CompiledPredicate {
  const { level, above } = outcomes;
  return ({ value, value_type }) => {
    if (value_type !== "Json") return UNKNOWN;
    return jsonEqual(value, expected) ? level : above;
  };
}

function deepTest(expected: JsonValue, type: ValueType, outcomes: Outcomes): CompiledPredicate {
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

function byOrder(order: number, outcomes: Outcomes): Tri {
  if (order === 0) return outcomes.level;
  return order < 0 ? outcomes.below : outcomes.above;
}
