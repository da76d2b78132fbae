/** Typed values, the domains they are observed in, and the predicates that judge them. */

import { words } from "../../canonical/words.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { ComparisonPredicateName, PresencePredicateName } from "./predicates.ts";

/** The name of a value's type, which is also the name of the domain it is observed in. */
export type ValueType = "String" | "Boolean" | "Integer" | "Decimal" | "Timestamp" | "Digest" | "Json";

/** All value types, in the order in which the documentation lists them. */
export const VALUE_TYPES: readonly ValueType[] = words("String Boolean Integer Decimal Timestamp Digest Json");

/** A JSON value together with the type it is to be read as; the same text may be a String, a Decimal or a Timestamp. */
export type TypedValue = { readonly value: JsonValue; readonly value_type: ValueType };

/** The registered JSON Schema that the values of a {@link JsonDomain} have to meet. */
export interface DomainSchema {
  readonly schema_id: string;
  readonly version: string;
}

/** Any JSON value, bounded by the length of its canonical form in bytes. */
export interface JsonDomain {
  readonly domain: "Json";
  readonly maximum_bytes: number;
  readonly schema?: DomainSchema;
}

/** What a condition may observe: a closed set of values, distinguished by `domain`. All bounds are included. */
export type ObservationDomain =
  /** Strings, bounded by the length of their UTF-8 form in bytes. */
  | { readonly domain: "String"; readonly minimum_bytes: number; readonly maximum_bytes: number }
  /** True and false. */
  | { readonly domain: "Boolean" }
  /** Integers that a double holds exactly, within ±(2^53-1). */
  | { readonly domain: "Integer"; readonly minimum?: number; readonly maximum?: number }
  /** Decimal numbers of up to 1000 digits, carried as strings and compared exactly. */
  | { readonly domain: "Decimal"; readonly minimum?: string; readonly maximum?: string }
  /** RFC 3339 date-times with an offset, compared as instants, or full-dates. */
  | { readonly domain: "Timestamp" }
  /** Content digests: 64 lower-case hex digits. */
  | { readonly domain: "Digest"; readonly algorithm: "sha256" }
  | JsonDomain;

/** The value that a parameter of the law has in a run. */
export type ParameterReference = { readonly parameter: string };

/** Whether an expected value is that of a parameter. */
export function isParameterReference(expected: unknown): expected is ParameterReference {
  return typeof expected === "object" && expected !== null && Object.hasOwn(expected, "parameter");
}

/** A value of the law, or one that each run gives. */
export type SetMember = TypedValue | ParameterReference;

/** An instant relative to the evaluation time of an attempt, such as -86,400,000 for a day before it. */
export type RelativeTime = {
  readonly relative_to: "evaluation_time";
  /** Milliseconds after the evaluation time, within ±(2^53-1). */
  readonly offset_milliseconds: number;
};

/** What a value is compared with: a value of the law or of a parameter, or an instant relative to the evaluation time. */
export type Expected = SetMember | RelativeTime;

/** Whether an expected value is one of the law. */
export function isTypedValue(expected: Expected): expected is TypedValue {
  return "value_type" in expected;
}

/** Whether an expected value is an instant relative to the evaluation time. */
export function isRelativeTime(expected: unknown): expected is RelativeTime {
  return typeof expected === "object" && expected !== null && Object.hasOwn(expected, "relative_to");
}

/** Whether the truth of a predicate depends on the evaluation time. */
export function usesEvaluationTime(predicate: Predicate): boolean {
  return "expected" in predicate && isRelativeTime(predicate.expected);
}

/** The test that a condition puts to the value it observes. */
export type Predicate =
  /** Tests for the presence of a value; has no expected value. */
  | { readonly predicate: PresencePredicateName }
  /** Asks whether the value is one of several. */
  | { readonly predicate: "InSet"; readonly expected: readonly SetMember[] }
  /** Compares the value with one expected value. */
  | { readonly predicate: ComparisonPredicateName; readonly expected: Expected };

/** The expected values of a predicate, in its order; empty for the tests of presence. */
export function expectedOf(predicate: Predicate): readonly Expected[] {
  if (!("expected" in predicate)) return [];
  return predicate.predicate === "InSet" ? predicate.expected : [predicate.expected];
}
