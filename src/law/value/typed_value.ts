/** Typed values: tests of type and domain, equality, and reading the result of a provider into a domain. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { canonicalDecimal, compareDecimals, decimalFault, decimalOfNumber, isDecimal } from "./decimal.ts";
import { INTEGER_MAXIMUM } from "../limits.ts";
import { jsonEqual } from "./json_equality.ts";
import { compareTimestamps, parseTimestamp, timestampKey } from "./timestamp.ts";
import type { ObservationDomain, TypedValue, ValueType } from "./types.ts";

/**
 * Why a value is not in a domain: its `value_type` is another one, its form is not that of the type, or it is out of
 * the bounds of the domain.
 */
export type DomainFaultCode = "value_type_mismatch" | "value_malformed" | "value_out_of_bounds";

/** Why a value is not in a domain. The message has the expected and the given value. */
export interface DomainFault {
  readonly code: DomainFaultCode;
  readonly message: string;
}

/** Why the bounds of a domain are inconsistent, with the member at fault. */
export interface DomainBoundsFault {
  readonly code: "domain_bounds_invalid";
  /** Member names below the domain object. */
  readonly path: readonly string[];
  readonly message: string;
}

const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Why a JSON value is not of a type, as a message with the expected form; null if it is. Only the form is tested:
 * bounds belong to the domain, and every JSON value is a `Json`.
 *
 * @param value The `value` of a typed value
 * @param type The expected type
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkTypedValue } from "@/law/value/typed_value.ts";
 *
 * assert.equal(checkTypedValue(1.0, "Integer"), null);
 * assert.equal(checkTypedValue("2024-02-30", "Timestamp") === null, false);
 * ```
 */
export function checkTypedValue(value: JsonValue, type: ValueType): string | null {
  switch (type) {
    case "String":
      if (typeof value !== "string") return `Expected a string, got ${kindOf(value)}`;
      return value.isWellFormed() ? null : "Expected a string of Unicode text, got a lone surrogate";
    case "Boolean":
      return typeof value === "boolean" ? null : `Expected a boolean, got ${kindOf(value)}`;
    case "Integer":
      if (Number.isSafeInteger(value)) return null;
      return `Expected an integer within ±9007199254740991, got ${typeof value === "number" ? value : kindOf(value)}`;
    case "Decimal":
      return typeof value === "string"
        ? decimalFault(value)
        : `Expected a decimal number as a string, got ${kindOf(value)}`;
    case "Timestamp":
      if (typeof value === "string" && parseTimestamp(value) !== null) return null;
      return `Expected an RFC 3339 date-time with offset or a full-date, got ${
        typeof value === "string" ? "another text" : kindOf(value)
      }`;
    case "Digest":
      if (typeof value === "string" && DIGEST.test(value)) return null;
      return `Expected 64 lower-case hex digits, got ${typeof value === "string" ? "another text" : kindOf(value)}`;
    case "Json":
      return null;
  }
}

/**
 * Why a typed value is not in a domain; null if it is. The schema of a `Json` domain is not tested here.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkInDomain } from "@/law/value/typed_value.ts";
 *
 * const domain = { domain: "String", minimum_bytes: 1, maximum_bytes: 3 } as const;
 * assert.equal(checkInDomain({ value: "abc", value_type: "String" }, domain), null);
 * assert.deepEqual(checkInDomain({ value: "äö", value_type: "String" }, domain), {
 *   code: "value_out_of_bounds",
 *   message: "Expected at most 3 bytes, got 4",
 * });
 * ```
 */
export function checkInDomain(value: TypedValue, domain: ObservationDomain): DomainFault | null {
  if (value.value_type !== domain.domain) {
    return {
      code: "value_type_mismatch",
      message: `Expected value type "${domain.domain}", got "${value.value_type}"`,
    };
  }
  const malformed = checkTypedValue(value.value, value.value_type);
  if (malformed !== null) return { code: "value_malformed", message: malformed };
  return checkBounds(value.value, domain);
}

/**
 * The faults in the bounds of a domain: an invalid number of bytes, a bound that is no value of the type, a minimum
 * above the maximum, or a domain without values.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkDomain } from "@/law/value/typed_value.ts";
 *
 * assert.deepEqual(checkDomain({ domain: "Integer", minimum: 0 }), []);
 * assert.equal(checkDomain({ domain: "Integer", minimum: 2, maximum: 1 }).length, 1);
 * ```
 */
