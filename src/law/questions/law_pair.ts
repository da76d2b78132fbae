/**
 * Two laws that get the same evidence: one value for each pair of comparisons, of parties who agree, fresh or older
 * than one of the laws accepts.
 */

import type { ParameterValues } from "../expand.ts";
import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { Condition } from "../types.ts";
import { FALSE, type Tri, UNKNOWN } from "../value/truth.ts";
import type { TypedValue } from "../value/types.ts";
import { type AskedLaw, askedLaw, supportFor, type Unit, unitsOf } from "./asked_law.ts";
import { BudgetSpent, type Meter, negationOf, solve } from "./formulas.ts";
import { type NamedLaw, pairConditions } from "./paired_conditions.ts";
import { type Declared, isIn, parameterChoices } from "./parameter_choices.ts";
import { type PartyTable, partyTable } from "./parties.ts";
import type { Routes } from "./routes.ts";

/** One of two laws. */
export type Side = "old" | "new";

/** Two laws with numbers for their conditions: those of the old one first. */
export interface Pair {
  readonly old: AskedLaw;
  readonly new: AskedLaw;
  readonly conditions: readonly Condition[];
  readonly table: PartyTable;
  readonly worlds: readonly World[];
  /** Whether no other values of parameters differ. */
  readonly exact: boolean;
  readonly meter: Meter;
}

/** Values of the parameters, and the evidence that there can be. */
export interface World {
  readonly parameters: ParameterValues;
  /** The laws that accept these values. */
  readonly accepts: Readonly<Record<Side, boolean>>;
  readonly units: readonly Unit[];
  readonly evidence: ReadonlyMap<Unit, readonly WorldEvidence[]>;
  readonly twins: Readonly<Record<Side, ReadonlyMap<Literal, Literal>>>;
  readonly stages: Map<string, StageFinding>;
  readonly same: Map<string, boolean>;
  readonly routes: Map<string, Routes>;
}

/** Evidence for a unit, with the literals that it makes true, in numbers of both laws. */
export interface WorldEvidence {
  readonly literals: ReadonlySet<Literal>;
  readonly value: TypedValue | null;
  readonly by: readonly number[];
  readonly stale: boolean;
}

/** Reads two laws with the values of their parameters and the evidence that both get; null if the budget ended before. */
export function readPair(old: NamedLaw, next: NamedLaw, together: boolean, meter: Meter): Pair | null {
  const table = partyTable();
  const pair = { old: askedLaw(old.law, table, [next.law]), new: askedLaw(next.law, table, [old.law]) };
  const conditions = [...pair.old.conditions, ...pair.new.conditions];
  const groups = pairConditions(old, next, together);
  const groupOf = (condition: Condition): unknown => groups.get(condition);
  const ids = new Set([...old.law.parameters ?? [], ...next.law.parameters ?? []].map((one) => one.parameter_id));
  const declared = [...ids].map((parameter_id): Declared => ({
    parameter_id,
    domains: domainsOf(parameter_id, old, next),
  }));
  try {
    const { choices, exact } = parameterChoices(declared, conditions, meter, groupOf);
    const worlds = choices.map((parameters): World => {
      const { units } = unitsOf(conditions, parameters, groupOf);
      const evidence = new Map(units.map((unit) => [unit, evidenceOf({ ...pair, meter }, unit)]));
      const twins = {
        old: twinsOf(pair.old.conditions.length, units, evidence, "old"),
        new: twinsOf(pair.old.conditions.length, units, evidence, "new"),
      };
      const accepts = { old: isAccepted(old, parameters), new: isAccepted(next, parameters) };
      return { parameters, accepts, units, evidence, twins, stages: new Map(), same: new Map(), routes: new Map() };
    });
    return { ...pair, conditions, table, worlds, exact, meter };
  } catch (error) {
    if (error instanceof BudgetSpent) return null;
    throw error;
  }
}

function domainsOf(id: string, ...laws: readonly NamedLaw[]): Declared["domains"] {
  const found = laws.flatMap(({ law }) => law.parameters?.find((one) => one.parameter_id === id)?.domain ?? []);
  const [first, second] = found;
  return first !== undefined && second !== undefined && JSON.stringify(first) === JSON.stringify(second)
    ? [first]
    : found;
}

function isAccepted({ law }: NamedLaw, parameters: ParameterValues): boolean {
  return (law.parameters ?? []).every(({ parameter_id, domain }) => isIn(parameters.get(parameter_id), domain));
}

