import assert from "node:assert/strict";
import fc from "fast-check";
import type { Requirement } from "../../law/types.ts";
import { layOut, leavesOf } from "./layers.ts";

const stage = (stage_id: string, ...after: readonly string[]): Parameters<typeof layOut>[0][number] => ({
  stage_id,
  prerequisite: after.length === 0
    ? { kind: "root" }
    : { kind: "requires", requirement: { And: after.map((id) => ({ Condition: id })) } },
});

Deno.test("layOut() puts a stage behind all it waits for, and rows in the order of what is before them", () => {
  const places = layOut([stage("a"), stage("b"), stage("c", "b"), stage("d", "a"), stage("e", "a", "c")]);
  const at = Object.fromEntries(places.map(({ stage_id, layer, row }) => [stage_id, [layer, row]]));
  assert.deepEqual(at, { a: [0, 0], b: [0, 1], d: [1, 0], c: [1, 1], e: [2, 0] });
});

Deno.test("layOut() places every stage of a graph without cycles once, behind what it waits for", () => {
  const graph = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 }).map((before) =>
    before.map((choices, index) =>
      stage(`s${index}`, ...new Set(index === 0 ? [] : choices.map((choice) => `s${choice % index}`)))
    )
  );
  fc.assert(fc.property(graph, (stages) => {
    const places = layOut(stages);
    const layers = new Map(places.map(({ stage_id, layer }) => [stage_id, layer]));
    assert.equal(layers.size, stages.length);
    for (const { after, layer } of places) for (const one of after) assert.ok((layers.get(one) ?? layer) < layer);
    assert.equal(new Set(places.map(({ layer, row }) => `${layer} ${row}`)).size, stages.length);
  }));
});

Deno.test("layOut() places 1024 stages in a chain and in a row", () => {
  const chain = Array.from({ length: 1024 }, (_, index) => stage(`s${index}`, ...index === 0 ? [] : [`s${index - 1}`]));
  assert.equal(Math.max(...layOut(chain).map(({ layer }) => layer)), 1023);
  const roots = Array.from({ length: 1024 }, (_, index) => stage(`s${index}`));
  assert.equal(Math.max(...layOut(roots).map(({ row }) => row)), 1023);
});

const LEAVES: readonly (readonly [requirement: Requirement, leaves: string])[] = [
  [{ Condition: "a" }, "a"],
  [{ And: [{ Condition: "b" }, { Not: { Condition: "a" } }, { Condition: "b" }] }, "b a"],
  [{ RequireGroup: { min: 1, reqs: [{ Or: [{ Condition: "x" }, { Condition: "y" }] }] } }, "x y"],
];

for (const [requirement, leaves] of LEAVES) {
  Deno.test(`leavesOf() ${JSON.stringify(requirement)}: ${leaves}`, () => {
    assert.equal(leavesOf(requirement).join(" "), leaves);
  });
}
