/** A law as questions read it: what each comparison can become, who makes it so, and the formulas of its stages. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { expandLaw, type ParameterValues } from "../expand.ts";
import { compileFormula, type Formula, type Literal, variableOf } from "../proof/formula.ts";
import type { Condition, ScenarioLaw } from "../types.ts";
import { FALSE, type Tri, TRUE } from "../value/truth.ts";
import { literalsOf } from "./formulas.ts";
import { allKeys, namedKeys, type PartyTable, type Support, supportOf } from "./parties.ts";
import { type ValueOption, type ValueOptions, valueOptions } from "./value_options.ts";

/** A stage by the number of its conditions and of other stages. */
export interface AskedStage {
  readonly stage_id: string;
  /** What completes it, over conditions. */
  readonly needs: Formula;
  /** What opens it, over stages; null for a root. */
  readonly opens: Formula | null;
  /** The conditions that it asks. */
  readonly conditions: readonly number[];
}

/** Conditions that one value judges in an attempt. */
export interface Unit {
  readonly conditions: readonly number[];
  readonly values: ValueOptions;
}

/** A law as questions read it. */
export interface AskedLaw {
  readonly law: ScenarioLaw;
  readonly conditions: readonly Condition[];
  readonly conditionNumbers: ReadonlyMap<string, number>;
  readonly stages: readonly AskedStage[];
  readonly stageNumbers: ReadonlyMap<string, number>;
  /** What completes the run, over stages. */
  readonly goal: Formula;
  /** By condition. */
  readonly support: readonly Support[];
}

/**
 * Reads the parts of a law that no parameter changes.
 *
 * @param others Laws that it is compared with, whose keys have names too
 */
export function askedLaw(law: ScenarioLaw, table: PartyTable, others: readonly ScenarioLaw[] = []): AskedLaw {
  const named = namedKeys([law]);
  const signers = others.length === 0 ? undefined : allKeys([law, ...others]);
  const conditionNumbers = new Map(law.conditions.map(({ condition_id }, number) => [condition_id, number]));
  const stageNumbers = new Map(law.stages.map(({ stage_id }, number) => [stage_id, number]));
  const conditionOf = (id: string): number => conditionNumbers.get(id) ?? -1;
  const stageOf = (id: string): number => stageNumbers.get(id) ?? -1;
  const bindings = Map.groupBy(law.acquisition_bindings, (one) => one.condition_id);
  return {
    law,
    conditions: law.conditions,
    conditionNumbers,
    stages: law.stages.map(({ stage_id, prerequisite, completion_requirement }) => {
      const needs = compileFormula(completion_requirement, conditionOf);
      const conditions = [...new Set([...literalsOf(needs)].map(variableOf))];
      const opens = prerequisite.kind === "root" ? null : compileFormula(prerequisite.requirement, stageOf);
      return { stage_id, needs, opens, conditions };
    }),
    stageNumbers,
    goal: compileFormula(law.completion_requirement, stageOf),
    support: law.conditions.map((one) => supportOf(one, bindings.get(one.condition_id) ?? [], table, named, signers)),
  };
}

/** Units by condition, for the values that parameters have. */
export interface Units {
  readonly units: readonly Unit[];
  /** By condition: its unit. */
  readonly unitOf: readonly Unit[];
  readonly exact: boolean;
}

/** What conditions of one value have in common; absent if each condition has a value of its own. */
export type GroupOf = (condition: Condition) => unknown;

/** The units of conditions: each alone, or those of one group together. */
export function unitsOf(conditions: readonly Condition[], parameters: ParameterValues, groupOf?: GroupOf): Units {
  const expanded = expandLaw({ conditions, acquisition_bindings: [] } as unknown as ScenarioLaw, parameters).conditions;
  const numbers = conditions.map((_, number) => number);
  const groups = Map.groupBy(numbers, (number) => {
    const condition = conditions[number];
    return condition === undefined || groupOf === undefined ? number : groupOf(condition);
  });
  const known = new Map<string, ValueOptions>();
  const units = [...groups.values()].map((group): Unit => {
    const comparisons = group.flatMap((number) => {
      const one = expanded[number];
      return one === undefined ? [] : [{ predicate: one.predicate, domain: one.observation_domain }];
    });
    const key = canonicalize(comparisons as unknown as JsonValue);
    const values = known.get(key) ?? valueOptions(comparisons);
    known.set(key, values);
    return { conditions: group, values };
  });
  const unitOf: Unit[] = [];
  for (const unit of units) for (const number of unit.conditions) unitOf[number] = unit;
  return { units, unitOf, exact: units.every(({ values }) => values.exact) };
}

/** The truth value that a literal needs of its condition. */
export function neededTruth(literal: Literal): Tri {
  return (literal & 1) === 0 ? TRUE : FALSE;
}

/** The parties that give an option of a unit to one of its conditions, which then has a truth value. */
export function supportFor(support: Support, truth: Tri, option: ValueOption): Formula | null {
  const from = option.value === null ? support.byNothing : support.byValue;
  return truth === TRUE ? from.whenTrue : from.whenFalse;
}