/** The evidence that a unit can have: each value, of parties who suffice in both laws or in one of them only. */
function evidenceOf(pair: Pick<Pair, "old" | "new" | "meter">, unit: Unit): readonly WorldEvidence[] {
  const count = pair.old.conditions.length;
  const found: WorldEvidence[] = [];
  for (const option of unit.values.options) {
    const literals = { old: [] as Literal[], new: [] as Literal[] };
    const supports = { old: [] as Formula[], new: [] as Formula[] };
    unit.conditions.forEach((number, at) => {
      const truth: Tri = option.truths[at] ?? UNKNOWN;
      if (truth === UNKNOWN) return;
      const side: Side = number < count ? "old" : "new";
      const support = pair[side].support[side === "old" ? number : number - count];
      const formula = support === undefined ? null : supportFor(support, truth, option);
      if (formula === null) return;
      literals[side].push(number * 2 + (truth === FALSE ? 1 : 0));
      supports[side].push(formula);
    });
    const whole = (side: Side): Formula | null =>
      supports[side].length === 0 ? null : threshold(supports[side].length, supports[side]);
    for (const given of givenBy(pair, unit, whole("old"), whole("new"))) {
      const own = [...given.sides.has("old") ? literals.old : [], ...given.sides.has("new") ? literals.new : []];
      if (own.length > 0) found.push({ literals: new Set(own), value: option.value, by: given.by, stale: given.stale });
    }
  }
  return found;
}

interface Given {
  readonly sides: ReadonlySet<Side>;
  readonly by: readonly number[];
  readonly stale: boolean;
}

/** The parties that suffice in both laws, and those that suffice in one of them only. */
function givenBy(
  pair: Pick<Pair, "old" | "new" | "meter">,
  unit: Unit,
  old: Formula | null,
  next: Formula | null,
): readonly Given[] {
  const { meter } = pair;
  const given: Given[] = [];
  const add = (formula: Formula | null, sides: readonly Side[], stale: boolean): void => {
    const found = solve(formula, meter);
    if (found === null) return;
    const by = found.filter((literal) => (literal & 1) === 0).map(variableOf);
    given.push({ sides: new Set(sides), by, stale });
  };
  if (old !== null && next !== null) add(threshold(2, [old, next]), ["old", "new"], false);
  const ages = { old: ageOf(pair, unit, "old"), new: ageOf(pair, unit, "new") };
  for (const [own, other, side] of [[old, next, "old"], [next, old, "new"]] as const) {
    if (own === null) continue;
    const isOlder = other !== null && ages[side] > ages[side === "old" ? "new" : "old"];
    add(other === null || isOlder ? own : threshold(2, [own, negationOf(other)]), [side], isOlder);
  }
  return given;
}

/** The maximum age of the evidence of a unit in a law. */
function ageOf(pair: Pick<Pair, "old" | "new">, { conditions }: Unit, side: Side): number {
  const count = pair.old.conditions.length;
  const own = conditions.filter((number) => number < count === (side === "old"));
  const ages = own.map((number) => {
    const { freshness } = pair[side].conditions[side === "old" ? number : number - count]?.evidence_use_policy ?? {};
    return freshness?.freshness === "MaximumAge" ? freshness.maximum_age_millis : Infinity;
  });
  return Math.min(...ages);
}

/** By literal of a law: the literal of the other law that is true with it. */
function twinsOf(
  count: number,
  units: readonly Unit[],
  evidence: World["evidence"],
  from: Side,
): ReadonlyMap<Literal, Literal> {
  const twins = new Map<Literal, Literal>();
  for (const unit of units) {
    const own = unit.conditions.filter((number) => (number < count) === (from === "old"));
    const others = unit.conditions.filter((number) => (number < count) !== (from === "old"));
    const [one] = own;
    const [other] = others;
    if (own.length !== 1 || others.length !== 1 || one === undefined || other === undefined || !unit.values.exact) {
      continue;
    }
    for (const sign of [0, 1]) {
      const all = (evidence.get(unit) ?? []).every(({ literals }) =>
        !literals.has(one * 2 + sign) || literals.has(other * 2 + sign)
      );
      if (all) twins.set(one * 2 + sign, other * 2 + sign);
    }
  }
  return twins;
}

/** What the evidence of a stage can do: complete it in one law alone, or only in both. */
export interface StageFinding {
  readonly alone: readonly Literal[] | null;
  readonly own: readonly Literal[] | null;
}
