/** Ways to complete a law under restrictions: which stages can be completed, and with which evidence of whom. */

import type { ParameterValues } from "../expand.ts";
import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "../value/truth.ts";
import type { TypedValue } from "../value/types.ts";
import { type AskedLaw, neededTruth, supportFor, type Unit, type Units } from "./asked_law.ts";
import { isTrue, literalsOf, type Meter, solve, spend, substitute } from "./formulas.ts";
import type { Party, PartyTable } from "./parties.ts";
import type { ValueOption } from "./value_options.ts";

/** What must not happen in an attempt. */
export interface Restriction {
  /** Comparisons by number, each with the truth value that it must not have. */
  readonly truths: ReadonlySet<Literal>;
  /** Parties that must not count. */
  readonly bars: (party: number) => boolean;
}

/** No restriction. */
export const UNRESTRICTED: Restriction = { truths: new Set(), bars: () => false };

/** A law with values of its parameters, and the visits that are left. */
export interface Setting {
  readonly asked: AskedLaw;
  readonly units: Units;
  readonly parameters: ParameterValues;
  readonly table: PartyTable;
  readonly meter: Meter;
  /** Takes what is not known to be impossible for possible. */
  readonly optimistic: boolean;
}

/** The evidence of one condition in an attempt. */
export interface GivenEvidence {
  readonly condition_id: string;
  readonly truth: "true" | "false";
  /** Null: the sources find nothing. */
  readonly value: TypedValue | null;
  readonly by: readonly Party[];
}

/** An attempt that completes a stage. */
export interface WayStep {
  readonly stage_id: string;
  readonly evidence: readonly GivenEvidence[];
}

/** A way to complete a stage or a run. */
export interface Way {
  readonly parameters: ParameterValues;
  readonly steps: readonly WayStep[];
}

/** The options of a unit that a restriction allows. */
function allowedOptions(
  { conditions, values: { options } }: Unit,
  { truths }: Restriction,
): readonly ValueOption[] {
  if (truths.size === 0) return options;
  return options.filter((option) =>
    conditions.every((number, at) => {
      const truth = option.truths[at] ?? UNKNOWN;
      return truth === UNKNOWN || !truths.has(number * 2 + (truth === TRUE ? 0 : 1));
    })
  );
}

/** Which options of its unit make a literal true, with parties that suffice and are not barred. */
function optionsFor(
  { asked, units, meter }: Setting,
  restriction: Restriction,
  literal: Literal,
): readonly { readonly option: ValueOption; readonly support: Formula }[] {
  const number = variableOf(literal);
  const unit = units.unitOf[number];
  const support = asked.support[number];
  if (unit === undefined || support === undefined) return [];
  const at = unit.conditions.indexOf(number);
  const truth = neededTruth(literal);
  return allowedOptions(unit, restriction).flatMap((option) => {
    spend(meter, 1);
    if (option.truths[at] !== truth) return [];
    const formula = supportFor(support, truth, option);
    if (formula === null || !isTrue(formula, (party) => !restriction.bars(variableOf(party)))) return [];
    return [{ option, support: formula }];
  });
}

function mayHold(setting: Setting, restriction: Restriction, literal: Literal): boolean {
  if (optionsFor(setting, restriction, literal).length > 0) return true;
  const number = variableOf(literal);
  const isExact = setting.units.unitOf[number]?.values.exact === true && setting.asked.support[number]?.exact === true;
  return setting.optimistic && !isExact && !restriction.truths.has(literal);
}

/** Finds the literals that complete a stage, irredundant ones; null if it cannot be completed. */
export function stageLiterals(setting: Setting, stage: number, restriction: Restriction): readonly Literal[] | null {
  const needs = setting.asked.stages[stage]?.needs;
  if (needs === undefined) return null;
  const { meter } = setting;
  const left = substitute(needs, meter, (literal) => mayHold(setting, restriction, literal) ? literal : null);
  if (left === null) return null;
  const joint = jointUnits(setting, left);
  const found = joint.length === 0 ? solve(left, meter) : solveJointly(setting, left, joint, restriction);
  return found === null ? null : irredundant(needs, found, meter);
}

/** The units of which a formula reads several truth values that one value decides. */
function jointUnits({ units, optimistic }: Setting, formula: Formula): readonly Unit[] {
  const read = new Map<Unit, number>();
  for (const literal of literalsOf(formula)) {
    const unit = units.unitOf[variableOf(literal)];
    if (unit === undefined || unit.conditions.length === 1 || (optimistic && !unit.values.exact)) continue;
    read.set(unit, (read.get(unit) ?? 0) + 1);
  }
  return [...read].filter(([, count]) => count > 1).map(([unit]) => unit);
}

