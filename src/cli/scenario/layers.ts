/**
 * The stage graph of a law, laid out: which stages stand above which, and what is between them.
 *
 * @module
 */

import { eachLeaf } from "../../law/requirement_walk.ts";
import type { Requirement, ScenarioLaw, Stage } from "../../law/types.ts";
import { requirementText } from "../runpack/show.ts";

/** Stages that a requirement names, each once. */
export function stagesNamed(requirement: Requirement): readonly string[] {
  const names = new Set<string>();
  eachLeaf(requirement, null, (id) => names.add(id));
  return [...names];
}

/** The stages that a stage's prerequisite names. */
export function stagesBefore({ prerequisite }: Stage): readonly string[] {
  return prerequisite.kind === "root" ? [] : stagesNamed(prerequisite.requirement);
}

/** The stages in layers: each below all that its prerequisite names. The graph of a law has no cycle. */
export function layersOf(law: ScenarioLaw): Stage[][] {
  const layers: Stage[][] = [];
  const placed = new Set<string>();
  let left = [...law.stages];
  while (left.length > 0) {
    const layer = left.filter((stage) => stagesBefore(stage).every((id) => placed.has(id)));
    if (layer.length === 0) throw new RangeError("Cannot lay out stages: their graph has a cycle");
    layers.push(layer);
    layer.forEach(({ stage_id }) => placed.add(stage_id));
    left = left.filter(({ stage_id }) => !placed.has(stage_id));
  }
  return layers;
}

/** The outermost brackets of a requirement say nothing on a line of its own. */
export function plainRequirement(requirement: Requirement): string {
  return requirementText(requirement).replace(/^\((.*)\)$/, "$1");
}

/** Whether a requirement is that all stages it names are complete. */
export function isConjunction(requirement: Requirement): boolean {
  if ("Condition" in requirement) return true;
  return "And" in requirement && requirement.And.every(isConjunction);
}
