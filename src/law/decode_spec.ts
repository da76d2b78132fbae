/**
 * Reads a spec into a draft: all parts that could be read, in the order of the spec, with defaults filled in.
 *
 * @module
 */

import { type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { readCondition, readParameterDomain, readSchemaName } from "./decode_condition.ts";
import { isWhole, readEvidenceUsePolicy } from "./decode_policy.ts";
import { callerAsserted, expandPolicies } from "./expand_policies.ts";
import { readRequirement } from "./decode_requirement.ts";
import { integer, oneOf, readArray, readMember, readObject, readOr } from "../canonical/shape.ts";
import { type Draft, objectOf, type Read, readCanonical, readIdentifier, readText, variantOf } from "./readers.ts";
import { describe } from "./suggest.ts";
import { type DraftStage, readStages } from "./decode_stage.ts";
import { SPEC_LIMITS } from "./limits.ts";
import type { JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
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

const REQUIRED = ["spec_version", "scenario_id", "namespace_id", "stages", "completion_requirement"];
const OPTIONAL = ["value_limits", "parameters", "conditions", "policies", "schemas", "acquisition_bindings"];
const INHERIT: ValueLimits = { selection: "InheritOperator" };

/** Reads a spec, and records a refusal for every part that cannot be read. */
export function readSpec(refusals: Collector, value: JsonValue, operator: LawLimits): DraftSpec {
  const object = readObject(refusals, value, null, REQUIRED, OPTIONAL) ?? {};
  const limits = readOr(refusals, object, null, "value_limits", readValueLimits(operator), INHERIT);
  const conditions = readList(refusals, object, "conditions", SPEC_LIMITS.conditions, readCondition);
  const policies = readList(refusals, object, "policies", SPEC_LIMITS.policies, readPolicy);
  const bindings = readList(
    refusals,
    object,
    "acquisition_bindings",
    SPEC_LIMITS.acquisitionBindings,
    readBinding,
  );
  const effective = effectiveLimits(limits ?? INHERIT, operator);
  return {
    spec_version: readMember(refusals, object, null, "spec_version", readSpecVersion),
    scenario_id: readMember(refusals, object, null, "scenario_id", readIdentifier),
    namespace_id: readMember(refusals, object, null, "namespace_id", integer(1)),
    value_limits: limits,
    parameters: readList(refusals, object, "parameters", SPEC_LIMITS.parameters, readParameter),
    conditions: conditions && expandPolicies(refusals, conditions, policies, bindings ?? []),
    caller_asserted: callerAsserted(conditions ?? [], bindings ?? []),
    policies,
    schemas: readList(refusals, object, "schemas", SPEC_LIMITS.schemas, readSchemaName),
    acquisition_bindings: bindings,
    stages: readMember(refusals, object, null, "stages", readStages(effective.maximum_payload_bytes)),
    completion_requirement: readMember(refusals, object, null, "completion_requirement", readRequirement),
    effective,
  };
}

/** The size limits in force for a law under the operator's limits. */
function effectiveLimits(limits: ValueLimits, operator: EffectiveLimits): EffectiveLimits {
  return limits.selection === "Explicit" ? limits : operator;
}

function readList<T>(
  refusals: Collector,
  object: JsonObject,
  name: string,
  maximum: number,
  read: (refusals: Collector, value: JsonValue, path: JsonPath) => T,
): T[] | undefined {
  const readItems: Read<T[]> = (_, value, path) => readArray(refusals, value, path, { minimum: 0, maximum }, read);
  return readOr(refusals, object, null, name, readItems, []);
}

const readSpecVersion: Read<"dag-v3"> = (refusals, value, path) => {
  if (value === "dag-v3") return value;
  const code = typeof value === "string" ? "spec_version_unsupported" : "type_invalid";
  refusals.refuse(code, path, `Expected spec version "dag-v3", got ${describe(value)}`);
  return undefined;
};

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
  const read = integer(1);
  return (refusals, value, path) => {
    const bytes = read(refusals, value, path);
    if (bytes === undefined || bytes <= operatorLimit) return bytes;
    const message = `Expected at most ${operatorLimit}, the operator's limit, got ${bytes}`;
    refusals.refuse("value_limit_exceeds_operator", path, message);
    return undefined;
  };
}

function readPolicy(refusals: Collector, value: JsonValue, path: JsonPath): DraftPolicy {
  const object = readObject(refusals, value, path, ["policy_id"], ["description", "evidence_use_policy"]) ?? {};
  const evidence_use_policy = readOr<EvidenceUsePolicy | null, Collector>(
    refusals,
    object,
    path,
    "evidence_use_policy",
    readEvidenceUsePolicy,
    null,
  );
  const id = readMember(refusals, object, path, "policy_id", readIdentifier);
  const description = readMember(refusals, object, path, "description", readText(SPEC_LIMITS.descriptionBytes));
  if (id === undefined || (description === undefined && Object.hasOwn(object, "description"))) {
    return { policy_id: id, evidence_use_policy, whole: undefined };
  }
  const whole = { policy_id: id, ...(description === undefined ? {} : { description }) };
  return { policy_id: id, evidence_use_policy, whole };
}

function readParameter(refusals: Collector, value: JsonValue, path: JsonPath): DraftParameter {
  const object = readObject(refusals, value, path, ["parameter_id", "domain"], ["description"]) ?? {};
  const named = {
    parameter_id: readMember(refusals, object, path, "parameter_id", readIdentifier),
    domain: readMember(refusals, object, path, "domain", readParameterDomain),
  };
  const description = readMember(refusals, object, path, "description", readText(SPEC_LIMITS.descriptionBytes));
  const isRead = description !== undefined || !Object.hasOwn(object, "description");
  if (!isRead || !isWhole<Omit<Parameter, "description">>(named)) return { ...named, whole: undefined };
  return { ...named, whole: { ...named, ...(description === undefined ? {} : { description }) } };
}

function readBinding(refusals: Collector, value: JsonValue, path: JsonPath): DraftBinding {
  const required = ["binding_id", "condition_id", "channel", "provider_id", "check_id"];
  const object = readObject(refusals, value, path, required, ["params"]) ?? {};
  const named = {
    binding_id: readMember(refusals, object, path, "binding_id", readIdentifier),
    condition_id: readMember(refusals, object, path, "condition_id", readIdentifier),
    channel: readMember(refusals, object, path, "channel", readBindingChannel),
    provider_id: readMember(refusals, object, path, "provider_id", readIdentifier),
    check_id: readMember(refusals, object, path, "check_id", readIdentifier),
  };
  const params = member(object, "params");
  const paramsRead = params === undefined || readMember(refusals, object, path, "params", readParams) !== undefined;
  if (!paramsRead || !isWhole<Omit<AcquisitionBinding, "params">>(named)) return { ...named, whole: undefined };
  return { ...named, whole: params === undefined ? named : { ...named, params } };
}

/** The channels of bindings: those of acquisition. */
const readBindingChannel = oneOf("local_acquisition", "provider_acquisition");

/** Reads params; returns their canonical text. */
const readParams: Read<string> = (refusals, value, path) => {
  const text = readCanonical(refusals, value, path);
  if (text === undefined) return undefined;
  const bytes = utf8Length(text);
  if (bytes <= SPEC_LIMITS.paramsBytes) return text;
  const message = `Expected params of at most ${SPEC_LIMITS.paramsBytes} canonical bytes, got ${bytes}`;
  refusals.refuse("value_invalid", path, message);
  return undefined;
};
