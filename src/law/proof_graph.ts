/**
 * The proofs on the stage graph: it has no cycle, every stage can come to be open, and the scenario can be completed.
 *
 * @module
 */

import { type Formula, variableOf } from "./formula.ts";

/**
 * The stage graph by stage number; the formulas hold no negation. A number beyond the stages stands for one that does
 * not exist, which is never completed.
 */
export interface StageGraph {
  /** By stage: what opens it, or null for a root. */
  readonly prerequisites: readonly (Formula | null)[];
  /** What completes the scenario. */
  readonly completion: Formula;
}

/** What is wrong with a stage graph; all members empty or true when nothing is. */
export interface GraphFindings {
  /** One shortest cycle for every group of stages that require each other, each from its least stage. */
  readonly cycles: readonly (readonly number[])[];
  /** Stages that cannot open even if every stage that can be opened is completed. */
  readonly unreachable: readonly number[];
  /** Whether the scenario completes once every stage that can be opened is completed. */
  readonly attainable: boolean;
}

/**
 * Proves a stage graph, in time linear in its formulas apart from the naming of cycles.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { proveGraph } from "@/law/proof_graph.ts";
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

/** The stages that a formula names, each once, in increasing order. */
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

/** Nodes of all formulas side by side, each counting how many operands it still waits for. */
interface Circuit {
  readonly parents: number[];
  readonly missing: number[];
  /** By stage: the leaves that name it. */
  readonly leaves: number[][];
}

/** Completes every stage that can be opened, until no other one can: the least fixed point. */
function reach(graph: StageGraph): { readonly reached: readonly boolean[]; readonly attainable: boolean } {
  const count = graph.prerequisites.length;
  const circuit: Circuit = { parents: [], missing: [], leaves: graph.prerequisites.map(() => []) };
  const reached = graph.prerequisites.map(() => false);
  const open: number[] = [];
  // A formula's root has as its parent -1 minus the stage that it opens; the scenario counts as one stage more.
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

/** Tells a node that one more of its operands is true; gives the stage whose formula thereby becomes true, if any. */
function fire(circuit: Circuit, leaf: number): number | null {
  let node = leaf;
  while (node >= 0) {
    const missing = (circuit.missing[node] as number) - 1;
    circuit.missing[node] = missing;
    // Zero exactly once: a node that is true already has told its parent.
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

/** The shortest way from a stage back to itself within its component, or null where there is none. */
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
      if (next === start) return wayTo(cameFrom, start, stage);
      if (componentOf[next] !== componentOf[start] || cameFrom.has(next)) continue;
      cameFrom.set(next, stage);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(cameFrom: ReadonlyMap<number, number>, start: number, end: number): number[] {
  const way = [end];
  for (let stage = end; stage !== start;) {
    stage = cameFrom.get(stage) ?? start;
    way.push(stage);
  }
  return way.reverse();
}
