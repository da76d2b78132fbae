import { leavesOf } from "./requirement_walk.ts";
import type { Stage } from "./types.ts";

/** The stages that the prerequisite of a stage names, each once. */
export function stagesBefore({ prerequisite }: Pick<Stage, "prerequisite">): readonly string[] {
  return prerequisite.kind === "root" ? [] : leavesOf(prerequisite.requirement);
}

/**
 * The layers, from the top. A stage lies one layer below the lowest stage that its prerequisite names. Within a layer,
 * stages keep their order.
 *
 * @param stages The stages of a law, whose graph has no cycle
 * @throws {RangeError} Where the graph has a cycle
 */
export function layersOf<One extends Pick<Stage, "stage_id" | "prerequisite">>(stages: readonly One[]): One[][] {
  const edges = stages.flatMap((stage) => stagesBefore(stage).map((before) => ({ before, follower: stage.stage_id })));
  const edgesFrom = Map.groupBy(edges, ({ before }) => before);
  const waiting = new Map(stages.map((stage) => [stage.stage_id, stagesBefore(stage).length]));
  const layerOf = new Map<string, number>();
  let ready = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  // A stage that becomes ready in a round waited for a stage of the round before.
  for (let layer = 0; ready.length > 0; layer++) {
    const next: string[] = [];
    for (const id of ready) {
      layerOf.set(id, layer);
      for (const { follower } of edgesFrom.get(id) ?? []) {
        const left = (waiting.get(follower) ?? 0) - 1;
        waiting.set(follower, left);
        if (left === 0) next.push(follower);
      }
    }
    ready = next;
  }
  if (layerOf.size < stages.length) throw new RangeError("Cannot lay out stages: their graph has a cycle");
  const layers: One[][] = [];
  for (const stage of stages) (layers[layerOf.get(stage.stage_id) ?? 0] ??= []).push(stage);
  return layers;
}
