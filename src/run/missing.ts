/**
 * What is missing: the smallest sets of conditions that would let a requirement hold from where it stands
 * (docs/decisions/steps.md, "Missing").
 *
 * A set says of conditions what they would have to be judged. It completes the requirement when, each of its conditions judged so and
 * all others as they are, strong Kleene logic says True; it is shown when no part of it completes it too. Conditions that are judged as
 * needed stand in no set; those judged otherwise may, because the next attempt brings evidence of its own.
 *
 * @module
 */

import { compareCodePoints } from "../canonical/order.ts";
import { type Literal, variableOf } from "../law/formula.ts";
import type { Requirement } from "../law/types.ts";
import type { Kleene } from "../law/value/types.ts";
import {
  add,
  type FlatFormula,
  flatten,
  type Holding,
  holdingNothing,
  holds,
  type Meter,
  negationOf,
  take,
} from "./missing_formula.ts";
import { type SearchStart, searchWays } from "./missing_search.ts";

/** Most sets that are shown. */
export const MISSING_SETS = 64;

/** Steps that one search may take: some ten milliseconds. */
export const MISSING_STEPS = 2 ** 18;

/** What a condition would have to be judged. */
export interface MissingCondition {
  readonly condition_id: string;
  readonly needed: boolean;
}

/** The sets, and whether these are all there are: false where {@link MISSING_SETS} or the steps ended the search. */
export interface MissingSets {
  /** The smaller ones first; conditions in code point order. */
  readonly sets: readonly (readonly MissingCondition[])[];
  readonly complete: boolean;
}

/** How conditions are judged, by id; those that are absent are unknown. */
export type Judged = ReadonlyMap<string, Kleene>;

interface Problem {
  readonly formula: FlatFormula;
  /** By literal: whether it is judged so. */
  readonly judged: Uint8Array;
  /** By variable: whether it stands at leaves of both signs and is judged. What it is judged may then have to be given up. */
  readonly contested: Uint8Array;
  readonly meter: Meter;
  /** The judged literals hold in it. */
  readonly holding: Holding;
}

const FORMULAS = new WeakMap<Requirement, FlatFormula>();

function formulaOf(requirement: Requirement): FlatFormula {
  const known = FORMULAS.get(requirement);
  if (known !== undefined) return known;
  const formula = flatten(requirement);
  FORMULAS.set(requirement, formula);
  return formula;
}

function occurs({ leaves }: FlatFormula, literal: Literal): boolean {
  return (leaves[literal] ?? []).length > 0;
}

function problemOf(requirement: Requirement, values: Judged, meter: Meter): Problem {
  const formula = formulaOf(requirement);
  const judged = new Uint8Array(formula.leaves.length);
  const contested = new Uint8Array(formula.names.length);
  const holding = holdingNothing(formula, meter);
  formula.names.forEach((name, variable) => {
    const value = values.get(name);
    if (value !== "true" && value !== "false") return;
    const literal = variable * 2 + (value === "true" ? 0 : 1);
    judged[literal] = 1;
    add(holding, literal);
    if (occurs(formula, literal) && occurs(formula, negationOf(literal))) contested[variable] = 1;
  });
  return { formula, judged, contested, meter, holding };
}

/** A search among the literals that may be chosen. What is judged as some leaf has it, and not contested, is given. */
function startOf(
  { formula, judged, contested, meter }: Problem,
  mayChoose: (literal: Literal) => boolean,
): SearchStart {
  const given: Literal[] = [];
  judged.forEach((is, literal) => {
    if (is === 1 && occurs(formula, literal) && contested[variableOf(literal)] !== 1) given.push(literal);
  });
  return { formula, given, mayChoose, costOf: (literal) => judged[literal] === 1 ? 0 : 1, meter };
}

/**
 * A smallest completing part of a completing set. Where the set gives up nothing that was judged and is asked for elsewhere, taking a
 * condition away can only take truth away, so each is tried once; otherwise the parts are searched.
 *
 * @returns Null where the steps ended before it was found.
 */
