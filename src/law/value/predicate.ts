/** Which predicates fit which domain, and their truth value without a value to compare. */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { quote } from "../suggest.ts";
import type { ParameterDomain, Refusal, RefusalCode } from "../types.ts";
import { type PredicateFamily, type PredicateName, PREDICATES } from "./predicates.ts";
import { parseTimestamp } from "./timestamp.ts";
import { checkInDomain, isWithin, scalarKey } from "./typed_value.ts";
import {
  isParameterReference,
  isRelativeTime,
  type ObservationDomain,
  type ParameterReference,
  type Predicate,
  type TypedValue,
  VALUE_TYPES,
  type ValueType,
} from "./types.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "./truth.ts";

export { type CompiledPredicate, compilePredicate } from "./compiled_predicate.ts";

/** Maximum number of expected values of an `InSet`. */
export const MAXIMUM_SET_SIZE = 4096;

/** Which of the two opt-in families the operator has enabled (`validation`). */
export interface PredicateValidation {
  /** The four `Lex*` predicates. */
  readonly enable_lexicographic: boolean;
  /** `DeepEquals` and `DeepNotEquals`. */
  readonly enable_deep_equals: boolean;
}

/**
 * One reason why a predicate does not fit its domain. Its code:
 *
 * - `predicate_not_allowed`: the domain has no such predicate;
 * - `predicate_not_enabled`: the operator has not enabled it;
 * - `expected_invalid`: the expected value is missing, superfluous, of another type or malformed; or it is of a JSON
 *   kind with which the predicate is Unknown for every value; or it is relative to a time that the predicate does not
 *   compare;
 * - `expected_outside_domain`: no value of the domain can equal, contain or exceed the expected one, so the predicate has
 *   the same truth value for all of them;
 * - `parameter_not_found`: the law declares no such parameter;
 * - `too_few`, `too_many`, `duplicate`: the values of an `InSet`.
 */
export interface PredicateRefusal extends Pick<Refusal, "code" | "message"> {
  /** Steps below the predicate object, from the outside in; append them to the path of the predicate. */
  readonly path: readonly (string | number)[];
  /** The parameter that the law does not declare, for a hint. */
  readonly undeclared?: string;
}

const DOMAINS: Readonly<Record<PredicateFamily, readonly ValueType[]>> = {
  equality: VALUE_TYPES,
  order: ["Integer", "Decimal", "Timestamp", "Json"],
  lexicographic: ["String", "Json"],
  contains: ["String", "Json"],
  set: VALUE_TYPES,
  deep: ["Json"],
  presence: VALUE_TYPES,
};

/** Whether a predicate is defined on the values of a domain (docs/format/values.md, "Predicates"). */
export function isPredicateAllowed(predicate: PredicateName, domain: ValueType): boolean {
  return DOMAINS[PREDICATES[predicate].family].includes(domain);
}

/**
 * The truth value of a predicate if acquisition succeeded and found nothing, such as a variable that is not set.
 *
 * `Exists` is False, `NotExists` is True, every other one Unknown. Without an item, or with an item that has an error,
 * all sixteen are Unknown, and this function is not called: absence proves nothing unless it was observed.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { predicateOnAbsence } from "@/law/value/predicate.ts";
 * import { TRUE } from "@/law/value/truth.ts";
 *
 * assert.equal(predicateOnAbsence({ predicate: "NotExists" }), TRUE);
 * ```
 */
export function predicateOnAbsence(predicate: Predicate): Tri {
  if (predicate.predicate === "Exists") return FALSE;
  return predicate.predicate === "NotExists" ? TRUE : UNKNOWN;
}

/**
 * Every reason why a predicate does not fit its domain, found before any evidence exists.
 *
 * @param predicate The predicate as it was decoded; the number of its expected values is checked here too
 * @param domain A domain that `checkDomain` has accepted
 * @param validation Which opt-in predicates the operator has enabled
 * @returns The reasons; empty if it fits
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkPredicate } from "@/law/value/predicate.ts";
 *
 * const off = { enable_lexicographic: false, enable_deep_equals: false };
 * const expected = { value: 11, value_type: "Integer" } as const;
 * assert.deepEqual(checkPredicate({ predicate: "LessThan", expected }, { domain: "Integer", maximum: 10 }, off), [{
 *   code: "expected_outside_domain",
 *   path: ["expected", "value"],
 *   message: "Expected at most 10, got 11",
 * }]);
 * ```
 */
