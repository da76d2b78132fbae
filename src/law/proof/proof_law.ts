/**
 * Runs the proofs on a draft: prerequisites without negation, since progress must never close a gate; no constant
 * requirement; and a stage graph that can be completed.
 */

import { sortedBy } from "../../canonical/order.ts";
import type { KnownNames } from "../check_names.ts";
import type { DraftSpec } from "../decode_spec.ts";
import { compileFormula } from "./formula.ts";
import type { NormalRequirements } from "../normal_form.ts";
import { below, type JsonPath, pathAt } from "../../canonical/path.ts";
import { classifySatisfiability } from "./satisfiability.ts";
import { proveGraph, type StageGraph } from "./proof_graph.ts";
import type { Collector } from "../refusals.ts";
import { eachLeaf, eachNode } from "../requirement_walk.ts";
import { quote } from "../suggest.ts";
import type { Requirement } from "../types.ts";

/** Maximum number of stages of a cycle that a message names. */
const CYCLE_SHOWN = 16;

/** Refuses `Not` in prerequisites and in the scenario's requirement. */
export function proveMonotone(refusals: Collector, draft: DraftSpec): void {
  const refuse = (requirement: Requirement | undefined, path: JsonPath, owner: string): void =>
    eachNode(requirement, path, (node, at) => {
      if (!("Not" in node)) return;
      refusals.refuse("not_in_monotone_requirement", below(at, "Not"), `${owner} cannot hold "Not"`);
    });
  draft.stages?.forEach(({ prerequisite }, index) => {
    if (prerequisite?.kind !== "requires") return;
    refuse(prerequisite.requirement, pathAt("stages", index, "prerequisite", "requirement"), "A prerequisite");
  });
  refuse(draft.completion_requirement, pathAt("completion_requirement"), "The requirement of the scenario");
}

/**
 * Refuses stage requirements that are never or always true. Other requirements need no such proof: without `Not` a
 * requirement is false if all its leaves are false, and true if all are true.
 *
 * All proofs of a law share one budget, so a hostile spec costs it once and not once for each stage. They run in the
 * order of stage ids, so the stage that exhausts the budget does not depend on the order in the spec.
 */
export function proveRequirements(
  refusals: Collector,
  draft: DraftSpec,
  requirements: NormalRequirements,
  budget: number,
): void {
  const stages = requirements.stages.map(({ completion }, index) => {
    const { stage_id } = draft.stages?.[index] ?? {};
    return { completion, stage_id: stage_id ?? "", path: pathAt("stages", index, "completion_requirement") };
  });
  let left = budget;
  for (const { completion, stage_id, path } of sortedBy(stages, (stage) => stage.stage_id)) {
    if (completion === undefined) continue;
    const { verdict, visits } = classifySatisfiability(completion, left);
    if (verdict === "contradiction") {
      refusals.refuse("requirement_contradiction", path, "Requirement is false for all values of its conditions");
    } else if (verdict === "tautology") {
      refusals.refuse("requirement_tautology", path, "Requirement is true for all values of its conditions");
    } else if (verdict === "budget_exceeded") {
      const before = left === budget ? "" : `, ${budget - left} of them by the stages before it`;
      const message = `Cannot decide whether the requirement of stage ${quote(stage_id)} can be both true and false: ` +
        `the ${budget} node visits of the law are used up${before}`;
      refusals.refuse("proof_budget_exceeded", path, message);
      return;
    }
    left -= visits;
  }
}

/** Refuses stage graphs with cycles, with stages that cannot open, or in which the scenario cannot be completed. */
export function proveStageGraph(refusals: Collector, draft: DraftSpec, known: KnownNames): void {
  const stages = draft.stages ?? [];
  // Without a distinct name for each stage there is no graph.
  if (known.stages === null || known.stages.size !== stages.length) return;
  const ordered = sortedBy(stages.map((stage, index) => ({ stage, index })), ({ stage }) => stage.stage_id ?? "");
  const numbers = new Map(ordered.map(({ stage }, number) => [stage.stage_id, number]));
  const numberOf = (id: string): number => numbers.get(id) ?? ordered.length;
  const graph: StageGraph = {
    prerequisites: ordered.map(({ stage: { prerequisite } }) =>
      prerequisite?.kind === "requires" ? compileFormula(prerequisite.requirement, numberOf) : null
    ),
    completion: draft.completion_requirement === undefined ? 0 : compileFormula(draft.completion_requirement, numberOf),
  };
  const findings = proveGraph(graph);
  const nameOf = (number: number): string => quote(ordered[number]?.stage.stage_id ?? "");
  const pathOfStage = (number: number): JsonPath => pathAt("stages", ordered[number]?.index ?? 0, "prerequisite");
  for (const cycle of findings.cycles) {
    refusals.refuse(
      "graph_cyclic",
      pathOfStage(cycle[0] ?? 0),
      `Stages require each other: ${cycleText(cycle, nameOf)}`,
    );
  }
  // If a part of the graph is unknown, the unreachable stages are unknown too.
  if (!isGraphWhole(draft, known.stages)) return;
  for (const stage of findings.unreachable) {
    const message = `Stage ${nameOf(stage)} cannot open, even if every other stage that can open is complete`;
    refusals.refuse("stage_unreachable", pathOfStage(stage), message);
  }
  if (findings.attainable) return;
  const message = "The scenario cannot be completed, even if every stage that can open is complete";
  refusals.refuse("completion_unattainable", pathAt("completion_requirement"), message);
}

function cycleText(cycle: readonly number[], nameOf: (number: number) => string): string {
  const shown = cycle.slice(0, CYCLE_SHOWN).map(nameOf);
  const left = cycle.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : []), nameOf(cycle[0] ?? 0)].join(" requires ");
}

function isGraphWhole(draft: DraftSpec, stages: ReadonlySet<string>): boolean {
  let whole = true;
  const check = (requirement: Requirement | undefined): void => {
    if (requirement === undefined) whole = false;
    eachLeaf(requirement, null, (id) => {
      if (!stages.has(id)) whole = false;
    });
  };
  for (const { prerequisite } of draft.stages ?? []) {
    if (prerequisite?.kind !== "root") check(prerequisite?.requirement);
  }
  check(draft.completion_requirement);
  return whole;
}
