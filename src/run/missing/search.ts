/**
 * Searching the ways in which a requirement can come to hold: duties are worked off one by one, alternatives are remembered and tried
 * later. Every smallest way is found, some others too; the caller sorts them out.
 *
 * @module
 */

import type { Literal } from "../../law/formula.ts";
import { add, type FlatFormula, type Holding, holds, type Meter, negationOf, take } from "./formula.ts";

/** What a search starts from. */
export interface SearchStart {
  /** What holds without being chosen. It is as it was when the search has ended. */
  readonly holding: Holding;
  /** Operands of each node, in the order in which they are tried: {@link byCost}. */
  readonly operands: readonly (readonly number[])[];
  /** Literals that may be chosen. */
  readonly mayChoose: (literal: Literal) => boolean;
}

/** A node that has to hold; of an inner node only the operands from a place on are still to be chosen from. */
interface Duty {
  readonly node: number;
  readonly from: number;
  readonly rest: Duty | null;
}

interface Search extends SearchStart {
  /** Literals chosen, in the order of choice. */
  readonly chosen: Literal[];
  /** Alternatives left: the duties, and how many literals were chosen before. */
  readonly choices: { readonly duty: Duty; readonly chosen: number }[];
}

/**
 * Each node's operands in the order of their cost. That of a node is that of its cheapest operands, as many as it needs.
 *
 * @param costOf What each literal costs
 */
export function byCost(
  { literals, operands, minimums }: FlatFormula,
  costOf: (literal: Literal) => number,
  meter: Meter,
): readonly (readonly number[])[] {
  meter.left -= literals.length;
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

function mayHold({ holding, mayChoose }: Search, literal: Literal): boolean {
  return holding.literals[negationOf(literal)] !== 1 && mayChoose(literal);
}

function isOpen(search: Search, node: number): boolean {
  if (holds(search.holding, node)) return false;
  const literal = search.holding.formula.literals[node] ?? -1;
  return literal < 0 || mayHold(search, literal);
}

function choose(search: Search, literal: Literal): boolean {
  if (!mayHold(search, literal)) return false;
  add(search.holding, literal);
  search.chosen.push(literal);
  return true;
}

/** The duties that operands which all have to hold come to, leaves first: what they rule out is then never tried. */
function allOf({ formula: { literals } }: Holding, nodes: readonly number[], rest: Duty | null): Duty | null {
  const isLeaf = (node: number): boolean => (literals[node] ?? -1) >= 0;
  const inOrder = [...nodes.filter(isLeaf), ...nodes.filter((node) => !isLeaf(node))];
  return inOrder.reduceRight<Duty | null>((duties, node) => ({ node, from: 0, rest: duties }), rest);
}

/** The duties after the first one is met or split up; undefined where it cannot be met. */
function advance(search: Search, { node, from, rest }: Duty): Duty | null | undefined {
  const { holding } = search;
  const { formula, meter } = holding;
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
    return allOf(holding, open.map((at) => operands[at] ?? 0), rest);
  }
  const without = { node, from: first + 1, rest };
  search.choices.push({ duty: without, chosen: search.chosen.length });
  return { node: operands[first] ?? 0, from: 0, rest: without };
}

/** Takes back what was chosen since so many literals were. */
function takeBack({ chosen, holding }: Search, before: number): void {
  for (const literal of chosen.splice(before)) take(holding, literal);
}

/** Goes back to the last alternative; undefined where there is none left. */
function back(search: Search): Duty | undefined {
  const choice = search.choices.pop();
  if (choice !== undefined) takeBack(search, choice.chosen);
  return choice?.duty;
}

/**
 * Finds ways to let the requirement hold: consistent sets of chosen literals which with those given make it hold. Among them is every
 * smallest one.
 *
 * @param found Called for each; true ends the search.
 * @returns Whether the search went through to its end: neither `found` nor the meter ended it.
 */
export function searchWays(start: SearchStart, found: (chosen: readonly Literal[]) => boolean): boolean {
  const search: Search = { ...start, chosen: [], choices: [] };
  const through = walk(search, found);
  takeBack(search, 0);
  return through;
}

function walk(search: Search, found: (chosen: readonly Literal[]) => boolean): boolean {
  const { meter } = search.holding;
  let duties: Duty | null = { node: 0, from: 0, rest: null };
  while (--meter.left >= 0) {
    if (duties === null && found(search.chosen)) return false;
    let next: Duty | null | undefined = duties === null ? undefined : advance(search, duties);
    if (next === undefined) next = back(search);
    if (next === undefined) return true;
    duties = next;
  }
  return false;
}
