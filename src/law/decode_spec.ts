/** Reads a spec into a draft: all parts that could be read, in the order of the spec, with defaults filled in. */

import { isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { readCondition, readParameterDomain, readSchemaName } from "./decode_condition.ts";
import { isWhole, readEvidenceUsePolicy } from "./decode_policy.ts";
import { callerAsserted, expandPolicies, type GivenCondition } from "./expand_policies.ts";
import { readRequirement } from "./decode_requirement.ts";
import { named, oneOf, type Publisher, shape } from "../canonical/shape.ts";
import {
  type At,
  type Draft,
  draftOf,
  type DraftReader,
  itemsOf,
  objectOf,
  optional,
  type Read,
  readCanonical,
  readIdentifier,
  readPositive,
  readText,
  variantOf,
} from "./readers.ts";
import { describe } from "./suggest.ts";
import { type DraftStage, readStages } from "./decode_stage.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { type Collector, collector } from "./refusals.ts";
import type {
  AcquisitionBinding,
  Condition,
  EvidenceUsePolicy,
  LawLimits,
  Parameter,
  Policy,
  Requirement,
  ValueLimits,
} from "./types.ts";
import type { DomainSchema } from "./value/types.ts";

/** A policy as far as it could be read. */
export interface DraftPolicy {
  readonly policy_id: string | undefined;
  /** Undefined if any member of it is malformed. */
  readonly whole: Policy | undefined;
  /** The policy on evidence that conditions may name; null if it has none, undefined if it is malformed. */
  readonly evidence_use_policy: EvidenceUsePolicy | null | undefined;
}

/** A parameter as far as it could be read. */
export interface DraftParameter extends Draft<Omit<Parameter, "description">> {
  /** Undefined if any member of it is malformed. */
  readonly whole: Parameter | undefined;
}

/** A binding as far as it could be read. */
export interface DraftBinding extends Draft<Omit<AcquisitionBinding, "params">> {
  /** Undefined if any member of it is malformed. */
  readonly whole: AcquisitionBinding | undefined;
}

/** The size limits in force: the lower ones of operator and law. */
export type EffectiveLimits = Pick<LawLimits, "maximum_value_bytes" | "maximum_payload_bytes">;

/** A spec as far as it could be read. An array is undefined if it is no array or its length is out of bounds. */
export interface DraftSpec {
  readonly spec_version: "dag-v3" | undefined;
  readonly scenario_id: string | undefined;
  readonly namespace_id: number | undefined;
  readonly value_limits: ValueLimits | undefined;
  readonly parameters: readonly DraftParameter[] | undefined;
  /** With whole policies: named ones and those left out are expanded. */
  readonly conditions: readonly Draft<Condition>[] | undefined;
  /** The ids of conditions that left out their policy and have no binding. */
  readonly caller_asserted: readonly string[];
  readonly policies: readonly DraftPolicy[] | undefined;
  readonly schemas: readonly (DomainSchema | undefined)[] | undefined;
  readonly acquisition_bindings: readonly DraftBinding[] | undefined;
  readonly stages: readonly DraftStage[] | undefined;
  readonly completion_requirement: Requirement | undefined;
  readonly effective: EffectiveLimits;
}

/** A spec before its policies are expanded. */
type GivenSpec = Omit<DraftSpec, "conditions" | "caller_asserted" | "effective"> & {
  readonly conditions: readonly GivenCondition[] | undefined;
};

const INHERIT: ValueLimits = { selection: "InheritOperator" };

/**
 * The members of a spec.
 *
 * @param maximumPayloadBytes The limit in force on payloads
 */
export function specShape(operator: LawLimits, maximumPayloadBytes: number): DraftReader<GivenSpec> {
  return draftOf({
    spec_version: readSpecVersion,
    scenario_id: readIdentifier,
    namespace_id: readPositive,
    value_limits: optional(readValueLimits(operator), INHERIT),
    parameters: optional(itemsOf(readParameter, SPEC_LIMITS.parameters), []),
    conditions: optional(itemsOf(readCondition, SPEC_LIMITS.conditions), []),
    policies: optional(itemsOf(readPolicy, SPEC_LIMITS.policies), []),
    schemas: optional(
      itemsOf<DomainSchema | undefined>(readSchemaName, SPEC_LIMITS.schemas, { uniqueItems: true }),
      [],
    ),
    acquisition_bindings: optional(itemsOf(readBinding, SPEC_LIMITS.acquisitionBindings), []),
    stages: readStages(maximumPayloadBytes),
    completion_requirement: readRequirement,
  });
}

/** Reads a spec, and records a refusal for every part that cannot be read. */
export function readSpec(refusals: Collector, value: JsonValue, operator: LawLimits): DraftSpec {
  const given = isJsonObject(value) ? member(value, "value_limits") : undefined;
  const limits = given === undefined ? INHERIT : readValueLimits(operator)(collector(), given, null) ?? INHERIT;
  const effective = effectiveLimits(limits, operator);
  const spec = specShape(operator, effective.maximum_payload_bytes)(refusals, value, null);
  const { conditions, policies, acquisition_bindings: bindings = [] } = spec;
  return {
    ...spec,
    conditions: conditions && expandPolicies(refusals, conditions, policies, bindings),
    caller_asserted: callerAsserted(conditions ?? [], bindings),
    effective,
  };
}

/** The size limits in force for a law under the operator's limits. */
function effectiveLimits(limits: ValueLimits, operator: EffectiveLimits): EffectiveLimits {
  return limits.selection === "Explicit" ? limits : operator;
}

const readSpecVersion: Read<"dag-v3"> = shape<"dag-v3", Collector>((refusals, value, path) => {
  if (value === "dag-v3") return value;
  const code = typeof value === "string" ? "spec_version_unsupported" : "type_invalid";
  return refusals.refuse(code, path, `Expected spec version "dag-v3", got ${describe(value)}`);
}, () => ({ const: "dag-v3" }));

function readValueLimits(operator: LawLimits): Read<ValueLimits> {
  return variantOf<ValueLimits>("selection", {
    InheritOperator: objectOf({ selection: oneOf("InheritOperator") }),
    Explicit: objectOf({
      selection: oneOf("Explicit"),
      maximum_value_bytes: readLower(operator.maximum_value_bytes),
      maximum_payload_bytes: readLower(operator.maximum_payload_bytes),
    }),
  });
}

/** A size limit that a law may set: at least 1, at most the operator's. */
function readLower(operatorLimit: number): Read<number> {
  return shape<number, Collector>((refusals, value, path) => {
    const bytes = readPositive(refusals, value, path);
    if (bytes === undefined || bytes <= operatorLimit) return bytes;
    const message = `Expected at most ${operatorLimit}, the operator's limit, got ${bytes}`;
    return refusals.refuse("value_limit_exceeds_operator", path, message);
  }, ({ of }) => of(readPositive));
}

/** A description; null where it is absent. */
const readDescription = optional<string | null>(readText(SPEC_LIMITS.descriptionBytes), null);

function described(description: string | null): { readonly description?: string } {
  return description === null ? {} : { description };
}

/** A draft with its whole form, which follows from its members. */
function wholeOf<T extends object, Out>(
  members: DraftReader<Draft<T>>,
  whole: (read: T) => Out,
): DraftReader<Draft<T> & { readonly whole: Out | undefined }> {
  const read = (...at: At): Draft<T> & { readonly whole: Out | undefined } => {
    const draft = members(...at);
    return { ...draft, whole: isWhole<T>(draft) ? whole(draft) : undefined };
  };
  return Object.assign(read, { schema: ({ of }: Publisher): JsonValue => of(members) });
}

const readPolicy: DraftReader<DraftPolicy> = wholeOf(
  draftOf({
    policy_id: readIdentifier,
    description: readDescription,
    evidence_use_policy: optional<EvidenceUsePolicy | null>(readEvidenceUsePolicy, null),
  }),
  ({ policy_id, description }) => ({ policy_id, ...described(description) }),
);

const readParameter: DraftReader<DraftParameter> = wholeOf(
  draftOf({ parameter_id: readIdentifier, domain: readParameterDomain, description: readDescription }),
  ({ description, ...parameter }) => ({ ...parameter, ...described(description) }),
);

/** The channels of bindings: those of acquisition. */
const readBindingChannel = oneOf("local_acquisition", "provider_acquisition");

/** Reads params of a bounded size. */
const readParams: Read<{ readonly params: JsonValue }> = shape<{ readonly params: JsonValue }, Collector>(
  (refusals, value, path) => {
    const text = readCanonical(refusals, value, path);
    if (text === undefined) return undefined;
    const bytes = utf8Length(text);
    if (bytes <= SPEC_LIMITS.paramsBytes) return { params: value };
    const message = `Expected params of at most ${SPEC_LIMITS.paramsBytes} canonical bytes, got ${bytes}`;
    return refusals.refuse("value_invalid", path, message);
  },
  () => true,
);

const readBinding: DraftReader<DraftBinding> = named(
  "binding",
  wholeOf(
    draftOf({
      binding_id: readIdentifier,
      condition_id: readIdentifier,
      channel: readBindingChannel,
      provider_id: readIdentifier,
      check_id: readIdentifier,
      params: optional<{ readonly params?: JsonValue }>(readParams, {}),
    }),
    ({ params, ...binding }) => ({ ...binding, ...params }),
  ),
);
