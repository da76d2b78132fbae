/** Compiles a scenario law to flat arrays, once. Evaluation, frontier and fold work on the compiled law. */

import type { Identity } from "../canonical/identity.ts";
import { awaitsParameter } from "../law/expand.ts";
import type { AcquisitionBinding, Condition, EvidenceUsePolicy, ScenarioLaw, Stage } from "../law/types.ts";
import { type CompiledPredicate, compilePredicate, predicateOnAbsence } from "../law/value/predicate.ts";
import type { Tri } from "../law/value/truth.ts";
import type { TrustedKey } from "./profile.ts";
import { compileProgram, type Program } from "./program.ts";

/** A condition ready to judge values. */
export interface CompiledCondition {
  readonly condition: Condition;
  /** Judges a value of the condition's domain; never throws. */
  readonly judge: CompiledPredicate;
  /** The judgement if acquisition succeeded and found nothing. */
  readonly onFoundNothing: Tri;
  /** The retention that every evidence item of the condition must have. */
  readonly retention: "RetainCanonicalValue" | "RetainDigestOnly";
  /** The keys that the law pins, by id; null where the operator says who an id is. */
  readonly pinned: ReadonlyMap<string, TrustedKey> | null;
  /** Whether the predicate compares with a parameter that has no value: the law is bound to no run. */
  readonly awaitsParameter: boolean;
}

/** A stage ready to be opened and evaluated. */
export interface CompiledStage {
  readonly stage: Stage;
  /** Over condition ids. */
  readonly completion: Program;
  /** Conditions by the slots of `completion`. */
  readonly conditions: readonly CompiledCondition[];
  /** Slot of each condition of the stage. */
  readonly slotOf: ReadonlyMap<string, number>;
  /** Work space of an evaluation, by slot. It is written before it is read. */
  readonly scratch: { readonly values: Uint8Array; readonly places: Int32Array };
  /** Over stage ids; null for a root. */
  readonly prerequisite: Program | null;
  /** Stage indexes by the slots of `prerequisite`. */
  readonly prerequisiteStages: Int32Array;
  /** Bindings of the stage's conditions, in binding id order. */
  readonly bindings: readonly AcquisitionBinding[];
  /** Whether evidence can wait for a condition of the stage. */
  readonly acceptsSubmissions: boolean;
}

/** A compiled law, bound to a run if it has parameters and the run gives their values. */
export interface CompiledLaw {
  /** In normal form; in a bound law with the values of the run in place of its parameters. */
  readonly law: ScenarioLaw;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  /** In the law's (stage id) order. */
  readonly stages: readonly CompiledStage[];
  readonly stageIndex: ReadonlyMap<string, number>;
  readonly conditionIndex: ReadonlyMap<string, CompiledCondition>;
  readonly bindingIndex: ReadonlyMap<string, AcquisitionBinding>;
  /** Ids of the bindings whose params hold values of the run. */
  readonly resolvedBindings: ReadonlySet<string>;
  /** The scenario's completion requirement, over stage ids. */
  readonly completion: Program;
  /** Stage indexes by the slots of `completion`. */
  readonly completionStages: Int32Array;
  /** For each stage, the stages whose prerequisite names it. */
  readonly dependants: readonly Int32Array[];
}

function indexesOf(slots: readonly string[], stageIndex: ReadonlyMap<string, number>): Int32Array {
  return Int32Array.from(slots, (stageId) => {
    const index = stageIndex.get(stageId);
    if (index === undefined) throw new RangeError(`Cannot compile law: stage "${stageId}" is not declared`);
    return index;
  });
}

function pinnedKeys({ authorized_public_keys: keys }: EvidenceUsePolicy): CompiledCondition["pinned"] {
  if (keys === undefined) return null;
  return new Map(Object.entries(keys).map(([key_id, public_key]) => [key_id, { key_id, public_key }]));
}

/** The keys that may sign evidence of a condition, by id: those that the law pins, else those of the operator. */
export function keysOf(
  condition: Pick<CompiledCondition, "pinned"> | undefined,
  keys: ReadonlyMap<string, TrustedKey>,
): ReadonlyMap<string, TrustedKey> {
  return condition?.pinned ?? keys;
}

