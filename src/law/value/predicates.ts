/**
 * The sixteen predicates, one row each, with the properties that other modules need.
 *
 * To add a comparator, add its row here and its text in `docs/format/values.md`. A new family also needs its test in
 * `compiled_predicate.ts`.
 */

import { FALSE, type Tri, TRUE } from "./truth.ts";

/**
 * The result of a comparison if the value is below, equal to or above the expected one. Without an order every
 * different value counts as above.
 */
export interface ComparisonOutcomes {
  readonly below: Tri;
  readonly level: Tri;
  readonly above: Tri;
}

const EQUAL: ComparisonOutcomes = { below: FALSE, level: TRUE, above: FALSE };
const DIFFERENT: ComparisonOutcomes = { below: TRUE, level: FALSE, above: TRUE };
const ABOVE: ComparisonOutcomes = { below: FALSE, level: FALSE, above: TRUE };
const NOT_BELOW: ComparisonOutcomes = { below: FALSE, level: TRUE, above: TRUE };
const BELOW: ComparisonOutcomes = { below: TRUE, level: FALSE, above: FALSE };
const NOT_ABOVE: ComparisonOutcomes = { below: TRUE, level: TRUE, above: FALSE };

/** Predicates of one family are defined on the same domains and take the same kind of expected value. */
export type PredicateFamily = "equality" | "order" | "lexicographic" | "contains" | "set" | "deep" | "presence";

/** One predicate. */
export interface PredicateRow {
  readonly family: PredicateFamily;
  /** Its name in provider contracts. */
  readonly comparator: string;
  /** The results of a comparison by order or equality. */
  readonly outcomes?: ComparisonOutcomes;
}

/** Every predicate by name, in canonical order. */
export const PREDICATES = {
  Equals: { family: "equality", comparator: "equals", outcomes: EQUAL },
  NotEquals: { family: "equality", comparator: "not_equals", outcomes: DIFFERENT },
  GreaterThan: { family: "order", comparator: "greater_than", outcomes: ABOVE },
  GreaterThanOrEqual: { family: "order", comparator: "greater_than_or_equal", outcomes: NOT_BELOW },
  LessThan: { family: "order", comparator: "less_than", outcomes: BELOW },
  LessThanOrEqual: { family: "order", comparator: "less_than_or_equal", outcomes: NOT_ABOVE },
  LexGreaterThan: { family: "lexicographic", comparator: "lex_greater_than", outcomes: ABOVE },
  LexGreaterThanOrEqual: {
    family: "lexicographic",
    comparator: "lex_greater_than_or_equal",
    outcomes: NOT_BELOW,
  },
  LexLessThan: { family: "lexicographic", comparator: "lex_less_than", outcomes: BELOW },
  LexLessThanOrEqual: { family: "lexicographic", comparator: "lex_less_than_or_equal", outcomes: NOT_ABOVE },
  Contains: { family: "contains", comparator: "contains" },
  InSet: { family: "set", comparator: "in_set" },
  DeepEquals: { family: "deep", comparator: "deep_equals", outcomes: EQUAL },
  DeepNotEquals: { family: "deep", comparator: "deep_not_equals", outcomes: DIFFERENT },
  Exists: { family: "presence", comparator: "exists" },
  NotExists: { family: "presence", comparator: "not_exists" },
} as const satisfies Readonly<Record<string, PredicateRow>>;

/** The name of a predicate. */
export type PredicateName = keyof typeof PREDICATES;

/** The predicates of some families. */
type NameIn<Family extends PredicateFamily> = {
  [Name in PredicateName]: typeof PREDICATES[Name]["family"] extends Family ? Name : never;
}[PredicateName];

/** The predicates that test only the presence of a value. */
export type PresencePredicateName = NameIn<"presence">;

/** The predicates that compare the evidence, as left operand, with one expected value. */
export type ComparisonPredicateName = Exclude<PredicateName, PresencePredicateName | NameIn<"set">>;

/** All predicate names in their canonical order. */
export const PREDICATE_NAMES = Object.keys(PREDICATES) as readonly PredicateName[];

/** All comparators in the same order. */
export const COMPARATORS: readonly string[] = Object.values(PREDICATES).map(({ comparator }) => comparator);
