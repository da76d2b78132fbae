/**
 * Searching the ways in which a requirement can come to hold: duties are worked off one by one, alternatives are remembered and tried
 * later. Every smallest way is found, some others too; the caller sorts them out.
 *
 * @module
 */

import type { Literal } from "../law/formula.ts";
import {
  add,
  type FlatFormula,
  type Holding,
  holdingNothing,
  holds,
  type Meter,
  negationOf,
  take,
} from "./missing_formula.ts";

/** What a search starts from. */
export interface SearchStart {
  readonly formula: FlatFormula;
  /** Literals that hold without being chosen; the negation of none of them occurs. */
  readonly given: readonly Literal[];
  /** Literals that may be chosen. */
  readonly mayChoose: (literal: Literal) => boolean;
  /** What each literal costs; cheap alternatives are tried first. */
  readonly costOf: (literal: Literal) => number;
  readonly meter: Meter;
}

/** A node that has to hold; of an inner node only the operands from a place on are still to be chosen from. */
interface Duty {
  readonly node: number;
  readonly from: number;
  readonly rest: Duty | null;
}

interface Search {
  readonly start: SearchStart;
  readonly holding: Holding;
  /** Operands of each node, cheap ones first. */
  readonly operands: readonly (readonly number[])[];
  /** Literals chosen, in the order of choice. */
  readonly chosen: Literal[];
  /** Alternatives left: the duties, and how many literals were chosen before. */
  readonly choices: { readonly duty: Duty; readonly chosen: number }[];
}

/** Each node's operands in the order of their cost, and the cost of each node: that of its cheapest operands, as many as it needs. */
function byCost({ formula, costOf }: SearchStart): (readonly number[])[] {
  const { literals, operands, minimums } = formula;
  const costs = new Float64Array(literals.length);
  const sorted: (readonly number[])[] = operands.map(() => []);
  // Operands have higher numbers than the node they belong to.
  for (let node = literals.length - 1; node >= 0; node--) {
    const literal = literals[node] ?? -1;
    if (literal >= 0) {
      costs[node] = costOf(literal);
      continue;
    }
    const order = (operands[node] ?? []).toSorted((a, b) => (costs[a] ?? 0) - (costs[b] ?? 0));
    sorted[node] = order;
    costs[node] = order.slice(0, minimums[node]).reduce((sum, operand) => sum + (costs[operand] ?? 0), 0);
  }
  return sorted;
}

function isOpen({ start, holding }: Search, node: number): boolean {
  if (holds(holding, node)) return false;
  const literal = start.formula.literals[node] ?? -1;
  return literal < 0 || (holding.literals[negationOf(literal)] !== 1 && start.mayChoose(literal));
}

function choose(search: Search, literal: Literal): boolean {
  if (search.holding.literals[negationOf(literal)] === 1 || !search.start.mayChoose(literal)) return false;
  add(search.holding, literal);
  search.chosen.push(literal);
  return true;
}

/** The duties after the first one is met or split up; undefined where it cannot be met. */
function advance(search: Search, { node, from, rest }: Duty): Duty | null | undefined {
  const { start: { formula, meter }, holding } = search;
  if (holds(holding, node)) return rest;
  const literal = formula.literals[node] ?? -1;
  if (literal >= 0) return choose(search, literal) ? rest : undefined;
  const operands = search.operands[node] ?? [];
  meter.left -= operands.length - from;
  const need = (formula.minimums[node] ?? 0) - (holding.counts[node] ?? 0);
  const open: number[] = [];
  for (let at = from; at < operands.length; at++) if (isOpen(search, operands[at] ?? 0)) open.push(at);
  const first = open[0];
  if (first === undefined || open.length < need) return undefined;
  if (open.length === need) {
    return open.reduceRight<Duty | null>((duties, at) => ({ node: operands[at] ?? 0, from: 0, rest: duties }), rest);
  }
  const without = { node, from: first + 1, rest };
  search.choices.push({ duty: without, chosen: search.chosen.length });
  return { node: operands[first] ?? 0, from: 0, rest: without };
}

/** Goes back to the last alternative; undefined where there is none left. */
function back(search: Search): Duty | undefined {
  const choice = search.choices.pop();
  if (choice === undefined) return undefined;
  while (search.chosen.length > choice.chosen) {
    const literal = search.chosen.pop();
    if (literal !== undefined) take(search.holding, literal);
  }
  return choice.duty;
}

/**
 * Finds ways to let the requirement hold: consistent sets of chosen literals which with those given make it hold. Among them is every
 * smallest one.
 *
 * @param found Called for each; true ends the search.
 * @returns Whether the search went through to its end: neither `found` nor the meter ended it.
 */
export function searchWays(start: SearchStart, found: (chosen: readonly Literal[]) => boolean): boolean {
  const holding = holdingNothing(start.formula, start.meter);
  for (const literal of start.given) add(holding, literal);
  const search: Search = { start, holding, operands: byCost(start), chosen: [], choices: [] };
  let duties: Duty | null = { node: 0, from: 0, rest: null };
  while (--start.meter.left >= 0) {
    if (duties === null && found(search.chosen)) return false;
    let next: Duty | null | undefined = duties === null ? undefined : advance(search, duties);
    if (next === undefined) next = back(search);
    if (next === undefined) return true;
    duties = next;
  }
  return false;
}