function compileCondition(condition: Condition): CompiledCondition {
  return {
    condition,
    judge: compilePredicate(condition.predicate, condition.observation_domain),
    onFoundNothing: predicateOnAbsence(condition.predicate),
    retention: condition.evidence_use_policy.retention === "retain_canonical_value"
      ? "RetainCanonicalValue"
      : "RetainDigestOnly",
    pinned: pinnedKeys(condition.evidence_use_policy),
    awaitsParameter: awaitsParameter(condition.predicate),
  };
}

function compileStage(
  stage: Stage,
  law: ScenarioLaw,
  stageIndex: ReadonlyMap<string, number>,
  conditionIndex: ReadonlyMap<string, CompiledCondition>,
): CompiledStage {
  const completion = compileProgram(stage.completion_requirement);
  const conditions = completion.slots.map((conditionId) => {
    const condition = conditionIndex.get(conditionId);
    if (condition === undefined) {
      throw new RangeError(`Cannot compile law: condition "${conditionId}" is not declared`);
    }
    return condition;
  });
  const slotOf = new Map(completion.slots.map((conditionId, slot) => [conditionId, slot]));
  const prerequisite = stage.prerequisite.kind === "root" ? null : compileProgram(stage.prerequisite.requirement);
  return {
    stage,
    completion,
    conditions,
    slotOf,
    scratch: { values: new Uint8Array(conditions.length), places: new Int32Array(conditions.length) },
    prerequisite,
    prerequisiteStages: indexesOf(prerequisite?.slots ?? [], stageIndex),
    bindings: law.acquisition_bindings.filter((binding) => slotOf.has(binding.condition_id)),
    acceptsSubmissions: conditions.some(({ condition }) =>
      condition.evidence_use_policy.allowed_channels.includes("accepted_submission")
    ),
  };
}

function dependantsOf(stages: readonly CompiledStage[]): Int32Array[] {
  const dependants: number[][] = stages.map(() => []);
  stages.forEach((stage, index) => {
    for (const named of stage.prerequisiteStages) dependants[named]?.push(index);
  });
  return dependants.map((list) => Int32Array.from(list));
}

/**
 * Compiles a proved law.
 *
 * @param law Normal form, as `constructLaw` returns it
 * @throws {RangeError} If a leaf names an undeclared stage or condition; a proved law has no such leaf
 */
export function compileLaw(law: ScenarioLaw, lawIdentity: Identity, graphIdentity: Identity): CompiledLaw {
  const stageIndex = new Map(law.stages.map((stage, index) => [stage.stage_id, index]));
  const conditionIndex = new Map(
    law.conditions.map((condition) => [condition.condition_id, compileCondition(condition)]),
  );
  const stages = law.stages.map((stage) => compileStage(stage, law, stageIndex, conditionIndex));
  const completion = compileProgram(law.completion_requirement);
  return {
    law,
    scenario_law_identity: lawIdentity,
    graph_identity: graphIdentity,
    stages,
    stageIndex,
    conditionIndex,
    bindingIndex: new Map(law.acquisition_bindings.map((binding) => [binding.binding_id, binding])),
    resolvedBindings: new Set(),
    completion,
    completionStages: indexesOf(completion.slots, stageIndex),
    dependants: dependantsOf(stages),
  };
}

/**
 * Binds a compiled law to the values of a run. All parts without parameters are shared, so that the laws of many runs
 * take little memory.
 *
 * @param expanded The law with its parameters replaced, as `expandLaw` returns it
 */
export function bindCompiled(compiled: CompiledLaw, expanded: ScenarioLaw): CompiledLaw {
  const conditionIndex = new Map(expanded.conditions.map((condition) => {
    const { condition_id } = condition;
    const own = compiled.conditionIndex.get(condition_id);
    return [condition_id, own?.condition === condition ? own : compileCondition(condition)];
  }));
  const bindingIndex = new Map(expanded.acquisition_bindings.map((binding) => [binding.binding_id, binding]));
  const resolved = expanded.acquisition_bindings.filter((binding) =>
    compiled.bindingIndex.get(binding.binding_id) !== binding
  );
  const stages = compiled.stages.map((stage): CompiledStage => ({
    ...stage,
    conditions: stage.conditions.map((own) => conditionIndex.get(own.condition.condition_id) ?? own),
    bindings: stage.bindings.map((own) => bindingIndex.get(own.binding_id) ?? own),
  }));
  return {
    ...compiled,
    law: expanded,
    stages,
    conditionIndex,
    bindingIndex,
    resolvedBindings: new Set(resolved.map(({ binding_id }) => binding_id)),
  };
}
