/** Who can open a law: the smallest sets of parties that complete its stages and its run. */

import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { ScenarioLaw } from "../types.ts";
import { askedLaw, neededTruth, supportFor, type Unit, unitsOf } from "./asked_law.ts";
import { BudgetSpent, literalsOf, type Meter, QUESTION_VISITS, spend, substitute } from "./formulas.ts";
import { declaredIn, parameterChoices } from "./parameter_choices.ts";
import { type Party, partyTable } from "./parties.ts";
import { ofAtLeast, partySets, setsOf, smallest, type SmallestSets } from "./party_sets.ts";
import type { QuestionOptions } from "./prove.ts";
import type { Setting } from "./ways.ts";

/** The smallest sets of parties, smaller ones first. */
export interface WhoAnswer {
  /** By stage, once it is open. */
  readonly stages: ReadonlyMap<string, readonly (readonly Party[])[]>;
  readonly run: readonly (readonly Party[])[];
}

/** The answer; null if the budget ended before it was known. */
export function whoCompletes(law: ScenarioLaw, options: QuestionOptions = {}): WhoAnswer | null {
  const meter: Meter = { left: options.visits ?? QUESTION_VISITS };
  try {
    return decide(law, options, meter);
  } catch (error) {
    if (error instanceof BudgetSpent) return null;
    throw error;
  }
}

function decide(law: ScenarioLaw, { groupOf }: QuestionOptions, meter: Meter): WhoAnswer | null {
  const table = partyTable();
  const asked = askedLaw(law, table);
  const { choices, exact } = parameterChoices(declaredIn(law), law.conditions, meter, groupOf);
  if (!exact) return null;
  const answers = choices.map((parameters) => {
    const units = unitsOf(law.conditions, parameters, groupOf);
    const setting: Setting = { asked, units, parameters, table, meter, optimistic: false };
    const found = setsIn(setting);
    if (units.exact && asked.support.every((one) => one.exact)) return found;
    return isSame(found, setsIn({ ...setting, optimistic: true })) ? found : null;
  });
  const known = answers.filter((one) => one !== null);
  if (known.length < answers.length) return null;
  const union = (lists: readonly SmallestSets[]): readonly (readonly Party[])[] =>
    smallest(lists.flat(), meter).map((set) =>
      table.parties.filter((_, number) => (set >> BigInt(number) & 1n) === 1n)
    );
  const stages = law.stages.map(({ stage_id }, at) =>
    [stage_id, union(known.map((one) => one.stages[at] ?? []))] as const
  );
  return { stages: new Map(stages), run: union(known.map(({ run }) => run)) };
}

interface FoundSets {
  readonly stages: readonly SmallestSets[];
  readonly run: SmallestSets;
}

function isSame(left: FoundSets, right: FoundSets): boolean {
  const text = ({ stages, run }: FoundSets): string =>
    [...stages, run].map((sets) => [...sets].sort().join()).join(";");
  return text(left) === text(right);
}

function setsIn(setting: Setting): FoundSets {
  const { asked, meter } = setting;
  const leaves = new Map<Literal, SmallestSets>();
  const leaf = (literal: Literal): SmallestSets => {
    const known = leaves.get(literal) ?? literalSets(setting, literal);
    leaves.set(literal, known);
    return known;
  };
  const stages = asked.stages.map(({ needs }) => stageSets(setting, needs, leaf));
  const done = new Map<number, SmallestSets>();
  const doneSets = (literal: Literal): SmallestSets => {
    const stage = variableOf(literal);
    const known = done.get(stage);
    if (known !== undefined) return known;
    const opens = asked.stages[stage]?.opens ?? null;
    const own = stages[stage] ?? [];
    const sets = opens === null ? own : ofAtLeast(2, [setsOf(opens, meter, doneSets), own], meter);
    done.set(stage, sets);
    return sets;
  };
  return { stages, run: setsOf(asked.goal, meter, doneSets) };
}

/** The smallest sets that make a literal true; with `optimistic`, no party where it is not known. */
function literalSets({ asked, units, meter, optimistic }: Setting, literal: Literal): SmallestSets {
  const number = variableOf(literal);
  const unit = units.unitOf[number];
  const support = asked.support[number];
  if (unit === undefined || support === undefined) return [];
  if (optimistic && !(unit.values.exact && support.exact)) return [0n];
  const at = unit.conditions.indexOf(number);
  const truth = neededTruth(literal);
  const formulas = new Set(
    unit.values.options.flatMap((option) =>
      option.truths[at] === truth ? supportFor(support, truth, option) ?? [] : []
    ),
  );
  return smallest([...formulas].flatMap((formula) => partySets(formula, meter)), meter);
}

