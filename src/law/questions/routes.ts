/** The cheapest stages that make a formula over stages true. The graph of stages has no cycle. */

import { type Formula, variableOf } from "../proof/formula.ts";
import type { AskedLaw } from "./asked_law.ts";
import { type Meter, spend } from "./formulas.ts";

/** Routes through the stages of a law. */
export interface Routes {
  readonly isDone: (stage: number) => boolean;
  /** Stages that make a formula over stages true, each after those that it requires; null if it cannot be true. */
  readonly towards: (formula: Formula) => readonly number[] | null;
}

/**
 * Finds routes.
 *
 * @param ownCost The cost of a stage once it is open; infinite if it cannot be completed
 */
export function routesIn({ stages }: AskedLaw, meter: Meter, ownCost: (stage: number) => number): Routes {
  const costs = new Map<number, number>();
  const costOf = (formula: Formula): number => {
    spend(meter, 1);
    if (typeof formula === "number") return stageCost(variableOf(formula));
    const least = cheapest(formula.operands, formula.minimum, costOf).map(([, cost]) => cost);
    // A stage that several others require counts several times, so a sum may grow beyond all numbers.
    return least.includes(Infinity) ? Infinity : Math.min(least.reduce((sum, cost) => sum + cost, 0), Number.MAX_VALUE);
  };
  const stageCost = (stage: number): number => {
    const known = costs.get(stage);
    if (known !== undefined) return known;
    const opens = stages[stage]?.opens ?? null;
    const before = opens === null ? 0 : costOf(opens);
    const cost = before === Infinity ? Infinity : before + ownCost(stage);
    costs.set(stage, cost);
    return cost;
  };
  const collect = (formula: Formula, into: Set<number>): void => {
    if (typeof formula !== "number") {
      for (const [one] of cheapest(formula.operands, formula.minimum, costOf)) collect(one, into);
      return;
    }
    const stage = variableOf(formula);
    if (into.has(stage)) return;
    const opens = stages[stage]?.opens ?? null;
    if (opens !== null) collect(opens, into);
    into.add(stage);
  };
  const towards = (formula: Formula): readonly number[] | null => {
    if (costOf(formula) === Infinity) return null;
    const found = new Set<number>();
    collect(formula, found);
    return [...found];
  };
  return { isDone: (stage) => stageCost(stage) < Infinity, towards };
}

/** The operands that cost least, as many as must hold. */
function cheapest(
  operands: readonly Formula[],
  minimum: number,
  costOf: (formula: Formula) => number,
): readonly (readonly [Formula, number])[] {
  return operands.map((one) => [one, costOf(one)] as const).sort((a, b) => a[1] - b[1]).slice(0, minimum);
}
