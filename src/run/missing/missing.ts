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

import { compareCodePoints } from "../../canonical/order.ts";
import { compileFormula, type Literal, variableOf } from "../../law/formula.ts";
import { findSatisfyingAssignment } from "../../law/satisfiability.ts";
import type { Requirement } from "../../law/types.ts";
import type { Kleene } from "../../law/value/truth.ts";
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
} from "./formula.ts";
import { byCost, searchWays } from "./search.ts";

/** Most sets that are shown. */
export const MISSING_SETS = 64;

/** Steps that one search may take: some ten milliseconds. */
export const MISSING_STEPS = 2 ** 19;

/** Of how many contested conditions every selection is tried; of more those are searched that may do. */
const TRIED_ALL = 14;

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
  /** The judged literals hold in it that no set gives up: those that some leaf has, of conditions that are not contested. */
  readonly given: Holding;
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
  const given = holdingNothing(formula, meter);
  formula.names.forEach((name, variable) => {
    const value = values.get(name);
    if (value !== "true" && value !== "false") return;
    const literal = variable * 2 + (value === "true" ? 0 : 1);
    judged[literal] = 1;
    add(holding, literal);
    if (!occurs(formula, literal)) return;
    if (occurs(formula, negationOf(literal))) contested[variable] = 1;
    else add(given, literal);
  });
  return { formula, judged, contested, meter, holding, given };
}

/** How operands are tried: what is judged so costs nothing. */
function triedFirst({ formula, judged, meter }: Problem): readonly (readonly number[])[] {
  return byCost(formula, (literal) => judged[literal] === 1 ? 0 : 1, meter);
}

/**
 * A smallest completing part of a completing set. As long as a set gives up the same of what was judged and is asked for
 * elsewhere, taking a condition away can only take truth away. So it is first asked how little has to be given up with
 * all the rest at hand, and then each of the rest is left out once.
 *
 * @returns Null where the steps ended before it was found.
 */
function smallestPart(
  problem: Problem,
  operands: readonly (readonly number[])[],
  set: readonly Literal[],
): readonly Literal[] | null {
  const isContested = (literal: Literal): boolean => problem.contested[variableOf(literal)] === 1;
  const rest = set.filter((literal) => !isContested(literal));
  const contested = set.filter(isContested);
  if (contested.length === 0) return leastRest(problem, contested, rest);
  const fewer = giveBack(problem, contested, rest);
  const least = fewer.length <= TRIED_ALL
    ? leastOfAll(problem, fewer, rest)
    : leastGivenUp(problem, operands, fewer, rest);
  return least === null ? null : [...least, ...leastRest(problem, least, rest)].sort((a, b) => a - b);
}

/** Contested literals of a set without those that can be left out one by one: a cheap beginning. */
function giveBack(
  { holding }: Problem,
  contested: readonly Literal[],
  rest: readonly Literal[],
): readonly Literal[] {
  for (const literal of contested) flip(holding, negationOf(literal));
  for (const literal of rest) add(holding, literal);
  const part = contested.filter((literal) => {
    flip(holding, literal);
    if (holds(holding, 0)) return false;
    flip(holding, negationOf(literal));
    return true;
  });
  for (const literal of rest) take(holding, literal);
  for (const literal of part) flip(holding, literal);
  return part;
}

/** The smallest selection of contested literals with which, and with the rest of a set, the requirement holds. */
function leastOfAll(
  { holding, meter }: Problem,
  contested: readonly Literal[],
  rest: readonly Literal[],
): readonly Literal[] | null {
  for (const literal of rest) add(holding, literal);
  const chosen = new Set<Literal>();
  let least = holds(holding, 0) ? [] : contested;
  // In the order of a Gray code each selection differs from the one before by one literal.
  for (let count = 1; count < 2 ** contested.length && meter.left >= 0; count++) {
    const literal = contested[31 - Math.clz32(count & -count)] ?? 0;
    if (chosen.delete(literal)) flip(holding, literal);
    else {
      chosen.add(literal);
      flip(holding, negationOf(literal));
    }
    if (chosen.size < least.length && holds(holding, 0)) least = [...chosen];
  }
  for (const literal of chosen) flip(holding, literal);
  for (const literal of rest) take(holding, literal);
  return meter.left < 0 ? null : least;
}

