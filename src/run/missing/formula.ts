/**
 * A requirement laid out flat for the search of what it lacks: negations stand at the leaves, every inner node says how many of its
 * operands have to hold, and counters tell at once which nodes hold while literals come and go.
 *
 * @module
 */

import { compileFormula, type Formula, type Literal } from "../../law/formula.ts";
import type { Requirement } from "../../law/types.ts";

/** Marks what is not there: the parent of the root, the literal of an inner node. */
const NONE = -1;

/** A requirement as flat arrays; node 0 is the root. */
export interface FlatFormula {
  /** Leaf names by the number of the variable. */
  readonly names: readonly string[];
  /** Parent of each node. */
  readonly parents: Int32Array;
  /** How many operands of each inner node have to hold. */
  readonly minimums: Int32Array;
  /** The literal of each leaf: twice the variable, plus one where it stands negated. */
  readonly literals: Int32Array;
  /** Operands of each node, in the order of the requirement. */
  readonly operands: readonly (readonly number[])[];
  /** Leaves by literal. */
  readonly leaves: readonly (readonly number[])[];
  /** Whether every variable stands at one leaf only. */
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

/** Lays out a proved requirement. */
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

/** The literal that says the opposite. */
export function negationOf(literal: Literal): Literal {
  return literal ^ 1;
}

/** How many steps a search may still take. */
export interface Meter {
  left: number;
}

/** Which literals hold now, and with them which nodes. */
export interface Holding {
  readonly formula: FlatFormula;
  /** By literal. */
  readonly literals: Uint8Array;
  /** How many operands of each node hold. */
  readonly counts: Int32Array;
  readonly meter: Meter;
}

/** Nothing holds yet. */
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

/** Lets a literal hold that did not. */
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

/** Takes back a literal that holds. */
export function take(holding: Holding, literal: Literal): void {
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