export function checkPredicate(
  predicate: Predicate,
  domain: ObservationDomain,
  validation: PredicateValidation,
  parameters: ReadonlyMap<string, ParameterDomain> | null = NO_PARAMETERS,
): readonly PredicateRefusal[] {
  const name = predicate.predicate;
  if (!isPredicateAllowed(name, domain.domain)) {
    return [
      predicateRefusal("predicate_not_allowed", ["predicate"], `Cannot use "${name}" on domain "${domain.domain}"`),
    ];
  }
  const setting = missingSetting(PREDICATES[name].family, validation);
  if (setting !== null) {
    const message = `Cannot use "${name}": validation.${setting} is false`;
    return [predicateRefusal("predicate_not_enabled", ["predicate"], message)];
  }
  const expected: unknown = "expected" in predicate ? predicate.expected : undefined;
  if (PREDICATES[name].family === "presence") {
    if (expected === undefined) return [];
    return [predicateRefusal("expected_invalid", ["expected"], `Cannot use an expected value with "${name}"`)];
  }
  if (name === "InSet") return checkSet(expected, domain, parameters);
  const found = checkExpected(name, expected, domain, parameters, ["expected"]);
  return found === null ? [] : [found];
}

function missingSetting(family: PredicateFamily, validation: PredicateValidation): keyof PredicateValidation | null {
  if (family === "lexicographic" && !validation.enable_lexicographic) return "enable_lexicographic";
  return family === "deep" && !validation.enable_deep_equals ? "enable_deep_equals" : null;
}

const NO_PARAMETERS: ReadonlyMap<string, ParameterDomain> = new Map();

function checkSet(
  expected: unknown,
  domain: ObservationDomain,
  parameters: ReadonlyMap<string, ParameterDomain> | null,
): readonly PredicateRefusal[] {
  if (!Array.isArray(expected)) {
    return [predicateRefusal("expected_invalid", ["expected"], 'Expected an array of typed values for "InSet"')];
  }
  if (expected.length === 0) return [predicateRefusal("too_few", ["expected"], "Expected at least 1 value, got 0")];
  if (expected.length > MAXIMUM_SET_SIZE) {
    const message = `Expected at most ${MAXIMUM_SET_SIZE} values, got ${expected.length}`;
    return [predicateRefusal("too_many", ["expected"], message)];
  }
  const refusals: PredicateRefusal[] = [];
  const firstAt = new Map<unknown, number>();
  const parameterAt = new Map<string, number>();
  expected.forEach((item: unknown, index) => {
    const path = ["expected", index];
    const found = checkExpected("InSet", item, domain, parameters, path);
    if (found !== null) {
      refusals.push(found);
      return;
    }
    // The value of a parameter may equal another one; its id may not stand twice.
    const isReference = isParameterReference(item);
    const key = isReference ? item.parameter : scalarKey(item as TypedValue);
    const seen: Map<unknown, number> = isReference ? parameterAt : firstAt;
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, index);
    else {refusals.push(
        predicateRefusal("duplicate", path, `Expected different values, got the value of item ${earlier} again`),
      );}
  });
  return refusals;
}

