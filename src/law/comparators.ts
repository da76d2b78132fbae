/**
 * The names under which provider contracts list what a predicate compares with.
 *
 * @module
 */

import type { PredicateName } from "./value/types.ts";

/** By predicate: the comparator that a check has to allow. */
export const COMPARATORS: Readonly<Record<PredicateName, string>> = {
  Equals: "equals",
  NotEquals: "not_equals",
  GreaterThan: "greater_than",
  GreaterThanOrEqual: "greater_than_or_equal",
  LessThan: "less_than",
  LessThanOrEqual: "less_than_or_equal",
  LexGreaterThan: "lex_greater_than",
  LexGreaterThanOrEqual: "lex_greater_than_or_equal",
  LexLessThan: "lex_less_than",
  LexLessThanOrEqual: "lex_less_than_or_equal",
  Contains: "contains",
  InSet: "in_set",
  DeepEquals: "deep_equals",
  DeepNotEquals: "deep_not_equals",
  Exists: "exists",
  NotExists: "not_exists",
};
