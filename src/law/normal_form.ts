/**
 * The normal form of a scenario law (docs/format/scenario_law.md). Sets are sorted, so the order in a spec has no
 * effect on the identity of its law.
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { compareCodePoints, sortedBy } from "../canonical/order.ts";
import type { Draft } from "./readers.ts";
import type { DraftPolicy, DraftSpec } from "./decode_spec.ts";
import type { DraftStage } from "./decode_stage.ts";
import { below, type JsonPath, pathAt, pathOf } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type {
  Condition,
  EntryPacket,
  EvidenceUsePolicy,
  Policy,
  Prerequisite,
  Requirement,
  ScenarioLaw,
} from "./types.ts";
import type { DomainSchema, Predicate } from "./value/types.ts";

/** A requirement in normal form and its canonical text. */
interface Normal {
  readonly requirement: Requirement;
  readonly text: string;
}

/** The requirements of a draft in normal form, stages in the order of the spec; undefined if the draft lacks one. */
export interface NormalRequirements {
  readonly stages: readonly {
    readonly prerequisite: Prerequisite | undefined;
    readonly completion: Requirement | undefined;
  }[];
  readonly completion: Requirement | undefined;
}

/** Sorts the operands of every requirement of a draft. Equal operands are refused. */
export function normalizeRequirements(refusals: Collector, draft: DraftSpec): NormalRequirements {
  const stages = (draft.stages ?? []).map((stage, index) => ({
    prerequisite: normalizePrerequisite(refusals, stage.prerequisite, pathAt("stages", index, "prerequisite")),
    completion: normalizeRequirement(
      refusals,
      stage.completion_requirement,
      pathAt("stages", index, "completion_requirement"),
    ),
  }));
  const completion = normalizeRequirement(refusals, draft.completion_requirement, pathAt("completion_requirement"));
  return { stages, completion };
}

function normalizePrerequisite(
  refusals: Collector,
  prerequisite: Prerequisite | undefined,
  path: JsonPath,
): Prerequisite | undefined {
  if (prerequisite === undefined || prerequisite.kind === "root") return prerequisite;
  const requirement = normalizeRequirement(refusals, prerequisite.requirement, below(path, "requirement"));
  return requirement === undefined ? undefined : { kind: "requires", requirement };
}

/** A requirement with its operands sorted by canonical text, bottom up. */
export function normalizeRequirement<Given extends Requirement | undefined>(
  refusals: Collector,
  requirement: Given,
  path: JsonPath,
): Given | Requirement {
  return requirement === undefined ? requirement : normalize(refusals, requirement, path).requirement;
}

function normalize(refusals: Collector, requirement: Requirement, path: JsonPath): Normal {
  // The text is joined from the operands' texts; otherwise every level would write each operand again. A node has one
  // member, and the two members of a group are in canonical order, so this is the canonical text.
  if ("Condition" in requirement) {
    return { requirement, text: `{"Condition":${canonicalize(requirement.Condition)}}` };
  }
  if ("Not" in requirement) {
    const operand = normalize(refusals, requirement.Not, below(path, "Not"));
    return { requirement: { Not: operand.requirement }, text: `{"Not":${operand.text}}` };
  }
  if ("RequireGroup" in requirement) {
    const { min, reqs } = requirement.RequireGroup;
    const operands = normalizeOperands(refusals, reqs, below(below(path, "RequireGroup"), "reqs"));
    const text = `{"RequireGroup":{"min":${min},"reqs":${operands.text}}}`;
    return { requirement: { RequireGroup: { min, reqs: operands.requirements } }, text };
  }
  if ("And" in requirement) {
    const operands = normalizeOperands(refusals, requirement.And, below(path, "And"));
    return { requirement: { And: operands.requirements }, text: `{"And":${operands.text}}` };
  }
  const operands = normalizeOperands(refusals, requirement.Or, below(path, "Or"));
  return { requirement: { Or: operands.requirements }, text: `{"Or":${operands.text}}` };
}

function normalizeOperands(
  refusals: Collector,
  operands: readonly Requirement[],
  path: JsonPath,
): { readonly requirements: Requirement[]; readonly text: string } {
  const normal = operands.map((operand, index) => normalize(refusals, operand, below(path, index)));
  const first = new Map<string, number>();
  normal.forEach(({ text }, index) => {
    const earlier = first.get(text);
    if (earlier === undefined) first.set(text, index);
    else {
      const message = `Operand repeats the one at ${pathOf(below(path, earlier))}`;
      refusals.refuse("operand_duplicate", below(path, index), message);
    }
  });
  const sorted = normal.sort((a, b) => compareCodePoints(a.text, b.text));
  return {
    requirements: sorted.map(({ requirement }) => requirement),
    text: `[${sorted.map(({ text }) => text).join(",")}]`,
  };
}