function checkExpected(
  name: PredicateName,
  expected: unknown,
  domain: ObservationDomain,
  parameters: ReadonlyMap<string, ParameterDomain> | null,
  path: readonly (string | number)[],
): PredicateRefusal | null {
  const family = PREDICATES[name].family;
  if (isRelativeTime(expected)) {
    if (family === "order" && domain.domain === "Timestamp") return null;
    const message = `Expected a typed value for "${name}" on domain "${domain.domain}": only the order of a ` +
      `"Timestamp" is relative to the evaluation time`;
    return predicateRefusal("expected_invalid", path, message);
  }
  if (isParameterReference(expected)) return checkReference(expected, domain, parameters, [...path, "parameter"]);
  if (!isTypedValue(expected)) {
    return predicateRefusal("expected_invalid", path, `Expected an object of "value" and "value_type" for "${name}"`);
  }
  const isJson = domain.domain === "Json" && expected.value_type === "Json";
  const wanted = isJson ? wantedJsonKind(family, expected.value) : null;
  if (wanted !== null) {
    return predicateRefusal("expected_invalid", [...path, "value"], `Expected ${wanted} for "${name}"`);
  }
  const fault = checkInDomain(expected, reachOf(family, expected.value, domain));
  if (fault === null) return null;
  const code = fault.code === "value_out_of_bounds" ? "expected_outside_domain" : "expected_invalid";
  return predicateRefusal(
    code,
    [...path, fault.code === "value_type_mismatch" ? "value_type" : "value"],
    fault.message,
  );
}

/** Checks that each value of a parameter is one of the domain. Which of them a run gives is not known yet. */
function checkReference(
  { parameter }: ParameterReference,
  domain: ObservationDomain,
  parameters: ReadonlyMap<string, ParameterDomain> | null,
  path: readonly (string | number)[],
): PredicateRefusal | null {
  if (domain.domain === "Json") {
    return predicateRefusal("expected_invalid", path, 'Cannot compare a parameter with a value of domain "Json"');
  }
  if (parameters === null) return null;
  const own = parameters.get(parameter);
  if (own === undefined) {
    const message = `Parameter ${quote(parameter)} is not among the parameters of the spec`;
    return { ...predicateRefusal("parameter_not_found", path, message), undeclared: parameter };
  }
  if (own.domain !== domain.domain) {
    const message = `Expected a parameter of domain "${domain.domain}", got one of "${own.domain}"`;
    return predicateRefusal("expected_invalid", path, message);
  }
  if (isWithin(own, domain)) return null;
  const message = `Parameter ${quote(parameter)} may have a value that is outside the domain of the condition`;
  return predicateRefusal("expected_outside_domain", path, message);
}

/** The JSON kind that a predicate needs; null if the expected value has it. */
function wantedJsonKind(family: PredicateFamily, value: JsonValue): string | null {
  const isContainer = isJsonArray(value) || isJsonObject(value);
  switch (family) {
    case "order":
      if (typeof value === "number") return null;
      return typeof value === "string" && parseTimestamp(value) !== null ? null : "a number or an RFC 3339 string";
    case "lexicographic":
      return typeof value === "string" ? null : "a string";
    case "contains":
      return typeof value === "string" || isJsonArray(value) ? null : "a string or an array";
    case "set":
      return isContainer ? "null, a boolean, a number or a string" : null;
    case "deep":
      return isContainer ? null : "an array or an object";
    default:
      return null;
  }
}

/**
 * The domain that an expected value must be in; otherwise the predicate has one truth value for all values. It is the
 * observation domain without the bounds that do not apply to expected values.
 *
 * Bounds on length apply neither to lexicographic order nor to the order of numbers within `Json`. A substring may be
 * shorter than any value but not longer; an array to be contained may repeat its items.
 */
function reachOf(family: PredicateFamily, expected: JsonValue, domain: ObservationDomain): ObservationDomain {
  if (domain.domain === "String") {
    if (family === "contains") return { ...domain, minimum_bytes: 0 };
    if (family === "lexicographic") return { ...domain, minimum_bytes: 0, maximum_bytes: Infinity };
  }
  if (domain.domain === "Json") {
    const unbound = family === "lexicographic" || family === "order" ||
      (family === "contains" && isJsonArray(expected));
    if (unbound) return { ...domain, maximum_bytes: Infinity };
  }
  return domain;
}

function isTypedValue(value: unknown): value is TypedValue {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "value") &&
    Object.hasOwn(value, "value_type");
}

function predicateRefusal(
  code: RefusalCode,
  path: readonly (string | number)[],
  message: string,
): PredicateRefusal {
  return { code, path, message };
}