export function checkDomain(domain: ObservationDomain): readonly DomainBoundsFault[] {
  switch (domain.domain) {
    case "String":
      return [
        ...byteCountFaults("minimum_bytes", domain.minimum_bytes, 0),
        ...byteCountFaults("maximum_bytes", domain.maximum_bytes, 0),
        ...rangeFaults(domain.minimum_bytes > domain.maximum_bytes, "minimum_bytes", "maximum_bytes"),
      ];
    case "Json":
      return byteCountFaults("maximum_bytes", domain.maximum_bytes, 1);
    case "Integer":
    case "Decimal": {
      const faults: DomainBoundsFault[] = [];
      for (const name of ["minimum", "maximum"] as const) {
        const bound = domain[name];
        const message = bound === undefined ? null : checkTypedValue(bound, domain.domain);
        if (message !== null) faults.push({ code: "domain_bounds_invalid", path: [name], message });
      }
      return faults.length > 0 ? faults : rangeFaults(minimumAboveMaximum(domain), "minimum", "maximum");
    }
    default:
      return [];
  }
}

/**
 * Whether every value of one domain is a value of another one. The schemas of `Json` domains are not compared.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { isWithin } from "@/law/value/typed_value.ts";
 *
 * assert.ok(isWithin({ domain: "Integer", minimum: 1, maximum: 3 }, { domain: "Integer", minimum: 0 }));
 * assert.ok(!isWithin({ domain: "Integer" }, { domain: "Integer", minimum: 0 }));
 * ```
 */
export function isWithin(inner: ObservationDomain, outer: ObservationDomain): boolean {
  switch (inner.domain) {
    case "String":
      return outer.domain === "String" && inner.minimum_bytes >= outer.minimum_bytes &&
        inner.maximum_bytes <= outer.maximum_bytes;
    case "Integer": {
      if (outer.domain !== "Integer") return false;
      const { minimum = -INTEGER_MAXIMUM, maximum = INTEGER_MAXIMUM } = inner;
      return minimum >= (outer.minimum ?? -INTEGER_MAXIMUM) && maximum <= (outer.maximum ?? INTEGER_MAXIMUM);
    }
    case "Decimal": {
      if (outer.domain !== "Decimal") return false;
      const above = outer.minimum === undefined ||
        inner.minimum !== undefined && compareDecimals(inner.minimum, outer.minimum) >= 0;
      const below = outer.maximum === undefined ||
        inner.maximum !== undefined && compareDecimals(inner.maximum, outer.maximum) <= 0;
      return above && below;
    }
    case "Json":
      return outer.domain === "Json" && inner.maximum_bytes <= outer.maximum_bytes;
    default:
      return inner.domain === outer.domain;
  }
}

/**
 * Whether two typed values are the same value of the same domain: `Decimal` by value, and `Timestamp` by day or instant
 * (a day equals no instant). `Json` is compared with numbers by value at every depth, strings and digests by code
 * units.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { domainEqual } from "@/law/value/typed_value.ts";
 *
 * assert.ok(domainEqual({ value: "1.50", value_type: "Decimal" }, { value: "1.5", value_type: "Decimal" }));
 * assert.ok(!domainEqual({ value: "1.50", value_type: "String" }, { value: "1.5", value_type: "String" }));
 * ```
 */
export function domainEqual(a: TypedValue, b: TypedValue): boolean {
  if (a.value_type !== b.value_type) return false;
  if (a.value === b.value) return true;
  if (a.value_type === "Json") return jsonEqual(a.value, b.value);
  if (typeof a.value !== "string" || typeof b.value !== "string") return false;
  if (a.value_type === "Decimal") {
    return isDecimal(a.value) && isDecimal(b.value) && compareDecimals(a.value, b.value) === 0;
  }
  if (a.value_type === "Timestamp") {
    const left = parseTimestamp(a.value);
    const right = parseTimestamp(b.value);
    return left !== null && right !== null && compareTimestamps(left, right) === 0;
  }
  return false;
}

/**
 * A scalar key of a typed value: two values of one type have the same key exactly if {@link domainEqual} holds.
 * Undefined for a `Json` array or object, and for a value that is not of its type.
 */
export function scalarKey(value: TypedValue): string | number | boolean | null | undefined {
  const inner = value.value;
  if (value.value_type === "Json") return typeof inner === "object" && inner !== null ? undefined : inner;
  if (checkTypedValue(inner, value.value_type) !== null) return undefined;
  if (typeof inner === "string" && value.value_type === "Decimal") return canonicalDecimal(inner);
  if (typeof inner === "string" && value.value_type === "Timestamp") {
    const timestamp = parseTimestamp(inner);
    return timestamp === null ? undefined : timestampKey(timestamp);
  }
  return typeof inner === "object" ? undefined : inner;
}