/**
 * The smallest sets of a stage. Where one value decides several literals, each of its options is tried; the other
 * literals of its unit are then taken away.
 */
function stageSets(setting: Setting, formula: Formula, leaf: (literal: Literal) => SmallestSets): SmallestSets {
  const { meter } = setting;
  spend(meter, 1);
  if (typeof formula === "number") return leaf(formula);
  const { minimum, operands } = formula;
  const within = (part: Formula): SmallestSets => stageSets(setting, part, leaf);
  if (minimum === 1) return ofAtLeast(1, operands.map(within), meter);
  const contested = contestedUnits(setting, formula);
  if (contested.length === 0) return setsOf(formula, meter, leaf);
  const groups = independentGroups(setting, operands, contested);
  if (groups.length === operands.length) return ofAtLeast(minimum, operands.map(within), meter);
  if (minimum === operands.length && groups.length > 1) {
    const parts = groups.map((group) => within(threshold(group.length, group)));
    return ofAtLeast(parts.length, parts, meter);
  }
  const [unit] = contested;
  if (unit === undefined) return [];
  const parts = choicesWithin(setting, unit, formula);
  return smallest(
    parts.flatMap((keeps) => {
      const left = substitute(
        formula,
        meter,
        (literal) => setting.units.unitOf[variableOf(literal)] !== unit || keeps(literal) ? literal : null,
      );
      return left === null ? [] : within(left);
    }),
    meter,
  );
}

/** The literals of a unit that each of its options leaves. */
function choicesWithin(
  { optimistic }: Setting,
  unit: Unit,
  formula: Formula,
): readonly ((literal: Literal) => boolean)[] {
  const read = [...literalsOf(formula)].filter((literal) => unit.conditions.includes(variableOf(literal)));
  if (optimistic && !unit.values.exact) {
    // Nothing but that no condition is both true and false is known.
    const first = read.find((literal) => read.includes(literal ^ 1)) ?? 0;
    return [(literal) => literal !== first, (literal) => literal !== (first ^ 1)];
  }
  const sets = new Map<string, ReadonlySet<Literal>>();
  for (const { truths } of unit.values.options) {
    const kept = read.filter((literal) =>
      truths[unit.conditions.indexOf(variableOf(literal))] === neededTruth(literal)
    );
    sets.set(kept.join(), new Set(kept));
  }
  const all = [...sets.values()];
  return all.filter((set) => !all.some((other) => other.size > set.size && set.isSubsetOf(other)))
    .map((set) => (literal: Literal) => set.has(literal));
}

/** The units of which a formula reads literals that exclude one another, those read most often first. */
function contestedUnits({ units, optimistic }: Setting, formula: Formula): readonly Unit[] {
  const read = Map.groupBy(literalsOf(formula), (literal) => units.unitOf[variableOf(literal)]);
  return [...read].flatMap(([unit, literals]) => {
    if (unit === undefined || literals.length < 2) return [];
    const excludes = optimistic && !unit.values.exact
      ? literals.some((literal) => literals.includes(literal ^ 1))
      : !unit.values.options.some(({ truths }) =>
        literals.every((literal) => truths[unit.conditions.indexOf(variableOf(literal))] === neededTruth(literal))
      );
    return excludes ? [unit] : [];
  });
}

/** The operands in groups that share no contested unit. */
function independentGroups(
  { units }: Setting,
  operands: readonly Formula[],
  contested: readonly Unit[],
): readonly (readonly Formula[])[] {
  let groups: { readonly operands: readonly Formula[]; readonly units: ReadonlySet<Unit> }[] = [];
  for (const operand of operands) {
    const own = new Set([...literalsOf(operand)].flatMap((literal) => {
      const unit = units.unitOf[variableOf(literal)];
      return unit !== undefined && contested.includes(unit) ? [unit] : [];
    }));
    const linked = groups.filter((group) => !group.units.isDisjointFrom(own));
    groups = groups.filter((group) => !linked.includes(group));
    groups.push({
      operands: [...linked.flatMap((group) => group.operands), operand],
      units: linked.reduce((all, group) => all.union(group.units), own),
    });
  }
  return groups.map((group) => group.operands);
}
