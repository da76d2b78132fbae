/**
 * What one value can make of several comparisons: every combination of truth values, each with a value that gives it.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { compilePredicate, predicateOnAbsence } from "../value/predicate.ts";
import { PREDICATES } from "../value/predicates.ts";
import { exactMillis } from "../value/timestamp.ts";
import { checkInDomain } from "../value/typed_value.ts";
import { type Tri, TRUE, UNKNOWN } from "../value/truth.ts";
import {
  expectedOf,
  isRelativeTime,
  isTypedValue,
  type ObservationDomain,
  type Predicate,
  type TypedValue,
} from "../value/types.ts";
import { candidatesOf, QUESTION_TIME } from "./candidates.ts";

/** A comparison with the domain of the values that it judges. */
export interface Comparison {
  readonly predicate: Predicate;
  readonly domain: ObservationDomain;
}

/** A combination of truth values. */
export interface ValueOption {
  /** By comparison; unknown for a value outside its domain. */
  readonly truths: readonly Tri[];
  /** Null: a provider looked and found nothing. */
  readonly value: TypedValue | null;
}

/** All combinations that were found. */
export interface ValueOptions {
  readonly options: readonly ValueOption[];
  /** Whether there are no others. */
  readonly exact: boolean;
}

/**
 * The combinations of truth values that comparisons of one value can have. Found combinations are always right. They
 * are all there are if `exact` is true.
 */
export function valueOptions(comparisons: readonly Comparison[]): ValueOptions {
  const keys = comparisons.map((one) => canonicalize(one as unknown as JsonValue));
  const different = [...new Set(keys)];
  const { options, exact } = differentOptions(different.flatMap((key) => comparisons[keys.indexOf(key)] ?? []));
  const places = keys.map((key) => different.indexOf(key));
  return {
    options: options.map((option) => ({ ...option, truths: places.map((place) => option.truths[place] ?? UNKNOWN) })),
    exact,
  };
}

function differentOptions(comparisons: readonly Comparison[]): ValueOptions {
  const expected = comparisons.flatMap(({ predicate }) => expectedOf(predicate));
  const fixed = expected.filter((one) => "value_type" in one).map((one) => one.value);
  const offsets = expected.filter(isRelativeTime).map((one) => one.offset_milliseconds);
  const constants = [...fixed, ...offsets.flatMap((offset) => instantText(QUESTION_TIME + offset))];
  const found = optionsBy(comparisons, constants);
  const nothing = comparisons.map(({ predicate }) => predicateOnAbsence(predicate));
  if (nothing.some((truth) => truth !== UNKNOWN)) found.push({ truths: nothing, value: null });
  return { options: found, exact: isExact(comparisons, found, offsets.length > 0) };
}

function optionsBy(comparisons: readonly Comparison[], constants: readonly TypedValue["value"][]): ValueOption[] {
  const found = new Map<string, ValueOption>();
  const tests = comparisons.map(({ predicate, domain }) => ({ domain, test: compilePredicate(predicate, domain) }));
  const domains = new Map(comparisons.map(({ domain }) => [JSON.stringify(domain), domain]));
  for (const domain of domains.values()) {
    for (const value of candidatesOf(domain, constants, 1)) {
      const truths = tests.map(({ domain: own, test }): Tri =>
        checkInDomain(value, own) === null ? test(value, QUESTION_TIME) : UNKNOWN
      );
      const key = truths.join("");
      if (!found.has(key) && truths.some((truth) => truth !== UNKNOWN)) found.set(key, { truths, value });
    }
  }
  return [...found.values()];
}

function instantText(millis: number): string[] {
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? [] : [date.toISOString()];
}

/** Families whose constants divide an ordered domain into ranges, or into values and the rest. */
function isDivided({ predicate, domain }: Comparison): boolean {
  const { family } = PREDICATES[predicate.predicate];
  if (family === "presence") return true;
  if (domain.domain === "Timestamp") {
    // The neighbours of a time are a millisecond away.
    return expectedOf(predicate).every((one) =>
      isRelativeTime(one) || (isTypedValue(one) && isWholeMillis(String(one.value)))
    );
  }
  if (domain.domain === "Json") return false;
  return family === "equality" || family === "set" || family === "order";
}

function isWholeMillis(text: string): boolean {
  if (text.length === 10) return !/^(?:0000|9999)/.test(text);
  return exactMillis(text) !== null && !/^(?:0000|9999)/.test(text);
}

function isExact(comparisons: readonly Comparison[], options: readonly ValueOption[], relative: boolean): boolean {
  const [first, ...rest] = comparisons;
  if (first === undefined) return true;
  if (rest.length > 0) {
    const domains = new Set(comparisons.map(({ domain }) => domain.domain));
    // The order of several instants and the time of an attempt has more combinations than are tried here.
    const isPlain = !relative || comparisons.every(({ predicate }) => expectedOf(predicate).every(isRelativeTime));
    return domains.size === 1 && isPlain && comparisons.every(isDivided);
  }
  if (first.domain.domain !== "Json") return true;
  const { predicate } = first.predicate;
  // A value that equals the expected one is among those tried.
  const known = ["Equals", "InSet", "DeepEquals", "Contains", "Exists", "NotExists"].includes(predicate);
  const truths = new Set(options.map(({ truths: [truth] }) => truth));
  return truths.size >= 2 && (known || truths.has(TRUE));
}
