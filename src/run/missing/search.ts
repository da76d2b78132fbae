/**
 * Searches the sets of literals that make a requirement hold, by backtracking: one open node after the other is
 * satisfied, and alternatives are tried later. It finds every smallest set and some larger ones; the caller drops
 * those.
 */

import type { Literal } from "../../law/proof/formula.ts";
import { add, type FlatFormula, type Holding, holds, type Meter, negationOf, remove } from "./formula.ts";

/** The start of a search. */
export interface SearchStart {
  /** The literals that hold without being chosen. The search restores it at its end. */
  readonly holding: Holding;
  /** Operands of each node, in the order in which they are tried: {@link byCost}. */
  readonly operands: readonly (readonly number[])[];
  /** Literals that may be chosen. */
  readonly mayChoose: (literal: Literal) => boolean;
}

/** A list of nodes that must hold. Of an inner node, only the operands from index `from` on may still be chosen. */
interface Duty {
  readonly node: number;
  readonly from: number;
  readonly rest: Duty | null;
}

interface Search extends SearchStart {
  /** Literals chosen, in the order of choice. */
  readonly chosen: Literal[];
  /** Untried alternatives: the duties, and the number of literals chosen before. */
  readonly choices: { readonly duty: Duty; readonly chosen: number }[];
}

/**
 * The operands of each node in the order of their cost. A node costs as much as its cheapest operands, as many as must
 * hold.
 *
 * @param costOf The cost of a literal
 */
export function byCost(
  { literals, operands, minimums }: FlatFormula,
  costOf: (literal: Literal) => number,
  meter: Meter,
): readonly (readonly number[])[] {
  meter.left -= literals.length;
  const costs = new Float64Array(literals.length);
  const sorted: (readonly number[])[] = operands.map(() => []);
  // Operands have higher numbers than their node.
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

/** Duties for operands that must all hold, leaves first: an alternative that a leaf rules out is then never tried. */
function allOf({ formula: { literals } }: Holding, nodes: readonly number[], rest: Duty | null): Duty | null {
  const isLeaf = (node: number): boolean => (literals[node] ?? -1) >= 0;
  const inOrder = [...nodes.filter(isLeaf), ...nodes.filter((node) => !isLeaf(node))];
  return inOrder.reduceRight<Duty | null>((duties, node) => ({ node, from: 0, rest: duties }), rest);
}

/** The duties after the first one is met or split into its operands; undefined if it cannot be met. */
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

/** Removes all but the first `before` chosen literals. */
function undo({ chosen, holding }: Search, before: number): void {
  for (const literal of chosen.splice(before)) remove(holding, literal);
}

/** Returns to the last alternative; undefined if all were tried. */
function back(search: Search): Duty | undefined {
  const choice = search.choices.pop();
  if (choice !== undefined) undo(search, choice.chosen);
  return choice?.duty;
}

/**
 * Finds consistent sets of literals that make the requirement hold, together with those that hold at the start. Every
 * smallest set is among them.
 *
 * @param found Called for each set; true ends the search
 * @returns Whether the search is complete: neither `found` nor the meter ended it
 */
export function searchWays(start: SearchStart, found: (chosen: readonly Literal[]) => boolean): boolean {
  const search: Search = { ...start, chosen: [], choices: [] };
  const through = walk(search, found);
  undo(search, 0);
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