/**
 * Solves a formula whose joint units have one option each, or none: each literal of them becomes a variable of its own,
 * and one of the options excludes the others.
 */
function solveJointly(
  { meter, units, asked }: Setting,
  formula: Formula,
  joint: readonly Unit[],
  restriction: Restriction,
): readonly Literal[] | null {
  const first = asked.conditions.length;
  const isJoint = new Set(joint);
  const own = (literal: Literal): Literal => (first + literal) * 2;
  const literals = [...literalsOf(formula)];
  const renamed = substitute(formula, meter, (literal) => {
    const unit = units.unitOf[variableOf(literal)];
    return unit !== undefined && isJoint.has(unit) ? own(literal) : literal;
  });
  const constraints = joint.flatMap((unit): Formula[] => {
    const read = literals.filter((literal) => unit.conditions.includes(variableOf(literal)));
    const excluded = new Map<string, readonly Literal[]>();
    for (const { truths } of allowedOptions(unit, restriction)) {
      const out = read.filter((literal) =>
        truths[unit.conditions.indexOf(variableOf(literal))] !== neededTruth(literal)
      );
      excluded.set(out.join(), out);
    }
    const sets = [...excluded.values()];
    const least = sets.filter((set) =>
      !sets.some((other) => other.length < set.length && other.every((one) => set.includes(one)))
    );
    // An option that excludes nothing leaves no constraint.
    if (least.some((set) => set.length === 0)) return [];
    return [threshold(1, least.map((set) => threshold(set.length, set.map((literal) => own(literal) ^ 1))))];
  });
  const found = solve(renamed === null ? null : threshold(1 + constraints.length, [renamed, ...constraints]), meter);
  return found === null ? null : found.flatMap((literal) => {
    if (variableOf(literal) < first) return [literal];
    return (literal & 1) === 0 ? [variableOf(literal) - first] : [];
  });
}

/** The literals without those that are not needed. */
function irredundant(needs: Formula, literals: readonly Literal[], meter: Meter): readonly Literal[] {
  const left = new Set(literals);
  for (const literal of literals) {
    spend(meter, 1);
    left.delete(literal);
    if (!isTrue(needs, (one) => left.has(one))) left.add(literal);
  }
  return [...left];
}

/** The attempt that makes literals true. */
export function stepOf(
  setting: Setting,
  stage: number,
  literals: readonly Literal[],
  restriction: Restriction,
): WayStep {
  const { asked, units } = setting;
  const groups = Map.groupBy(literals, (literal) => units.unitOf[variableOf(literal)]);
  const evidence: GivenEvidence[] = [];
  for (const [unit, own] of groups) {
    if (unit === undefined) continue;
    const option = optionWith(setting, unit, own, restriction);
    if (option === undefined) continue;
    unit.conditions.forEach((number, at) => {
      const truth = option.truths[at] ?? UNKNOWN;
      if (truth === UNKNOWN || !asked.stages[stage]?.conditions.includes(number)) return;
      evidence.push(given(setting, number, truth, option, restriction));
    });
  }
  return { stage_id: asked.stages[stage]?.stage_id ?? "", evidence };
}

function optionWith(
  setting: Setting,
  unit: Unit,
  literals: readonly Literal[],
  restriction: Restriction,
): ValueOption | undefined {
  const lists = literals.map((literal) => optionsFor(setting, restriction, literal).map(({ option }) => option));
  const [first, ...rest] = lists;
  return (first ?? unit.values.options).find((option) => rest.every((list) => list.includes(option)));
}

function given(
  { asked, table }: Setting,
  number: number,
  truth: Tri,
  option: ValueOption,
  restriction: Restriction,
): GivenEvidence {
  const support = asked.support[number];
  const formula = support === undefined ? null : supportFor(support, truth, option);
  const by = formula === null ? [] : fewest(formula, restriction.bars) ?? [];
  return {
    condition_id: asked.conditions[number]?.condition_id ?? "",
    truth: truth === FALSE ? "false" : "true",
    value: option.value,
    by: [...new Set(by)].flatMap((party) => table.parties[party] ?? []),
  };
}

/** Few parties that suffice and are not barred; null if there are none. */
function fewest(formula: Formula, bars: (party: number) => boolean): readonly number[] | null {
  if (typeof formula === "number") return bars(variableOf(formula)) ? null : [variableOf(formula)];
  const able = formula.operands.map((one) => fewest(one, bars)).filter((one) => one !== null)
    .sort((a, b) => a.length - b.length);
  return able.length < formula.minimum ? null : able.slice(0, formula.minimum).flat();
}
