/** Reads conditions: the observation domain, the predicate, and the policy on evidence. */

import { named, oneOf, readWholeArray, shape } from "../canonical/shape.ts";
import {
  draftOf,
  type DraftReader,
  objectOf,
  optional,
  type Read,
  readCanonicalValue,
  readCount,
  readIdentifier,
  readInteger,
  readPositive,
  titled,
  variantOf,
  variantsSchema,
} from "./readers.ts";
import { type GivenCondition, type GivenMembers, type GivenPolicy, readGivenPolicy } from "./expand_policies.ts";
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
import { type ComparisonPredicateName, PREDICATE_NAMES, type PredicateName } from "./value/predicates.ts";

const readDecimal: Read<string> = named(
  "decimal",
  shape<string, Collector>((refusals, value, path) => {
    if (typeof value !== "string") {
      return refusals.refuse("type_invalid", path, "Expected a decimal number as a string");
    }
    const fault = decimalFault(value);
    if (fault === null) return value;
    return refusals.refuse("value_invalid", path, fault);
  }, () => ({ type: "string", maxLength: 1002, pattern: "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$" })),
);

/** Reads the name of a registered schema: its id and its version. */
export const readSchemaName: Read<DomainSchema> = named(
  "schema",
  objectOf({ schema_id: readIdentifier, version: readIdentifier }),
);

const plain = objectOf({ domain: oneOf("Boolean", "Timestamp") });

/** The domains that a parameter may have. */
const PARAMETER_DOMAINS: Readonly<Record<ParameterDomain["domain"], Read<ParameterDomain>>> = {
  String: objectOf({ domain: oneOf("String"), minimum_bytes: readCount, maximum_bytes: readCount }),
  Boolean: plain,
  Integer: objectOf({ domain: oneOf("Integer") }, { minimum: readInteger, maximum: readInteger }),
  Decimal: objectOf({ domain: oneOf("Decimal") }, { minimum: readDecimal, maximum: readDecimal }),
  Timestamp: plain,
  Digest: objectOf({ domain: oneOf("Digest"), algorithm: oneOf("sha256") }),
};

/** Reads the domain of a parameter: any but `Json`. */
export const readParameterDomain: Read<ParameterDomain> = named("scalar", variantOf("domain", PARAMETER_DOMAINS));

/** Reads an observation domain. Its bounds are checked later. */
const readJsonDomain = objectOf(
  { domain: oneOf("Json"), maximum_bytes: readPositive },
  { schema: readSchemaName },
);
const readDomain = named(
  "domain",
  shape<ObservationDomain, Collector>(
    variantOf<ObservationDomain>("domain", { ...PARAMETER_DOMAINS, Json: readJsonDomain }),
    variantsSchema([readParameterDomain, readJsonDomain]),
  ),
);

const readReference = objectOf({ parameter: readIdentifier });

const readTypedValue: Read<TypedValue> = named(
  "typed",
  objectOf({ value: readCanonicalValue, value_type: oneOf(...VALUE_TYPES) }),
);

/** Reads a value of the law or of a parameter. Whether the parameter exists is checked later. */
const readSetMember: Read<SetMember> = named(
  "member",
  shape<SetMember, Collector>(
    (refusals, value, path) =>
      isParameterReference(value) ? readReference(refusals, value, path) : readTypedValue(refusals, value, path),
    ({ of }) => ({ type: "object", oneOf: [of(readTypedValue), of(readReference)] }),
  ),
);

const readRelativeTime: Read<RelativeTime> = named(
  "relative",
  titled(
    "For the order of a Timestamp",
    objectOf({ relative_to: oneOf("evaluation_time"), offset_milliseconds: readInteger }),
  ),
);

/** Reads a value to compare with. Whether the predicate compares with the time is checked later. */
const readExpected: Read<Expected> = shape<Expected, Collector>(
  (refusals, value, path) =>
    isRelativeTime(value) ? readRelativeTime(refusals, value, path) : readSetMember(refusals, value, path),
  ({ of }) => ({ anyOf: [of(readSetMember), of(readRelativeTime)] }),
);

const readItem: Read<SetMember> = (refusals, value, path) => {
  if (!isRelativeTime(value)) return readSetMember(refusals, value, path);
  const message = 'Expected a typed value or a parameter in the set, got "relative_to": only the order of a ' +
    '"Timestamp" is relative to the evaluation time';
  return refusals.refuse("expected_invalid", path, message);
};

const readExpectedSet: Read<SetMember[]> = shape<SetMember[], Collector>(
  (refusals, value, path) => readWholeArray(refusals, value, path, { minimum: 1, maximum: MAXIMUM_SET_SIZE }, readItem),
  ({ of }) => ({ type: "array", items: of(readSetMember), maxItems: MAXIMUM_SET_SIZE, minItems: 1 }),
);

const readPresence = objectOf({ predicate: oneOf("Exists", "NotExists") });
const readInSet = objectOf({ predicate: oneOf("InSet"), expected: readExpectedSet });
const readComparison = objectOf({
  predicate: oneOf(...PREDICATE_NAMES.filter(isComparison)),
  expected: readExpected,
});

/** Reads a predicate. Whether it fits the domain is checked later. */
const readPredicate = named(
  "predicate",
  shape<Predicate, Collector>(
    variantOf<Predicate>("predicate", Object.fromEntries(PREDICATE_NAMES.map((name) => [name, predicateOf(name)]))),
    variantsSchema([readPresence, readInSet, readComparison]),
  ),
);

function isComparison(name: PredicateName): name is ComparisonPredicateName {
  return name !== "Exists" && name !== "NotExists" && name !== "InSet";
}

function predicateOf(name: PredicateName): Read<Predicate> {
  if (name === "InSet") return readInSet;
  return isComparison(name) ? readComparison : readPresence;
}

/** Reads a condition as a draft: an invalid one still has its id. */
export const readCondition: DraftReader<GivenCondition> = named(
  "condition",
  draftOf<GivenMembers>({
    condition_id: readIdentifier,
    observation_domain: readDomain,
    predicate: readPredicate,
    evidence_use_policy: optional<GivenPolicy>(readGivenPolicy, "left_out"),
  }),
);
