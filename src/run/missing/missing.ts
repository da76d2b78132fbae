/**
 * The missing sets of a requirement: the smallest sets of conditions that would make it hold (docs/decisions/steps.md,
 * "Missing").
 *
 * A set names conditions, each with the truth value that it needs. A set completes the requirement if strong Kleene
 * logic gives True once its conditions have these values and all others stay as judged. It is shown if no smaller part
 * of it completes the requirement. A condition that already has the needed value is in no set. One with another value
 * may be in a set, because the next attempt has evidence of its own.
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { compileFormula, type Literal, variableOf } from "../../law/proof/formula.ts";
import { findSatisfyingAssignment } from "../../law/proof/satisfiability.ts";
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
  remove,
} from "./formula.ts";
import { byCost, searchWays } from "./search.ts";

/** Maximum number of sets shown. */
export const MISSING_SETS = 64;

/** Maximum steps of one search: some ten milliseconds. */
export const MISSING_STEPS = 2 ** 19;

/** Up to this many contested conditions every selection is tried; with more, a search finds a smallest part. */
const EXHAUSTIVE_MAXIMUM = 14;

/** A condition with the truth value that it needs. */
export interface MissingCondition {
  readonly condition_id: string;
  readonly needed: boolean;
}

/** A missing condition with what it has to be, in the words of its law. */
export interface NeededCondition extends MissingCondition {
  readonly sentence: string;
}

/** The missing sets. `complete` is false if {@link MISSING_SETS} or the steps ended the search. */
export interface MissingSets {
  /** Smaller sets first; conditions in code point order. */
  readonly sets: readonly (readonly MissingCondition[])[];
  readonly complete: boolean;
}

/** The judgement of each condition, by id; an absent one is unknown. */
export type Judged = ReadonlyMap<string, Kleene>;

/** The judgements of conditions in a trace. */
export function judgedBy(trace: readonly { readonly condition_id: string; readonly value: Kleene }[]): Judged {
  return new Map(trace.map(({ condition_id, value }) => [condition_id, value]));
}

interface Problem {
  readonly formula: FlatFormula;
  /** By literal: whether the judgement of its condition makes it true. */
  readonly judged: Uint8Array;
  /**
   * By variable: whether it is judged and occurs with both signs. A set may then need the opposite of its judgement.
   */
  readonly contested: Uint8Array;
  readonly meter: Meter;
  /** With all judged literals. */
  readonly holding: Holding;
  /** With the judged literals that every set keeps: those at some leaf, of conditions that are not contested. */
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

/** The operands in the order in which they are tried: a judged literal costs nothing. */
function cheapestFirst({ formula, judged, meter }: Problem): readonly (readonly number[])[] {
  return byCost(formula, (literal) => judged[literal] === 1 ? 0 : 1, meter);
}

/**
 * A smallest completing part of a completing set. A set that contradicts the same contested judgements can only lose
 * truth when a condition is removed from it. So the fewest contradictions are found first, with all the rest of the set
 * present. Then each condition of the rest is left out once.
 *
 * @returns Null if the steps ended before it was found
 */
function smallestPart(
  problem: Problem,
  operands: readonly (readonly number[])[],
  set: readonly Literal[],
): readonly Literal[] | null {
  const isContested = (literal: Literal): boolean => problem.contested[variableOf(literal)] === 1;
  const rest = set.filter((literal) => !isContested(literal));
  const contested = set.filter(isContested);
  if (contested.length === 0) return smallestRest(problem, contested, rest);
  const fewer = dropRedundant(problem, contested, rest);
  const least = fewer.length <= EXHAUSTIVE_MAXIMUM
    ? fewestContested(problem, fewer, rest)
    : smallestContested(problem, operands, fewer, rest);
  return least === null ? null : [...least, ...smallestRest(problem, least, rest)].sort((a, b) => a - b);
}

/** The contested literals of a set, without those that can be left out one by one: a cheap first reduction. */
function dropRedundant(
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
  for (const literal of rest) remove(holding, literal);
  for (const literal of part) flip(holding, literal);
  return part;
}

/** The smallest selection of contested literals with which the requirement holds, together with the rest of a set. */
function fewestContested(
  { holding, meter }: Problem,
  contested: readonly Literal[],
  rest: readonly Literal[],
): readonly Literal[] | null {
  for (const literal of rest) add(holding, literal);
  const chosen = new Set<Literal>();
  let least = holds(holding, 0) ? [] : contested;
  // In the order of a Gray code each selection differs from the previous one by one literal.
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
  for (const literal of rest) remove(holding, literal);
  return meter.left < 0 ? null : least;
}

/** A smallest part of contested literals with which the requirement holds, together with the rest of a set. */
function smallestContested(
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
    // A smaller part is tried from its beginning: a literal that was needed before may not be needed now.
    at = smaller === null ? at + 1 : 0;
    if (smaller !== null || !through) part = smaller;
  }
  for (const literal of rest) remove(given, literal);
  return part;
}

