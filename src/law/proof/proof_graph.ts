/** The proofs of the stage graph: it has no cycle, every stage can open, and the scenario can be completed. */

import { type Formula, variableOf } from "./formula.ts";

/**
 * The stage graph by stage number. Its formulas have no negation. A number beyond the stages is an unknown stage, which
 * is never complete.
 */
export interface StageGraph {
  /** By stage: the formula that opens it; null for a root. */
  readonly prerequisites: readonly (Formula | null)[];
  /** The formula that completes the scenario. */
  readonly completion: Formula;
}

/** The faults of a stage graph. A sound graph has empty arrays and `attainable` true. */
export interface GraphFindings {
  /** One shortest cycle for every group of stages that require each other, from its lowest stage number. */
  readonly cycles: readonly (readonly number[])[];
  /** Stages that cannot open even if every stage that can be opened is completed. */
  readonly unreachable: readonly number[];
  /** Whether the scenario completes once every stage that can be opened is completed. */
  readonly attainable: boolean;
}

/**
 * Proves a stage graph. The time is linear in its formulas, except for the search of cycles to name.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { proveGraph } from "@/law/proof/proof_graph.ts";
 *
 * // Stage 0 is a root, stage 1 requires stage 0, stage 2 requires itself.
 * const graph = { prerequisites: [null, 0, 4], completion: 2 };
 * assert.deepEqual(proveGraph(graph), { cycles: [[2]], unreachable: [2], attainable: true });
 * ```
 */
export function proveGraph(graph: StageGraph): GraphFindings {
  const { reached, attainable } = reach(graph);
  return {
    cycles: cyclesOf(graph.prerequisites.map((formula) => stagesOf(formula, graph.prerequisites.length))),
    unreachable: graph.prerequisites.flatMap((_, stage) => reached[stage] === true ? [] : [stage]),
    attainable,
  };
}

/** The distinct stages of a formula, in increasing order. */
function stagesOf(formula: Formula | null, count: number): number[] {
  if (formula === null) return [];
  const stages = new Set<number>();
  const collect = (node: Formula): void => {
    if (typeof node === "number") stages.add(variableOf(node));
    else node.operands.forEach(collect);
  };
  collect(formula);
  return [...stages].filter((stage) => stage < count).sort((a, b) => a - b);
}

/** The nodes of all formulas in flat arrays, each with the number of operands that it still needs. */
interface Circuit {
  readonly parents: number[];
  readonly missing: number[];
  /** By stage: the leaves that name it. */
  readonly leaves: number[][];
}

/** Completes stages as long as another one can open: the least fixed point. */
function reach(graph: StageGraph): { readonly reached: readonly boolean[]; readonly attainable: boolean } {
  const count = graph.prerequisites.length;
  const circuit: Circuit = { parents: [], missing: [], leaves: graph.prerequisites.map(() => []) };
  const reached = graph.prerequisites.map(() => false);
  const open: number[] = [];
  // The parent of a formula's root is -1 minus the stage that it opens; the scenario counts as one more stage.
  graph.prerequisites.forEach((formula, stage) => {
    if (formula === null) open.push(stage);
    else wire(circuit, formula, -1 - stage);
  });
  wire(circuit, graph.completion, -1 - count);
  let attainable = false;
  for (let stage = open.pop(); stage !== undefined; stage = open.pop()) {
    if (reached[stage] === true) continue;
    reached[stage] = true;
    for (const leaf of circuit.leaves[stage] ?? []) {
      const opened = fire(circuit, leaf);
      if (opened === count) attainable = true;
      else if (opened !== null) open.push(opened);
    }
  }
  return { reached, attainable };
}

function wire(circuit: Circuit, formula: Formula, parent: number): void {
  const node = circuit.parents.push(parent) - 1;
  circuit.missing.push(typeof formula === "number" ? 1 : formula.minimum);
  if (typeof formula === "number") circuit.leaves[variableOf(formula)]?.push(node);
  else for (const operand of formula.operands) wire(circuit, operand, node);
}

/** Counts one more true operand of a node; returns the stage whose formula becomes true, if any. */
function fire(circuit: Circuit, leaf: number): number | null {
  let node = leaf;
  while (node >= 0) {
    const missing = (circuit.missing[node] as number) - 1;
    circuit.missing[node] = missing;
    // The count is zero exactly once: a node that was true before has already been counted at its parent.
    if (missing !== 0) return null;
    node = circuit.parents[node] as number;
  }
  return -1 - node;
}

/** One shortest cycle for every strongly connected component that has any (Tarjan 1972). */
function cyclesOf(edges: readonly (readonly number[])[]): number[][] {
  const order = edges.map(() => -1);
  const low = edges.map(() => -1);
  const waiting: number[] = [];
  const componentOf = edges.map(() => -1);
  const cycles: number[][] = [];
  let visited = 0;
  const enter = (stage: number): void => {
    order[stage] = low[stage] = visited++;
    waiting.push(stage);
    for (const next of edges[stage] ?? []) {
      if (order[next] === -1) enter(next);
      if (componentOf[next] === -1) low[stage] = Math.min(low[stage] as number, low[next] as number);
    }
    if (low[stage] !== order[stage]) return;
    const members = waiting.splice(waiting.indexOf(stage));
    for (const member of members) componentOf[member] = stage;
    const cycle = shortestCycle(edges, componentOf, Math.min(...members));
    if (cycle !== null) cycles.push(cycle);
  };
  // No deeper than there are stages, 1024 at most.
  edges.forEach((_, stage) => {
    if (order[stage] === -1) enter(stage);
  });
  return cycles.sort((a, b) => (a[0] as number) - (b[0] as number));
}

/** The shortest path from a stage back to itself within its component, or null. */
function shortestCycle(
  edges: readonly (readonly number[])[],
  componentOf: readonly number[],
  start: number,
): number[] | null {
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (let at = 0; at < queue.length; at++) {
    const stage = queue[at] as number;
    for (const next of edges[stage] ?? []) {
      if (next === start) return pathTo(cameFrom, start, stage);
      if (componentOf[next] !== componentOf[start] || cameFrom.has(next)) continue;
      cameFrom.set(next, stage);
      queue.push(next);
    }
  }
  return null;
}

function pathTo(cameFrom: ReadonlyMap<number, number>, start: number, end: number): number[] {
  const path = [end];
  for (let stage = end; stage !== start;) {
    stage = cameFrom.get(stage) ?? start;
    path.push(stage);
  }
  return path.reverse();
}
