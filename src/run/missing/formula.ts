/**
 * A requirement as flat arrays, for the search of missing conditions. Negations are at the leaves, and every inner node
 * has the number of operands that must hold. Counters show which nodes hold while literals are added and removed.
 */

import { compileFormula, type Formula, type Literal } from "../../law/proof/formula.ts";
import type { Requirement } from "../../law/types.ts";

/** In place of an index: the root has no parent, an inner node no literal. */
const NONE = -1;

/** A requirement as flat arrays; node 0 is the root. */
export interface FlatFormula {
  /** Leaf names by the number of the variable. */
  readonly names: readonly string[];
  /** Parent of each node. */
  readonly parents: Int32Array;
  /** How many operands of each inner node must hold. */
  readonly minimums: Int32Array;
  /** The literal of each leaf: twice the variable, plus one if it is negated. */
  readonly literals: Int32Array;
  /** Operands of each node, in the order of the requirement. */
  readonly operands: readonly (readonly number[])[];
  /** Leaves by literal. */
  readonly leaves: readonly (readonly number[])[];
  /** Whether every variable occurs at one leaf only. */
  readonly readOnce: boolean;
}

interface Nodes {
  readonly parents: number[];
  readonly minimums: number[];
  readonly literals: number[];
  readonly operands: number[][];
}

function addNode(nodes: Nodes, formula: Formula, parent: number): number {
  const node = nodes.parents.length;
  nodes.parents.push(parent);
  nodes.operands.push([]);
  nodes.minimums.push(typeof formula === "number" ? 0 : formula.minimum);
  nodes.literals.push(typeof formula === "number" ? formula : NONE);
  if (typeof formula !== "number") {
    nodes.operands[node] = formula.operands.map((operand) => addNode(nodes, operand, node));
  }
  return node;
}

/** The flat form of a proved requirement. */
export function flatten(requirement: Requirement): FlatFormula {
  const numbers = new Map<string, number>();
  const formula = compileFormula(requirement, (id) => {
    const number = numbers.get(id) ?? numbers.size;
    numbers.set(id, number);
    return number;
  });
  const nodes: Nodes = { parents: [], minimums: [], literals: [], operands: [] };
  addNode(nodes, formula, NONE);
  const leaves: number[][] = Array.from({ length: numbers.size * 2 }, () => []);
  nodes.literals.forEach((literal, node) => leaves[literal]?.push(node));
  return {
    names: [...numbers.keys()],
    parents: Int32Array.from(nodes.parents),
    minimums: Int32Array.from(nodes.minimums),
    literals: Int32Array.from(nodes.literals),
    operands: nodes.operands,
    leaves,
    readOnce: nodes.literals.filter((literal) => literal !== NONE).length === numbers.size,
  };
}

/** The opposite literal. */
export function negationOf(literal: Literal): Literal {
  return literal ^ 1;
}

/** The number of steps that a search may still use. */
export interface Meter {
  left: number;
}

/** The literals that hold, with counters for the nodes. */
export interface Holding {
  readonly formula: FlatFormula;
  /** By literal. */
  readonly literals: Uint8Array;
  /** How many operands of each node hold. */
  readonly counts: Int32Array;
  readonly meter: Meter;
}

/** The start: no literal holds. */
export function holdingNothing(formula: FlatFormula, meter: Meter): Holding {
  return {
    formula,
    literals: new Uint8Array(formula.leaves.length),
    counts: new Int32Array(formula.parents.length),
    meter,
  };
}

/** Whether a node holds. */
export function holds({ formula, literals, counts }: Holding, node: number): boolean {
  const literal = formula.literals[node] ?? NONE;
  return literal === NONE ? (counts[node] ?? 0) >= (formula.minimums[node] ?? 0) : literals[literal] === 1;
}

/** Adds a literal that does not hold. */
export function add(holding: Holding, literal: Literal): void {
  const { formula: { leaves, parents, minimums }, counts, literals, meter } = holding;
  literals[literal] = 1;
  for (const leaf of leaves[literal] ?? []) {
    let node = parents[leaf] ?? NONE;
    while (node !== NONE) {
      meter.left--;
      const count = (counts[node] ?? 0) + 1;
      counts[node] = count;
      if (count !== minimums[node]) break;
      node = parents[node] ?? NONE;
    }
  }
}

/** Removes a literal that holds. */
export function remove(holding: Holding, literal: Literal): void {
  const { formula: { leaves, parents, minimums }, counts, literals, meter } = holding;
  literals[literal] = 0;
  for (const leaf of leaves[literal] ?? []) {
    let node = parents[leaf] ?? NONE;
    while (node !== NONE) {
      meter.left--;
      const count = counts[node] ?? 0;
      counts[node] = count - 1;
      if (count !== minimums[node]) break;
      node = parents[node] ?? NONE;
    }
  }
}
