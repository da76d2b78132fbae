import assert from "node:assert/strict";
import type { Requirement, ScenarioLaw } from "../../law/types.ts";
import { withScenario } from "./law.ts";
import { svgGraph } from "./graph_svg.ts";

type Point = readonly [x: number, y: number];
type Row = readonly [id: string, before?: Requirement];

const stage = (id: string): Requirement => ({ Condition: id });
const all = (...ids: string[]): Requirement => ({ And: ids.map(stage) });
const any = (...ids: string[]): Requirement => ({ Or: ids.map(stage) });

/** What a drawing reads of a law. */
function lawOf(rows: readonly Row[], completion: Requirement): ScenarioLaw {
  const stages = rows.map(([stage_id, requirement]) => ({
    stage_id,
    prerequisite: requirement === undefined ? { kind: "root" } : { kind: "requires", requirement },
  }));
  return { scenario_id: "drawn", stages, completion_requirement: completion } as unknown as ScenarioLaw;
}

/** The straight lines and the curves of all paths, as their ends. */
function linesOf(svg: string): readonly { readonly command: string; readonly from: Point; readonly to: Point }[] {
  return [...svg.matchAll(/<path d="([^"]*)" fill="none"/g)].flatMap(([, path = ""]) => {
    let at: Point = [0, 0];
    return [...path.matchAll(/([MCV])([^MCV]*)/g)].flatMap(([, command = "", given = ""]) => {
      const numbers = given.trim().split(" ").map(Number);
      const [from, to]: Point[] = [
        at,
        command === "V" ? [at[0], numbers[0] ?? 0] : numbers.slice(-2) as [number, number],
      ];
      at = to ?? at;
      return command === "M" || from === undefined || to === undefined ? [] : [{ command, from, to }];
    });
  });
}

/** Fails where a line runs behind a box: a curve stays between two rows, a straight line beside all boxes. */
function assertFree(svg: string): void {
  const boxes = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/g)].map((found) =>
    found.slice(1).map(Number)
  );
  for (const { from, to } of linesOf(svg)) {
    for (const [left = 0, top = 0, width = 0, height = 0] of boxes) {
      const isBeside = from[0] === to[0] && (from[0] <= left || from[0] >= left + width);
      const isBetween = from[1] >= top + height || to[1] <= top;
      assert.ok(isBeside || isBetween, `${from} to ${to} at the box ${left} ${top}`);
    }
  }
}

Deno.test("no line of a drawing as SVG runs behind a box", async () => {
  const file = new URL("../../../docs/examples/data_disclosure/scenario.yaml", import.meta.url).pathname;
  const law = await withScenario(file, undefined, ({ scenario }) => Promise.resolve(scenario.law));
  assert.ok(law);
  const svg = svgGraph(law);
  assertFree(svg);
  assert.equal(
    linesOf(svg).length,
    7,
    "of five lines one leads past share-extract: to its lane, along it, and from it",
  );
  assert.match(svg, / V\d+ C.* stroke-dasharray/);
  assert.match(svg, />dashed: not all of these have to be complete<\/text>/);
  assert.doesNotMatch(svgGraph({ ...law, completion_requirement: { Condition: "share-extract" } }), />dashed/);
});

Deno.test("lines past several rows share a lane, on either side", () => {
  const rows: readonly Row[] = [
    ["intake"],
    ["basis"],
    ["look"],
    ["screening", all("intake", "basis")],
    ["extract", stage("screening")],
    ["interview", any("screening", "look")],
    ["report", all("extract", "interview", "intake")],
    ["second", all("interview", "basis")],
    ["archive", all("report", "intake", "look")],
    ["publish", any("archive", "second", "basis")],
  ];
  const svg = svgGraph(lawOf(rows, all("publish", "second", "intake")));
  assertFree(svg);
  const lanes = linesOf(svg).filter(({ command }) => command === "V");
  assert.equal(lanes.length, 6);
  for (const one of lanes) {
    const beside = lanes.filter(({ from, to }) =>
      from[0] === one.from[0] && from[1] <= one.to[1] && to[1] >= one.from[1]
    );
    assert.deepEqual(beside, [one], "lanes beside each other have places of their own");
  }
  const [, left = NaN, width = NaN] = /viewBox="(-?\d+) 0 (\d+) /.exec(svg)?.map(Number) ?? [];
  for (const { from, to } of linesOf(svg)) {
    assert.ok([from[0], to[0]].every((x) => x > left && x < left + width), "it is in the picture");
  }
});

Deno.test("a drawing grows with the lines of a law, not with how far they lead", () => {
  const bytesOf = (count: number, hasRoots: boolean): number => {
    const indexes = Array.from({ length: count - 1 }, (_, index) => index + 1);
    const roots = hasRoots ? indexes.map((index): Row => [`r${index}`]) : [];
    const chain = indexes.map((index): Row => [`s${index}`, all(`s${index - 1}`, hasRoots ? `r${index}` : "s0")]);
    return svgGraph(lawOf([["s0"], ...roots, ...chain], stage(`s${count - 1}`))).length;
  };
  for (const hasRoots of [false, true]) assert.ok(bytesOf(400, hasRoots) < 2.2 * bytesOf(200, hasRoots));
});