function smallestPart(problem: Problem, set: readonly Literal[]): readonly Literal[] | null {
  const { formula, contested, holding } = problem;
  if (formula.readOnce) return set;
  if (set.some((literal) => contested[variableOf(literal)] === 1)) return searchSmallestPart(problem, set);
  set.forEach((literal) => add(holding, literal));
  const part = set.filter((literal) => {
    take(holding, literal);
    if (holds(holding, 0)) return false;
    add(holding, literal);
    return true;
  });
  part.forEach((literal) => take(holding, literal));
  return part;
}

function searchSmallestPart(problem: Problem, set: readonly Literal[]): readonly Literal[] | null {
  let part = set;
  for (let at = 0; at < part.length;) {
    const left = part[at];
    const within = new Set(part);
    const mayChoose = (literal: Literal): boolean =>
      literal !== left && (problem.judged[literal] === 1 || within.has(literal));
    let smaller: readonly Literal[] | null = null;
    const through = searchWays(startOf(problem, mayChoose), (chosen) => {
      smaller = unjudged(problem, chosen);
      return true;
    });
    if (smaller === null && !through) return null;
    // A smaller part is looked at from its beginning: what could not be left out before may be now.
    part = smaller ?? part;
    at = smaller === null ? at + 1 : 0;
  }
  return part;
}

function unjudged({ judged }: Problem, chosen: readonly Literal[]): readonly Literal[] {
  return chosen.filter((literal) => judged[literal] !== 1).sort((a, b) => a - b);
}

function shown({ names }: FlatFormula, set: readonly Literal[]): MissingCondition[] {
  return set
    .map((literal) => ({ condition_id: names[variableOf(literal)] ?? "", needed: literal % 2 === 0 }))
    .sort((a, b) => compareCodePoints(a.condition_id, b.condition_id));
}

function compareSets(a: readonly MissingCondition[], b: readonly MissingCondition[]): number {
  if (a.length !== b.length) return a.length - b.length;
  for (const [at, { condition_id, needed }] of a.entries()) {
    const other = b[at];
    const order = compareCodePoints(condition_id, other?.condition_id ?? "") ||
      Number(other?.needed === true) - Number(needed);
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * The smallest sets of conditions that would let a requirement hold. Where it holds already, that is one empty set.
 *
 * @param requirement One of a proved law, which can hold.
 * @param values How its conditions are judged now.
 * @param meter Bounds the search, and shows afterwards how many steps are left.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { missingSets } from "@/run/missing.ts";
 *
 * const [tests, review, waiver] = [{ Condition: "tests" }, { Condition: "review" }, { Condition: "waiver" }];
 * const requirement = { And: [tests, { Or: [review, waiver] }] };
 * assert.deepEqual(missingSets(requirement, new Map([["tests", "true"], ["review", "false"]])), {
 *   sets: [[{ condition_id: "review", needed: true }], [{ condition_id: "waiver", needed: true }]],
 *   complete: true,
 * });
 * ```
 */
export function missingSets(
  requirement: Requirement,
  values: Judged,
  meter: Meter = { left: MISSING_STEPS },
): MissingSets {
  const problem = problemOf(requirement, values, meter);
  const found = new Map<string, readonly Literal[]>();
  const start = startOf(problem, () => true);
  let complete = searchWays(start, (chosen) => {
    const set = smallestPart(problem, unjudged(problem, chosen));
    if (set === null || found.has(set.join())) return false;
    if (found.size === MISSING_SETS) return true;
    found.set(set.join(), set);
    return false;
  });
  // Steps that ended while a set was made smaller leave it out.
  if (meter.left < 0) complete = false;
  const sets = [...found.values()].map((set) => shown(problem.formula, set)).sort(compareSets);
  return { sets, complete };
}

/**
 * The conditions that stand in the way: those at leaves that are not judged as the requirement has them there, below no part of it that
 * holds already. In the order in which the requirement names them; none where it holds.
 */
export function unmetConditions(requirement: Requirement, values: Judged): string[] {
  const { formula, holding } = problemOf(requirement, values, { left: MISSING_STEPS });
  const unmet = new Set<number>();
  const visit = (node: number): void => {
    if (holds(holding, node)) return;
    const literal = formula.literals[node] ?? -1;
    if (literal >= 0) unmet.add(variableOf(literal));
    else formula.operands[node]?.forEach(visit);
  };
  visit(0);
  return [...unmet].sort((a, b) => a - b).map((variable) => formula.names[variable] ?? "");
}
