/**
 * Reads conditions: the observation domain, the predicate, and the policy on evidence.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { integer, oneOf, readMember, readObject, readOr, readWholeArray } from "../canonical/shape.ts";
import { type Read, readCanonical, readIdentifier, readVariant } from "./readers.ts";
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
  type ParameterReference,
  type Predicate,
  type RelativeTime,
  type SetMember,
  type TypedValue,
  VALUE_TYPES,
} from "./value/types.ts";
import { PREDICATE_NAMES, type PredicateName } from "./value/predicates.ts";

/** The types that a parameter may have. */
const PARAMETER_TYPES: readonly ParameterDomain["domain"][] = VALUE_TYPES.filter((type) => type !== "Json");

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

/** Reads an observation domain. Its bounds are checked later. */
const readDomain: Read<ObservationDomain> = (refusals, value, path) => {
  const domain = readVariant(refusals, value, path, "domain", VALUE_TYPES);
  if (domain === "Json") return readJsonDomain(refusals, value, path);
  return domain === undefined ? undefined : readScalarDomain(refusals, value, path, domain);
};

/** Reads the domain of a parameter: any but `Json`. */
export const readParameterDomain: Read<ParameterDomain> = (refusals, value, path) => {
  const domain = readVariant(refusals, value, path, "domain", PARAMETER_TYPES);
  return domain === undefined ? undefined : readScalarDomain(refusals, value, path, domain);
};

function readScalarDomain(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  domain: ParameterDomain["domain"],
): ParameterDomain | undefined {
  switch (domain) {
    case "String":
      return readStringDomain(refusals, value, path);
    case "Integer":
      return readRange(refusals, value, path, domain, integer(-INTEGER_MAXIMUM));
    case "Decimal":
      return readRange(refusals, value, path, domain, readDecimal);
    case "Digest":
      return readDigestDomain(refusals, value, path);
    case "Boolean":
    case "Timestamp":
      return readObject(refusals, value, path, ["domain"]) === undefined ? undefined : { domain };
  }
}

function readStringDomain(refusals: Collector, value: JsonValue, path: JsonPath): ParameterDomain | undefined {
  const object = readObject(refusals, value, path, ["domain", "minimum_bytes", "maximum_bytes"]);
  if (object === undefined) return undefined;
  const minimum = readMember(refusals, object, path, "minimum_bytes", integer(0));
  const maximum = readMember(refusals, object, path, "maximum_bytes", integer(0));
  if (minimum === undefined || maximum === undefined) return undefined;
  return { domain: "String", minimum_bytes: minimum, maximum_bytes: maximum };
}