/**
 * The result of a provider as a value of a domain; null if it does not fit, which is the observed error
 * `domain_mismatch`.
 *
 * An integer becomes an Integer or a Decimal, any other number a Decimal of its shortest ECMAScript digits. A string
 * becomes a String, or a Timestamp, Digest or Decimal if it has their grammar. `{algorithm: "sha256", value}` becomes a
 * Digest, and any value a Json. The bounds of the domain apply; the schema of a `Json` domain is not tested here.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fitProviderResult } from "@/law/value/typed_value.ts";
 *
 * assert.deepEqual(fitProviderResult(0.1, { domain: "Decimal" }), { value: "0.1", value_type: "Decimal" });
 * assert.equal(fitProviderResult("1", { domain: "Integer" }), null);
 * ```
 */
export function fitProviderResult(value: JsonValue, domain: ObservationDomain): TypedValue | null {
  const typed: TypedValue = { value: asType(value, domain.domain), value_type: domain.domain };
  return checkInDomain(typed, domain) === null ? typed : null;
}

function checkBounds(value: JsonValue, domain: ObservationDomain): DomainFault | null {
  switch (domain.domain) {
    case "String":
      return typeof value === "string"
        ? byteFault(utf8Length(value), domain.minimum_bytes, domain.maximum_bytes)
        : null;
    case "Integer":
      if (typeof value !== "number") return null;
      if (domain.minimum !== undefined && value < domain.minimum) return bound("least", domain.minimum, value);
      if (domain.maximum !== undefined && value > domain.maximum) return bound("most", domain.maximum, value);
      return null;
    case "Decimal":
      if (typeof value !== "string") return null;
      if (domain.minimum !== undefined && compareDecimals(value, domain.minimum) < 0) {
        return bound("least", domain.minimum, value);
      }
      if (domain.maximum !== undefined && compareDecimals(value, domain.maximum) > 0) {
        return bound("most", domain.maximum, value);
      }
      return null;
    case "Json": {
      const bytes = canonicalLength(value);
      return typeof bytes === "number" ? byteFault(bytes, 0, domain.maximum_bytes) : bytes;
    }
    default:
      return null;
  }
}

/** The number of bytes of a value's canonical form, or the fault of a value without one. */
function canonicalLength(value: JsonValue): number | DomainFault {
  try {
    return utf8Length(canonicalize(value));
  } catch (error) {
    return {
      code: "value_malformed",
      message: `Expected a value with a canonical form: ${error instanceof Error ? error.message : "none"}`,
    };
  }
}

function byteFault(bytes: number, minimum: number, maximum: number): DomainFault | null {
  if (bytes > maximum) return bound("most", `${maximum} bytes`, bytes);
  return bytes < minimum ? bound("least", `${minimum} bytes`, bytes) : null;
}

function bound(side: "least" | "most", limit: number | string, got: number | string): DomainFault {
  return { code: "value_out_of_bounds", message: `Expected at ${side} ${limit}, got ${got}` };
}

function byteCountFaults(name: string, count: number, least: number): readonly DomainBoundsFault[] {
  if (Number.isSafeInteger(count) && count >= least) return [];
  const message = `Expected an integer of at least ${least}, got ${count}`;
  return [{ code: "domain_bounds_invalid", path: [name], message }];
}

function rangeFaults(inverted: boolean, minimum: string, maximum: string): readonly DomainBoundsFault[] {
  if (!inverted) return [];
  const message = `Expected "${minimum}" to be at most "${maximum}"`;
  return [{ code: "domain_bounds_invalid", path: [minimum], message }];
}

function minimumAboveMaximum(domain: Extract<ObservationDomain, { domain: "Integer" | "Decimal" }>): boolean {
  if (domain.minimum === undefined || domain.maximum === undefined) return false;
  return domain.domain === "Integer"
    ? domain.minimum > domain.maximum
    : compareDecimals(domain.minimum, domain.maximum) > 0;
}

/** The JSON form that a type has for the result of a provider. A result that does not fit is returned unchanged. */
function asType(value: JsonValue, type: ValueType): JsonValue {
  // Minus zero equals zero, and canonical JSON writes it as 0.
  if (typeof value === "number") return type === "Decimal" ? decimalOfNumber(value) : value + 0;
  if (type !== "Digest" || !isJsonObject(value)) return value;
  const digest = member(value, "value");
  const isDigest = member(value, "algorithm") === "sha256" && Object.keys(value).length === 2;
  return isDigest && digest !== undefined ? digest : value;
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