/** A smallest part of the rest of a set with which the requirement holds, given the chosen contested literals. */
function smallestRest(
  { holding }: Problem,
  contested: readonly Literal[],
  rest: readonly Literal[],
): readonly Literal[] {
  for (const literal of contested) flip(holding, negationOf(literal));
  for (const literal of rest) add(holding, literal);
  const part = rest.filter((literal) => {
    remove(holding, literal);
    if (holds(holding, 0)) return false;
    add(holding, literal);
    return true;
  });
  for (const literal of part) remove(holding, literal);
  for (const literal of contested) flip(holding, literal);
  return part;
}

/** Replaces a literal by its opposite. */
function flip(holding: Holding, literal: Literal): void {
  remove(holding, literal);
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
 * The smallest sets of conditions that would make a requirement hold. If it holds already, there is one empty set.
 *
 * @param requirement A requirement of a proved law, so that it is satisfiable
 * @param values The judgements of its conditions
 * @param meter Bounds the search, and has the steps left afterwards
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { missingSets } from "@/run/missing/missing.ts";
 *
 * const tests = { Condition: "tests" };
 * const review = { Condition: "review" };
 * const waiver = { Condition: "waiver" };
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
  const operands = cheapestFirst(problem);
  const found = new Map<string, readonly Literal[]>();
  const search = { holding: holdingNothing(problem.formula, meter), operands, mayChoose: (): boolean => true };
  problem.given.literals.forEach((holds, literal) => {
    if (holds === 1) add(search.holding, literal);
  });
  let complete = searchWays(search, (chosen) => {
    const way = unjudged(problem, chosen);
    // If every condition occurs once, the search finds smallest sets only.
    const set = problem.formula.readOnce ? way : smallestPart(problem, operands, way);
    if (set === null || found.has(set.join())) return false;
    if (found.size === MISSING_SETS) return true;
    found.set(set.join(), set);
    return false;
  });
  // If the steps ended during the reduction of a set, that set is not among those found.
  if (meter.left < 0) complete = false;
  meter.left = Math.max(meter.left, 0) + kept;
  if (!complete && found.size === 0) {
    const set = anySet(requirement, problem, operands);
    if (set !== null) found.set(set.join(), set);
  }
  const sets = [...found.values()].map((set) => shown(problem.formula, set)).sort(compareSets);
  return { sets, complete };
}

/** One set, found by the procedure that proved the law; null if the steps end before. */
function anySet(
  requirement: Requirement,
  problem: Problem,
  operands: readonly (readonly number[])[],
): readonly Literal[] | null {
  const { formula: { names }, meter } = problem;
  const numbers = new Map(names.map((name, variable) => [name, variable]));
  const assignment = findSatisfyingAssignment(compileFormula(requirement, (id) => numbers.get(id) ?? 0), meter);
  return assignment === null ? null : smallestPart(problem, operands, unjudged(problem, [...new Set(assignment)]));
}

/** How the leaf of a condition stands: in the way, as it is needed, or neither. */
export interface LeafStanding {
  /** The truth value that its leaf needs. */
  readonly needed: boolean;
  readonly standing: "unmet" | "met" | "not_needed";
}

/**
 * How the conditions of a requirement stand, in its order. A condition is unmet at a leaf that does not hold, outside of
 * every part of the requirement that holds; none is unmet if it holds.
 */
export function leafStandings(requirement: Requirement, values: Judged): ReadonlyMap<string, LeafStanding> {
  const { formula, holding } = problemOf(requirement, values, { left: MISSING_STEPS });
  const unmet = new Set<Literal>();
  const visit = (node: number): void => {
    if (holds(holding, node)) return;
    const literal = formula.literals[node] ?? -1;
    if (literal >= 0) unmet.add(literal);
    else formula.operands[node]?.forEach(visit);
  };
  visit(0);
  return new Map(formula.names.map((name, variable): [string, LeafStanding] => {
    const literals = [variable * 2, variable * 2 + 1].filter((literal) => occurs(formula, literal));
    const inTheWay = literals.find((literal) => unmet.has(literal));
    const held = literals.find((literal) => holding.literals[literal] === 1);
    const needed = (inTheWay ?? held ?? literals[0] ?? 0) % 2 === 0;
    return [name, { needed, standing: inTheWay !== undefined ? "unmet" : held !== undefined ? "met" : "not_needed" }];
  }));
}
