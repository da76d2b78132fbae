/**
 * Requirements as formulas over numbered variables, for proofs. Negations are at the leaves, and every inner node is a
 * threshold: at least `minimum` of its operands.
 */

import type { Requirement } from "../types.ts";

/** A leaf: twice the number of its variable, plus one if it is negated. */
export type Literal = number;

/** True if at least `minimum` of the operands are true; `1 <= minimum <= operands.length`. */
export interface Threshold {
  readonly minimum: number;
  readonly operands: readonly Formula[];
}

/** A requirement as a formula. */
export type Formula = Literal | Threshold;

/** The variable of a literal. */
export function variableOf(literal: Literal): number {
  return literal >> 1;
}

/**
 * Compiles a requirement whose groups have operands and a minimum within bounds.
 *
 * `Not` over "at least m of n" is "at least n-m+1 of n" over the negated operands. A node with one operand becomes
 * that operand; all-of within all-of and one-of within one-of are merged.
 *
 * @param requirement The requirement
 * @param numberOf The variable of a leaf id
 * @param negated Whether to compile the negation
 */
export function compileFormula(requirement: Requirement, numberOf: (id: string) => number, negated = false): Formula {
  if ("Condition" in requirement) return numberOf(requirement.Condition) * 2 + (negated ? 1 : 0);
  if ("Not" in requirement) return compileFormula(requirement.Not, numberOf, !negated);
  const operands = operandsOf(requirement);
  const minimum = minimumOf(requirement, operands.length);
  return threshold(
    negated ? operands.length - minimum + 1 : minimum,
    operands.map((operand) => compileFormula(operand, numberOf, negated)),
  );
}

/** The operands of an `And`, `Or` or `RequireGroup`. */
function operandsOf(
  requirement: Exclude<Requirement, { Condition: string } | { Not: Requirement }>,
): readonly Requirement[] {
  if ("And" in requirement) return requirement.And;
  return "Or" in requirement ? requirement.Or : requirement.RequireGroup.reqs;
}

function minimumOf(
  requirement: Exclude<Requirement, { Condition: string } | { Not: Requirement }>,
  count: number,
): number {
  if ("And" in requirement) return count;
  return "Or" in requirement ? 1 : requirement.RequireGroup.min;
}

/** At least `minimum` of the operands, in its simplest form. */
export function threshold(minimum: number, operands: readonly Formula[]): Formula {
  const only = operands[0];
  if (operands.length === 1 && only !== undefined) return only;
  const all = minimum === operands.length;
  if (!all && minimum !== 1) return { minimum, operands };
  const merged = operands.flatMap((operand) => isSame(operand, all) ? operand.operands : [operand]);
  return { minimum: all ? merged.length : 1, operands: merged };
}

function isSame(operand: Formula, all: boolean): operand is Threshold {
  return typeof operand !== "number" && (all ? operand.minimum === operand.operands.length : operand.minimum === 1);
}
