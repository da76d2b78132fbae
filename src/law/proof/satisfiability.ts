/**
 * The proof that a requirement can be true and can be false, in two-valued logic with its leaves as independent
 * variables. A constant requirement is no gate.
 *
 * The procedure is exact. It works on the negation normal form and asks whether it has a satisfying assignment, then
 * the same of the negation:
 *
 * 1. One-of is satisfiable if one operand is.
 * 2. A formula is satisfiable if no variable occurs both plain and negated: each operand is true if each variable has
 *    the value of its sign.
 * 3. Operands that share no variable of both signs do not restrict each other, since shared variables of one sign take
 *    that sign. So as many can be true together as are satisfiable one by one.
 * 4. All-of is divided into groups of operands linked by shared variables of both signs. Each group is decided alone.
 * 5. The remaining formula is split on one variable (Shannon expansion), and both simplified remainders are decided.
 *
 * Each node that a step reads is one visit. Laws as people write them need a few visits for each node. A formula built
 * to be hard runs out of visits and is refused.
 */

import { compileFormula, type Formula, type Literal, type Threshold, threshold, variableOf } from "./formula.ts";
import type { Requirement } from "../types.ts";

/** The verdict of a proof: not constant, never true, never false, or undecided within the budget. */
export type SatisfiabilityVerdict = "varies" | "contradiction" | "tautology" | "budget_exceeded";

interface Meter {
  left: number;
}

class BudgetSpent extends Error {}

/**
 * Decides whether a requirement is a contradiction, a tautology or neither.
 *
 * @param requirement A structurally sound requirement in normal form. So the order of operands in the spec does not
 * change the number of visits
 * @param budget Maximum number of node visits
 * @returns The verdict and the number of visits
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { classifySatisfiability } from "@/law/proof/satisfiability.ts";
 *
 * const a = { Condition: "a" };
 * assert.equal(classifySatisfiability({ And: [a, { Not: a }] }, 1000).verdict, "contradiction");
 * assert.equal(classifySatisfiability({ Or: [a, { Not: a }] }, 1000).verdict, "tautology");
 * assert.equal(classifySatisfiability({ Not: a }, 1000).verdict, "varies");
 * ```
 */
export function classifySatisfiability(
  requirement: Requirement,
  budget: number,
): { readonly verdict: SatisfiabilityVerdict; readonly visits: number } {
  const numbers = new Map<string, number>();
  const numberOf = (id: string): number => {
    const known = numbers.get(id) ?? numbers.size;
    numbers.set(id, known);
    return known;
  };
  const meter: Meter = { left: budget };
  const verdict = judge(requirement, numberOf, meter);
  return { verdict, visits: budget - Math.max(meter.left, 0) };
}

function judge(requirement: Requirement, numberOf: (id: string) => number, meter: Meter): SatisfiabilityVerdict {
  try {
    if (!isSatisfiable(compileFormula(requirement, numberOf), meter)) return "contradiction";
    return isSatisfiable(compileFormula(requirement, numberOf, true), meter) ? "varies" : "tautology";
  } catch (error) {
    if (error instanceof BudgetSpent) return "budget_exceeded";
    throw error;
  }
}

/**
 * Finds literals that make a formula true for any value of the other variables.
 *
 * @param formula A satisfiable formula
 * @param meter Bounds the node visits, and has the visits left afterwards
 * @returns Null if the visits ended before, or if the formula is not satisfiable
 */
export function findSatisfyingAssignment(formula: Formula, meter: Meter): readonly Literal[] | null {
  const assignment: Literal[] = [];
  try {
    return isSatisfiable(formula, meter, assignment) ? assignment : null;
  } catch (error) {
    if (error instanceof BudgetSpent) return null;
    throw error;
  }
}

function visit(meter: Meter): void {
  if (--meter.left < 0) throw new BudgetSpent();
}

/** @param assignment Receives literals that satisfy the formula; unchanged for an unsatisfiable one */
function isSatisfiable(formula: Formula, meter: Meter, assignment?: Literal[]): boolean {
  visit(meter);
  if (typeof formula === "number") {
    assignment?.push(formula);
    return true;
  }
  const { minimum, operands } = formula;
  if (minimum === 1) return operands.some((operand) => isSatisfiable(operand, meter, assignment));
  const survey = surveyOf(operands, meter);
  if (survey.occurrences.size === 0) {
    if (assignment !== undefined) addEnough(formula, assignment);
    return true;
  }
  const groups = groupsOf(operands, survey);
  if (groups.length === operands.length) return hasSatisfiable(minimum, operands, meter, assignment);
  if (minimum < operands.length) return isSplitSatisfiable(formula, survey, meter, assignment);
  const before = assignment?.length ?? 0;
  return groups.every((group) => isGroupSatisfiable(group, meter, assignment)) || undo(assignment, before);
}

/** Adds literals that satisfy a formula in which no variable occurs with both signs. */
function addEnough(formula: Formula, assignment: Literal[]): void {
  if (typeof formula === "number") assignment.push(formula);
  else for (const operand of formula.operands.slice(0, formula.minimum)) addEnough(operand, assignment);
}

function undo(assignment: Literal[] | undefined, before: number): false {
  if (assignment !== undefined) assignment.length = before;
  return false;
}