function readRange<Name extends "Integer" | "Decimal", Bound>(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  domain: Name,
  readBound: Read<Bound>,
): { domain: Name; minimum?: Bound; maximum?: Bound } | undefined {
  const object = readObject(refusals, value, path, ["domain"], ["minimum", "maximum"]);
  if (object === undefined) return undefined;
  const minimum = readMember(refusals, object, path, "minimum", readBound);
  const maximum = readMember(refusals, object, path, "maximum", readBound);
  if (lacks(object, "minimum", minimum) || lacks(object, "maximum", maximum)) return undefined;
  return {
    domain,
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

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

function readDigestDomain(refusals: Collector, value: JsonValue, path: JsonPath): ParameterDomain | undefined {
  const object = readObject(refusals, value, path, ["domain", "algorithm"]);
  if (object === undefined) return undefined;
  const algorithm = readMember(refusals, object, path, "algorithm", oneOf("sha256"));
  return algorithm === undefined ? undefined : { domain: "Digest", algorithm };
}

function readJsonDomain(refusals: Collector, value: JsonValue, path: JsonPath): ObservationDomain | undefined {
  const object = readObject(refusals, value, path, ["domain", "maximum_bytes"], ["schema"]);
  if (object === undefined) return undefined;
  const maximum = readMember(refusals, object, path, "maximum_bytes", integer(1));
  const schema = readMember(refusals, object, path, "schema", readSchemaName);
  if (maximum === undefined || lacks(object, "schema", schema)) return undefined;
  return { domain: "Json", maximum_bytes: maximum, ...(schema === undefined ? {} : { schema }) };
}

/** Reads the name of a registered schema: its id and its version. */
export const readSchemaName: Read<DomainSchema> = (refusals, value, path) => {
  const object = readObject(refusals, value, path, ["schema_id", "version"]);
  if (object === undefined) return undefined;
  const id = readMember(refusals, object, path, "schema_id", readIdentifier);
  const version = readMember(refusals, object, path, "version", readIdentifier);
  return id === undefined || version === undefined ? undefined : { schema_id: id, version };
};

/** Reads a predicate. Whether it fits the domain is checked later. */
const readPredicate: Read<Predicate> = (refusals, value, path) => {
  const name = readVariant<PredicateName>(refusals, value, path, "predicate", PREDICATE_NAMES);
  if (name === undefined) return undefined;
  if (name === "Exists" || name === "NotExists") {
    return readObject(refusals, value, path, ["predicate"]) === undefined ? undefined : { predicate: name };
  }
  const object = readObject(refusals, value, path, ["predicate", "expected"]);
  if (object === undefined) return undefined;
  if (name === "InSet") {
    const expected = readMember(refusals, object, path, "expected", readExpectedSet);
    return expected === undefined ? undefined : { predicate: name, expected };
  }
  const expected = readMember(refusals, object, path, "expected", readExpected);
  return expected === undefined ? undefined : { predicate: name, expected };
};

/** Reads a value to compare with. Whether the predicate compares with the time is checked later. */
const readExpected: Read<Expected> = (refusals, value, path) =>
  isRelativeTime(value) ? readRelativeTime(refusals, value, path) : readSetMember(refusals, value, path);

const readRelativeTime: Read<RelativeTime> = (refusals, value, path) => {
  const object = readObject(refusals, value, path, ["relative_to", "offset_milliseconds"]);
  if (object === undefined) return undefined;
  const relative_to = readMember(refusals, object, path, "relative_to", oneOf("evaluation_time"));
  const offset = readMember(refusals, object, path, "offset_milliseconds", integer(-INTEGER_MAXIMUM));
  if (relative_to === undefined || offset === undefined) return undefined;
  return { relative_to, offset_milliseconds: offset };
};

/** Reads a value of the law or of a parameter. Whether the parameter exists is checked later. */
const readSetMember: Read<SetMember> = (refusals, value, path) =>
  isParameterReference(value) ? readReference(refusals, value, path) : readTypedValue(refusals, value, path);

const readReference: Read<ParameterReference> = (refusals, value, path) => {
  const object = readObject(refusals, value, path, ["parameter"]);
  const parameter = object && readMember(refusals, object, path, "parameter", readIdentifier);
  return parameter === undefined ? undefined : { parameter };
};

const readTypedValue: Read<TypedValue> = (refusals, value, path) => {
  const object = readObject(refusals, value, path, ["value", "value_type"]);
  if (object === undefined) return undefined;
  const type = readMember(refusals, object, path, "value_type", oneOf(...VALUE_TYPES));
  // Only a value with a canonical form can be hashed, ordered and compared.
  const text = readMember(refusals, object, path, "value", readCanonical);
  const held = object["value"];
  return type === undefined || text === undefined || held === undefined ? undefined : { value: held, value_type: type };
};

const readItem: Read<SetMember> = (refusals, value, path) => {
  if (!isRelativeTime(value)) return readSetMember(refusals, value, path);
  const message = 'Expected a typed value or a parameter in the set, got "relative_to": only the order of a ' +
    '"Timestamp" is relative to the evaluation time';
  refusals.refuse("expected_invalid", path, message);
  return undefined;
};

const readExpectedSet: Read<SetMember[]> = (refusals, value, path) =>
  readWholeArray(refusals, value, path, { minimum: 1, maximum: MAXIMUM_SET_SIZE }, readItem);

/** Whether an optional member is present but could not be read. */
function lacks(object: JsonObject, name: string, read: unknown): boolean {
  return read === undefined && Object.hasOwn(object, name);
}
