import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { isConjunction, leavesOf } from "./requirement_walk.ts";
import { layersOf, stagesBefore } from "./stage_layers.ts";
import type { Requirement } from "./types.ts";

const stage = (stage_id: string, ...after: readonly string[]): Parameters<typeof layersOf>[0][number] => ({
  stage_id,
  prerequisite: after.length === 0
    ? { kind: "root" }
    : { kind: "requires", requirement: { And: after.map((id) => ({ Condition: id })) } },
});

Deno.test("layersOf() puts a stage below every stage that it waits for, in the order given", () => {
  const layers = layersOf([stage("e", "a", "c"), stage("a"), stage("b"), stage("c", "b"), stage("d", "a")]);
  assert.deepEqual(layers.map((layer) => layer.map(({ stage_id }) => stage_id)), [["a", "b"], ["c", "d"], ["e"]]);
});

Deno.test("layersOf() places every stage of a graph without cycles once, as high as it can be", () => {
  const graph = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 }).map((before) =>
    before.map((choices, index) =>
      stage(`s${index}`, ...new Set(index === 0 ? [] : choices.map((choice) => `s${choice % index}`)))
    )
  );
  fc.assert(fc.property(graph, (stages) => {
    const layers = layersOf(stages);
    const layerOf = new Map(layers.flatMap((layer, index) => layer.map(({ stage_id }) => [stage_id, index] as const)));
    assert.equal(layers.flat().length, stages.length);
    for (const one of stages) {
      const lowest = Math.max(-1, ...stagesBefore(one).map((id) => layerOf.get(id) ?? Infinity));
      assert.equal(layerOf.get(one.stage_id), lowest + 1);
    }
  }));
});

Deno.test("layersOf() places 1024 stages in a chain and in a row", () => {
  const chain = Array.from({ length: 1024 }, (_, index) => stage(`s${index}`, ...index === 0 ? [] : [`s${index - 1}`]));
  assert.equal(layersOf(chain).length, 1024);
  const roots = Array.from({ length: 1024 }, (_, index) => stage(`s${index}`));
  assert.equal(layersOf(roots)[0]?.length, 1024);
});

Deno.test("layersOf() rejects a cycle", () => {
  assert.throws(() => layersOf([stage("a"), stage("b", "c"), stage("c", "b")]), RangeError);
});

const LEAVES: readonly (readonly [requirement: Requirement, leaves: string, isConjunction: boolean])[] = [
  [{ Condition: "a" }, "a", true],
  [{ And: [{ Condition: "b" }, { And: [{ Condition: "a" }] }] }, "b a", true],
  [{ And: [{ Condition: "b" }, { Not: { Condition: "a" } }, { Condition: "b" }] }, "b a", false],
  [{ RequireGroup: { min: 1, reqs: [{ Or: [{ Condition: "x" }, { Condition: "y" }] }] } }, "x y", false],
];

for (const [requirement, leaves, expected] of LEAVES) {
  Deno.test(`leavesOf() and isConjunction() ${JSON.stringify(requirement)}: ${leaves}, ${expected}`, () => {
    assert.equal(leavesOf(requirement).join(" "), leaves);
    assert.equal(isConjunction(requirement), expected);
  });
}
