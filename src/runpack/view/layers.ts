/**
 * A layout of the stage graph by layers: every stage stands to the right of all it waits for, near to them.
 *
 * @module
 */

import { compareCodePoints } from "../../canonical/order.ts";
import type { Requirement, Stage } from "../../law/types.ts";

/** A stage in its place. */
export interface PlacedStage {
  readonly stage_id: string;
  /** Column, from 0. */
  readonly layer: number;
  /** Row within the column, from 0. */
  readonly row: number;
  /** Stages that its prerequisite names, each once. */
  readonly after: readonly string[];
}

/** The leaves of a requirement, each once, in the order in which they are met. */
export function leavesOf(requirement: Requirement): readonly string[] {
  const found = new Set<string>();
  const visit = (one: Requirement): void => {
    if ("Condition" in one) found.add(one.Condition);
    else if ("Not" in one) visit(one.Not);
    else ("And" in one ? one.And : "Or" in one ? one.Or : one.RequireGroup.reqs).forEach(visit);
  };
  visit(requirement);
  return [...found];
}

/**
 * Places the stages of a law. A stage's layer is one more than the highest of those that it waits for; within a layer,
 * stages stand by the middle of the rows of what they wait for, then by id.
 *
 * @param stages The stages of a law, whose graph has no cycle
 */
export function layOut(stages: readonly Pick<Stage, "stage_id" | "prerequisite">[]): readonly PlacedStage[] {
  const after = new Map(stages.map(({ stage_id, prerequisite }) => [
    stage_id,
    prerequisite.kind === "root" ? [] : leavesOf(prerequisite.requirement),
  ]));
  const layers = layersOf(after);
  const placed = new Map<string, PlacedStage>();
  const highest = Math.max(-1, ...layers.values());
  for (let layer = 0; layer <= highest; layer++) {
    const here = [...layers].filter(([, its]) => its === layer).map(([stageId]) => ({
      stageId,
      middle: middleOf((after.get(stageId) ?? []).flatMap((before) => placed.get(before)?.row ?? [])),
    }));
    here.sort((a, b) => a.middle - b.middle || compareCodePoints(a.stageId, b.stageId));
    here.forEach(({ stageId }, row) => {
      placed.set(stageId, { stage_id: stageId, layer, row, after: after.get(stageId) ?? [] });
    });
  }
  return [...placed.values()];
}

function layersOf(after: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const waiting = new Map([...after].map(([stageId, before]) => [stageId, before.length]));
  const followers = new Map<string, string[]>();
  for (const [stageId, before] of after) {
    for (const one of before) followers.set(one, [...followers.get(one) ?? [], stageId]);
  }
  const layers = new Map<string, number>();
  let ready = [...waiting].filter(([, count]) => count === 0).map(([stageId]) => stageId);
  // Who becomes ready in a round waited for somebody of the round before: its layer is that one's and one more.
  for (let layer = 0; ready.length > 0; layer++) {
    const next: string[] = [];
    for (const stageId of ready) {
      layers.set(stageId, layer);
      for (const follower of followers.get(stageId) ?? []) {
        const left = (waiting.get(follower) ?? 0) - 1;
        waiting.set(follower, left);
        if (left === 0) next.push(follower);
      }
    }
    ready = next;
  }
  return layers;
}

function middleOf(rows: readonly number[]): number {
  return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}
