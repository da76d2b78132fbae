/**
 * Running the proofs on a draft: no negation where more progress must never close a gate, no requirement that is
 * constant, and a stage graph that leads somewhere.
 *
 * @module
 */

import { sortedBy } from "../canonical/order.ts";
import type { KnownNames } from "./check_names.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { compileFormula } from "./formula.ts";
import type { NormalRequirements } from "./normal_form.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import { classifySatisfiability } from "./satisfiability.ts";
import { proveGraph, type StageGraph } from "./proof_graph.ts";
import type { Collector } from "./refusals.ts";
import { eachLeaf, eachNode } from "./requirement_walk.ts";
import { quote } from "./suggest.ts";
import type { Requirement } from "./types.ts";

/** How many stages of a cycle a message names. */
const CYCLE_SHOWN = 16;

/** Refuses `Not` in prerequisites and in the scenario's requirement. */
export function proveMonotone(refusals: Collector, draft: DraftSpec): void {
  const refuse = (requirement: Requirement | undefined, place: JsonPath, owner: string): void =>
    eachNode(requirement, place, (node, at) => {
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
 * Refuses stage requirements that are never or always true. The other requirements need no such proof: without `Not`
 * a requirement is false when all its leaves are and true when all are.
 *
 * All proofs of a law share one budget, so that a hostile spec costs that once, not once a stage. They come in the
 * order of the stages' ids: which of them finds the budget used up does not depend on how a spec is written.
 */
export function proveRequirements(
  refusals: Collector,
  draft: DraftSpec,
  requirements: NormalRequirements,
  budget: number,
): void {
  const stages = requirements.stages.map(({ completion }, index) => {
    const { stage_id } = draft.stages?.[index] ?? {};
    return { completion, stage_id: stage_id ?? "", place: pathAt("stages", index, "completion_requirement") };
  });
  let left = budget;
  for (const { completion, stage_id, place } of sortedBy(stages, (stage) => stage.stage_id)) {
    if (completion === undefined) continue;
    const { verdict, visits } = classifySatisfiability(completion, left);
    if (verdict === "contradiction") {
      refusals.refuse("requirement_contradiction", place, "Requirement is false whatever its conditions are");
    } else if (verdict === "tautology") {
      refusals.refuse("requirement_tautology", place, "Requirement is true whatever its conditions are");
    } else if (verdict === "budget_exceeded") {
      const before = left === budget ? "" : `, ${budget - left} of them by the stages before it`;
      const message = `Cannot tell whether the requirement of stage ${quote(stage_id)} can be both true and false: ` +
        `the ${budget} node visits of the law are used up${before}`;
      refusals.refuse("proof_budget_exceeded", place, message);
      return;
    }
    left -= visits;
  }
}

/** Refuses stage graphs with cycles, with stages that cannot open, or in which the scenario cannot be completed. */
export function proveStageGraph(refusals: Collector, draft: DraftSpec, known: KnownNames): void {
  const stages = draft.stages ?? [];
  // Without one name for each stage there is no graph to speak of.
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
  const placeOf = (number: number): JsonPath => pathAt("stages", ordered[number]?.index ?? 0, "prerequisite");
  for (const cycle of findings.cycles) {
    refusals.refuse("graph_cyclic", placeOf(cycle[0] ?? 0), `Stages require each other: ${cycleText(cycle, nameOf)}`);
  }
  // With a part of the graph unknown, what cannot be reached is not known either.
  if (!isGraphWhole(draft, known.stages)) return;
  for (const stage of findings.unreachable) {
    const message = `Stage ${nameOf(stage)} cannot open, whichever stages are completed before`;
    refusals.refuse("stage_unreachable", placeOf(stage), message);
  }
  if (findings.attainable) return;
  const message = "The scenario cannot be completed, whichever stages are completed";
  refusals.refuse("completion_unattainable", pathAt("completion_requirement"), message);
}

function cycleText(cycle: readonly number[], nameOf: (number: number) => string): string {
  const shown = cycle.slice(0, CYCLE_SHOWN).map(nameOf);
  const left = cycle.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : []), nameOf(cycle[0] ?? 0)].join(" requires ");
}

function isGraphWhole(draft: DraftSpec, stages: ReadonlySet<string>): boolean {
  let whole = true;
  const look = (requirement: Requirement | undefined): void => {
    if (requirement === undefined) whole = false;
    eachLeaf(requirement, null, (id) => {
      if (!stages.has(id)) whole = false;
    });
  };
  for (const { prerequisite } of draft.stages ?? []) {
    if (prerequisite?.kind !== "root") look(prerequisite?.requirement);
  }
  look(draft.completion_requirement);
  return whole;
}