/** A smallest part of contested literals with which, and with the rest of a set, the requirement holds. */
function leastGivenUp(
  problem: Problem,
  operands: readonly (readonly number[])[],
  contested: readonly Literal[],
  rest: readonly Literal[],
): readonly Literal[] | null {
  const { given, judged } = problem;
  for (const literal of rest) add(given, literal);
  let part: readonly Literal[] | null = contested;
  for (let at = 0; part !== null && at < part.length;) {
    const left = part[at];
    const within = new Set(part);
    const mayChoose = (literal: Literal): boolean => literal !== left && (judged[literal] === 1 || within.has(literal));
    let smaller: readonly Literal[] | null = null;
    const through = searchWays({ holding: given, operands, mayChoose }, (chosen) => {
      smaller = unjudged(problem, chosen);
      return true;
    });
    // A smaller part is looked at from its beginning: what could not be left out before may be now.
    at = smaller === null ? at + 1 : 0;
    if (smaller !== null || !through) part = smaller;
  }
  for (const literal of rest) take(given, literal);
  return part;
}

/** A smallest part of the rest of a set with which the requirement holds once other literals are given up. */
function leastRest({ holding }: Problem, givenUp: readonly Literal[], rest: readonly Literal[]): readonly Literal[] {
  for (const literal of givenUp) flip(holding, negationOf(literal));
  for (const literal of rest) add(holding, literal);
  const part = rest.filter((literal) => {
    take(holding, literal);
    if (holds(holding, 0)) return false;
    add(holding, literal);
    return true;
  });
  for (const literal of part) take(holding, literal);
  for (const literal of givenUp) flip(holding, literal);
  return part;
}

/** Lets the opposite of a literal hold in its place. */
function flip(holding: Holding, literal: Literal): void {
  take(holding, literal);
  add(holding, negationOf(literal));
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
 * import { missingSets } from "@/run/missing/missing.ts";
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
  const kept = Math.floor(meter.left / 2);
  meter.left -= kept;
  const problem = problemOf(requirement, values, meter);
  const operands = triedFirst(problem);
  const found = new Map<string, readonly Literal[]>();
  const search = { holding: holdingNothing(problem.formula, meter), operands, mayChoose: (): boolean => true };
  problem.given.literals.forEach((holds, literal) => {
    if (holds === 1) add(search.holding, literal);
  });
  let complete = searchWays(search, (chosen) => {
    const way = unjudged(problem, chosen);
    // Where every condition stands once, the search finds smallest sets only.
    const set = problem.formula.readOnce ? way : smallestPart(problem, operands, way);
    if (set === null || found.has(set.join())) return false;
    if (found.size === MISSING_SETS) return true;
    found.set(set.join(), set);
    return false;
  });
  // Steps that ended while a set was made smaller leave it out.
  if (meter.left < 0) complete = false;
  meter.left = Math.max(meter.left, 0) + kept;
  if (!complete && found.size === 0) {
    const set = anySet(requirement, problem, operands);
    if (set !== null) found.set(set.join(), set);
  }
  const sets = [...found.values()].map((set) => shown(problem.formula, set)).sort(compareSets);
  return { sets, complete };
}

/** One set, found in the way in which the law was proved; null where the steps end before. */
function anySet(
  requirement: Requirement,
  problem: Problem,
  operands: readonly (readonly number[])[],
): readonly Literal[] | null {
  const { formula: { names }, meter } = problem;
  const numbers = new Map(names.map((name, variable) => [name, variable]));
  const witness = findSatisfyingAssignment(compileFormula(requirement, (id) => numbers.get(id) ?? 0), meter);
  return witness === null ? null : smallestPart(problem, operands, unjudged(problem, [...new Set(witness)]));
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
