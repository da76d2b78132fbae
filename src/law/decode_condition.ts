/**
 * Reads conditions: the observation domain, the predicate, and the policy on evidence.
 *
 * @module
 */

import type { JsonValue } from "../canonical/json.ts";
import { integer, oneOf, readMember, readObject, readOr, readWholeArray } from "../canonical/shape.ts";
import { objectOf, type Read, readCanonicalValue, readIdentifier, variantOf } from "./readers.ts";
import { type GivenCondition, readGivenPolicy } from "./expand_policies.ts";
import { INTEGER_MAXIMUM } from "./limits.ts";
import type { JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { ParameterDomain } from "./types.ts";
import { decimalFault } from "./value/decimal.ts";
import { MAXIMUM_SET_SIZE } from "./value/predicate.ts";
import {
  type DomainSchema,
  type Expected,
  isParameterReference,
  isRelativeTime,
  type ObservationDomain,
  type Predicate,
  type RelativeTime,
  type SetMember,
  type TypedValue,
  VALUE_TYPES,
} from "./value/types.ts";
import { PREDICATE_NAMES, type PredicateName } from "./value/predicates.ts";

const readDecimal: Read<string> = (refusals, value, path) => {
  if (typeof value !== "string") {
    refusals.refuse("type_invalid", path, "Expected a decimal number as a string");
    return undefined;
  }
  const fault = decimalFault(value);
  if (fault === null) return value;
  refusals.refuse("value_invalid", path, fault);
  return undefined;
};

const readInteger = integer(-INTEGER_MAXIMUM);

/** Reads the name of a registered schema: its id and its version. */
export const readSchemaName: Read<DomainSchema> = objectOf({ schema_id: readIdentifier, version: readIdentifier });

/** The domains that a parameter may have. */
const PARAMETER_DOMAINS: Readonly<Record<ParameterDomain["domain"], Read<ParameterDomain>>> = {
  String: objectOf({ domain: oneOf("String"), minimum_bytes: integer(0), maximum_bytes: integer(0) }),
  Boolean: objectOf({ domain: oneOf("Boolean") }),
  Integer: objectOf({ domain: oneOf("Integer") }, { minimum: readInteger, maximum: readInteger }),
  Decimal: objectOf({ domain: oneOf("Decimal") }, { minimum: readDecimal, maximum: readDecimal }),
  Timestamp: objectOf({ domain: oneOf("Timestamp") }),
  Digest: objectOf({ domain: oneOf("Digest"), algorithm: oneOf("sha256") }),
};

/** Reads the domain of a parameter: any but `Json`. */
export const readParameterDomain: Read<ParameterDomain> = variantOf("domain", PARAMETER_DOMAINS);

/** Reads an observation domain. Its bounds are checked later. */
const readDomain = variantOf<ObservationDomain>("domain", {
  ...PARAMETER_DOMAINS,
  Json: objectOf({ domain: oneOf("Json"), maximum_bytes: integer(1) }, { schema: readSchemaName }),
});

const readReference = objectOf({ parameter: readIdentifier });

const readTypedValue: Read<TypedValue> = objectOf({ value: readCanonicalValue, value_type: oneOf(...VALUE_TYPES) });

/** Reads a value of the law or of a parameter. Whether the parameter exists is checked later. */
const readSetMember: Read<SetMember> = (refusals, value, path) =>
  isParameterReference(value) ? readReference(refusals, value, path) : readTypedValue(refusals, value, path);

const readRelativeTime: Read<RelativeTime> = objectOf({
  relative_to: oneOf("evaluation_time"),
  offset_milliseconds: readInteger,
});

/** Reads a value to compare with. Whether the predicate compares with the time is checked later. */
const readExpected: Read<Expected> = (refusals, value, path) =>
  isRelativeTime(value) ? readRelativeTime(refusals, value, path) : readSetMember(refusals, value, path);

const readItem: Read<SetMember> = (refusals, value, path) => {
  if (!isRelativeTime(value)) return readSetMember(refusals, value, path);
  const message = 'Expected a typed value or a parameter in the set, got "relative_to": only the order of a ' +
    '"Timestamp" is relative to the evaluation time';
  refusals.refuse("expected_invalid", path, message);
  return undefined;
};

const readExpectedSet: Read<SetMember[]> = (refusals, value, path) =>
  readWholeArray(refusals, value, path, { minimum: 1, maximum: MAXIMUM_SET_SIZE }, readItem);

/** Reads a predicate. Whether it fits the domain is checked later. */
const readPredicate = variantOf<Predicate>(
  "predicate",
  Object.fromEntries(PREDICATE_NAMES.map((name) => [name, predicateOf(name)])),
);

function predicateOf(name: PredicateName): Read<Predicate> {
  switch (name) {
    case "Exists":
    case "NotExists":
      return objectOf({ predicate: oneOf(name) });
    case "InSet":
      return objectOf({ predicate: oneOf(name), expected: readExpectedSet });
    default:
      return objectOf({ predicate: oneOf(name), expected: readExpected });
  }
}

/** Reads a condition member by member, so that an invalid one still has its id. */
export function readCondition(refusals: Collector, value: JsonValue, path: JsonPath): GivenCondition {
  const members = ["condition_id", "observation_domain", "predicate"];
  const object = readObject(refusals, value, path, members, ["evidence_use_policy"]) ?? {};
  return {
    condition_id: readMember(refusals, object, path, "condition_id", readIdentifier),
    observation_domain: readMember(refusals, object, path, "observation_domain", readDomain),
    predicate: readMember(refusals, object, path, "predicate", readPredicate),
    evidence_use_policy: readOr(refusals, object, path, "evidence_use_policy", readGivenPolicy, "left_out"),
  };
}