/** Whether at least `minimum` operands are satisfiable. The operands do not restrict each other. */
function hasSatisfiable(
  minimum: number,
  operands: readonly Formula[],
  meter: Meter,
  assignment: Literal[] | undefined,
): boolean {
  const before = assignment?.length ?? 0;
  let missing = minimum;
  for (let index = 0; index < operands.length && missing > 0; index++) {
    if (missing > operands.length - index) return undo(assignment, before);
    if (isSatisfiable(operands[index] as Formula, meter, assignment)) missing--;
  }
  return missing === 0 || undo(assignment, before);
}

/** Whether operands of an all-of that are linked by shared variables can be true together. */
function isGroupSatisfiable(operands: readonly Formula[], meter: Meter, assignment: Literal[] | undefined): boolean {
  const only = operands[0];
  if (operands.length === 1 && only !== undefined) return isSatisfiable(only, meter, assignment);
  return isSplitSatisfiable({ minimum: operands.length, operands }, surveyOf(operands, meter), meter, assignment);
}

/** The occurrences of variables that occur with both signs. */
interface Survey {
  /** By variable: its operands, and how often it occurs plain and negated. */
  readonly occurrences: ReadonlyMap<number, Occurrence>;
}

interface Occurrence {
  readonly holders: number[];
  plain: number;
  negated: number;
}

function surveyOf(operands: readonly Formula[], meter: Meter): Survey {
  const occurrences = new Map<number, Occurrence>();
  operands.forEach((operand, index) =>
    eachLiteral(operand, meter, (literal) => {
      const variable = variableOf(literal);
      const known = occurrences.get(variable);
      const occurrence = known ?? { holders: [], plain: 0, negated: 0 };
      if (known === undefined) occurrences.set(variable, occurrence);
      if (occurrence.holders.at(-1) !== index) occurrence.holders.push(index);
      if ((literal & 1) === 0) occurrence.plain++;
      else occurrence.negated++;
    })
  );
  for (const [variable, { plain, negated }] of occurrences) {
    if (plain === 0 || negated === 0) occurrences.delete(variable);
  }
  return { occurrences };
}

function eachLiteral(formula: Formula, meter: Meter, add: (literal: Literal) => void): void {
  visit(meter);
  if (typeof formula === "number") add(formula);
  else for (const operand of formula.operands) eachLiteral(operand, meter, add);
}

/** The operands in groups linked by variables of both signs, in the order of the first operand of each group. */
function groupsOf(operands: readonly Formula[], survey: Survey): Formula[][] {
  const leaders = operands.map((_, index) => index);
  const leaderOf = (index: number): number => {
    let leader = index;
    while (leaders[leader] !== leader) leader = leaders[leader] as number;
    leaders[index] = leader;
    return leader;
  };
  for (const { holders } of survey.occurrences.values()) {
    for (const holder of holders) {
      const first = leaderOf(holders[0] as number);
      const second = leaderOf(holder);
      leaders[Math.max(first, second)] = Math.min(first, second);
    }
  }
  return [...Map.groupBy(operands, (_, index) => leaderOf(index)).values()];
}

function isSplitSatisfiable(
  formula: Threshold,
  survey: Survey,
  meter: Meter,
  assignment: Literal[] | undefined,
): boolean {
  const before = assignment?.length ?? 0;
  const literal = splitLiteral(formula, survey);
  return [literal, literal ^ 1].some((assumed) => {
    assignment?.push(assumed);
    const remainder = assume(formula, assumed, meter);
    const can = typeof remainder === "boolean" ? remainder : isSatisfiable(remainder, meter, assignment);
    return can || undo(assignment, before);
  });
}

/**
 * The literal to assume first: an operand that is a literal and must be true. Else the variable that links most
 * operands, then the one that occurs most often, then the first one, with its more frequent sign.
 */
function splitLiteral(formula: Threshold, survey: Survey): Literal {
  if (formula.minimum === formula.operands.length) {
    const unit = formula.operands.find((operand) =>
      typeof operand === "number" && survey.occurrences.has(variableOf(operand))
    );
    if (typeof unit === "number") return unit;
  }
  let best: Literal = 0;
  let most: readonly [number, number] = [0, 0];
  for (const [variable, { holders, plain, negated }] of survey.occurrences) {
    const weight = [holders.length, plain + negated] as const;
    if (weight[0] < most[0] || (weight[0] === most[0] && weight[1] <= most[1])) continue;
    most = weight;
    best = variable * 2 + (plain >= negated ? 0 : 1);
  }
  return best;
}

/** The remainder of a formula if a literal is true: a simpler formula, or its value. */
function assume(formula: Formula, literal: Literal, meter: Meter): Formula | boolean {
  visit(meter);
  if (typeof formula === "number") {
    return variableOf(formula) === variableOf(literal) ? formula === literal : formula;
  }
  let minimum = formula.minimum;
  const left: Formula[] = [];
  let changed = false;
  for (const operand of formula.operands) {
    const remainder = assume(operand, literal, meter);
    if (remainder !== operand) changed = true;
    if (remainder === true) minimum--;
    else if (remainder !== false) left.push(remainder);
  }
  if (minimum <= 0) return true;
  if (left.length < minimum) return false;
  return changed ? threshold(minimum, left) : formula;
}