/**
 * The law of a draft without refusals: arrays that are sets are sorted, the others keep their order.
 *
 * @throws {Error} On a draft with a missing part
 */
export function normalForm(draft: DraftSpec, requirements: NormalRequirements): ScenarioLaw {
  const stages = settled(draft.stages).map((stage, index) => normalStage(stage, settled(requirements.stages[index])));
  return {
    spec_version: settled(draft.spec_version),
    scenario_id: settled(draft.scenario_id),
    namespace_id: settled(draft.namespace_id),
    value_limits: settled(draft.value_limits),
    ...normalParameters(draft),
    conditions: sortedBy(settled(draft.conditions).map(normalCondition), (condition) => condition.condition_id),
    policies: sortedBy(settled(draft.policies).flatMap(normalEntry), (policy) => policy.policy_id),
    schemas: settled(draft.schemas).map(settled).sort(compareSchemas),
    acquisition_bindings: sortedBy(
      settled(draft.acquisition_bindings).map(({ whole }) => settled(whole)),
      (binding) => binding.binding_id,
    ),
    stages: sortedBy(stages, (stage) => stage.stage_id),
    completion_requirement: settled(requirements.completion),
  };
}

/** Left out when empty: the identity of a law without parameters stays that of a law before they existed. */
function normalParameters(draft: DraftSpec): Pick<ScenarioLaw, "parameters"> {
  const parameters = settled(draft.parameters).map(({ whole }) => settled(whole));
  if (parameters.length === 0) return {};
  return { parameters: sortedBy(parameters, (parameter) => parameter.parameter_id) };
}

/** An entry with a policy on evidence is expanded into the conditions that name it, and has no place of its own. */
function normalEntry({ whole, evidence_use_policy }: DraftPolicy): Policy[] {
  return evidence_use_policy === null ? [settled(whole)] : [];
}

function compareSchemas(a: DomainSchema, b: DomainSchema): number {
  return compareCodePoints(a.schema_id, b.schema_id) || compareCodePoints(a.version, b.version);
}

function normalStage(
  stage: DraftStage,
  requirements: NormalRequirements["stages"][number],
): ScenarioLaw["stages"][number] {
  return {
    stage_id: settled(stage.stage_id),
    prerequisite: settled(requirements.prerequisite),
    completion_requirement: settled(requirements.completion),
    entry_packets: sortedBy(settled(stage.entry_packets).map(normalPacket), (packet) => packet.packet_id),
  };
}

function normalPacket(packet: Draft<EntryPacket>): EntryPacket {
  return {
    packet_id: settled(packet.packet_id),
    schema_id: settled(packet.schema_id),
    content_type: settled(packet.content_type),
    visibility_labels: sortedNames(settled(packet.visibility_labels)),
    policy_tags: sortedNames(settled(packet.policy_tags)),
    targets: sortedBy(settled(packet.targets), canonicalize),
    expiry: settled(packet.expiry),
    payload: settled(packet.payload),
  };
}

function normalCondition(condition: Draft<Condition>): Condition {
  return {
    condition_id: settled(condition.condition_id),
    observation_domain: settled(condition.observation_domain),
    predicate: normalPredicate(settled(condition.predicate)),
    evidence_use_policy: normalPolicy(settled(condition.evidence_use_policy)),
  };
}

function normalPredicate(predicate: Predicate): Predicate {
  if (predicate.predicate !== "InSet") return predicate;
  return { predicate: "InSet", expected: sortedBy(predicate.expected, canonicalize) };
}

function normalPolicy(policy: EvidenceUsePolicy): EvidenceUsePolicy {
  const keys = policy.authorized_key_ids;
  return {
    ...policy,
    allowed_channels: sortedNames(policy.allowed_channels),
    required_assurance: sortedNames(policy.required_assurance),
    ...(keys === undefined ? {} : { authorized_key_ids: sortedNames(keys) }),
  };
}

/** Strings in the order of their canonical text, which has a closing quote: "a!" is before "a". */
function sortedNames<Name extends string>(names: readonly Name[]): Name[] {
  return sortedBy(names, canonicalize);
}

/** A law as a JSON value. It has JSON values only; the compiler cannot see that in an interface. */
export function lawAsJson(law: ScenarioLaw): JsonValue {
  return law as unknown as JsonValue;
}

function settled<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("Cannot build a law from a draft with a part missing");
  return value;
}
