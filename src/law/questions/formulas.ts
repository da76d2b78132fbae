/**
 * Formulas with parts taken away: a literal that no party can make true, or one that stands for a formula of its own.
 */

import { type Formula, type Literal, threshold } from "../proof/formula.ts";
import { findSatisfyingAssignment } from "../proof/satisfiability.ts";

/** Bounds the visits of all questions that are asked together. */
export interface Meter {
  left: number;
}

/** Visits of one question: some hundred milliseconds. */
export const QUESTION_VISITS = 2 ** 22;

/** The budget of visits is used up. */
export class BudgetSpent extends Error {}

/** Counts visits. */
export function spend(meter: Meter, visits: number): void {
  meter.left -= visits;
  if (meter.left < 0) throw new BudgetSpent();
}

/**
 * A formula with each literal replaced. An Unknown satisfies neither a literal nor its negation, so a literal that is
 * taken away is never true.
 *
 * @param of What stands for a literal; null takes it away
 * @returns Null if the formula is never true
 */
export function substitute(formula: Formula, meter: Meter, of: (literal: Literal) => Formula | null): Formula | null {
  spend(meter, 1);
  if (typeof formula === "number") return of(formula);
  const left: Formula[] = [];
  let isSame = true;
  for (const operand of formula.operands) {
    const part = substitute(operand, meter, of);
    if (part !== operand) isSame = false;
    if (part !== null) left.push(part);
  }
  if (isSame) return formula;
  return left.length < formula.minimum ? null : threshold(formula.minimum, left);
}

/** Literals that make a formula true, or null if there are none. */
export function solve(formula: Formula | null, meter: Meter): readonly Literal[] | null {
  if (formula === null) return null;
  const found = findSatisfyingAssignment(formula, meter);
  if (found === null && meter.left < 0) throw new BudgetSpent();
  return found;
}

/** Whether a formula is true if exactly some literals are. */
export function isTrue(formula: Formula, holds: (literal: Literal) => boolean): boolean {
  if (typeof formula === "number") return holds(formula);
  let missing = formula.minimum;
  for (const operand of formula.operands) if (missing > 0 && isTrue(operand, holds)) missing--;
  return missing === 0;
}

/** The literals of a formula, each once. */
export function literalsOf(formula: Formula, into: Set<Literal> = new Set()): Set<Literal> {
  if (typeof formula === "number") into.add(formula);
  else for (const operand of formula.operands) literalsOf(operand, into);
  return into;
}

/** The negation of a formula. */
export function negationOf(formula: Formula): Formula {
  if (typeof formula === "number") return formula ^ 1;
  return threshold(formula.operands.length - formula.minimum + 1, formula.operands.map(negationOf));
}
