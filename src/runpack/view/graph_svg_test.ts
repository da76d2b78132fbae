import assert from "node:assert/strict";
import type { Requirement, ScenarioLaw } from "../../law/types.ts";
import { type Standing, svgFile, svgGraph } from "./graph_svg.ts";

type Point = readonly [x: number, y: number];
type Row = readonly [id: string, before?: Requirement];

const stage = (id: string): Requirement => ({ Condition: id });
const all = (...ids: string[]): Requirement => ({ And: ids.map(stage) });
const any = (...ids: string[]): Requirement => ({ Or: ids.map(stage) });

/** The parts of a law that a drawing reads. */
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

/** Fails where a line runs behind a box: curves stay between two rows, straight lines beside all boxes. */
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

const ROWS: readonly Row[] = [
  ["request"],
  ["analysis", stage("request")],
  ["share-extract", stage("analysis")],
  ["share-raw", all("share-extract")],
];

Deno.test("no line of a drawing as SVG runs behind a box", () => {
  const law = lawOf([...ROWS.slice(0, 3)], any("analysis", "share-extract"));
  const svg = svgFile(law);
  assertFree(svg);
  assert.equal(
    linesOf(svg).length,
    6,
    "one of four lines leads past share-extract: to its lane, along it, and from it",
  );
  assert.match(svg, / V\d+ C.* stroke-dasharray/);
  assert.match(svg, />dashed: not all of these have to be complete<\/text>/);
  assert.doesNotMatch(svgFile({ ...law, completion_requirement: stage("share-extract") }), />dashed/);
});

Deno.test("a drawing shows the state of each stage by a word and by a class", () => {
  const states: readonly Standing[] = [
    { state: "complete", words: "complete, 2 attempts" },
    { state: "open", words: "open" },
    { state: "ready", words: "ready to be opened" },
    { state: "blocked", words: "waiting" },
  ];
  const standingOf = (id: string | null): Standing => {
    const found = states[ROWS.findIndex(([stageId]) => stageId === id)];
    return found ?? { state: "blocked", words: "not reached" };
  };
  const { svg: { markup }, hidden } = svgGraph(lawOf(ROWS, stage("share-raw")), { standingOf });
  assertFree(markup);
  assert.equal(hidden, 0);
  for (const { state, words } of states) {
    assert.match(markup, new RegExp(`<g class="stage ${state}">.*>${words}</text></g>`));
  }
  assert.match(markup, /<g class="stage end blocked">.*>not reached<\/text><\/g>/);
});

Deno.test("a drawing leaves out lines beyond the maximum, and counts them", () => {
  const law = lawOf(ROWS, all("share-raw", "request"));
  for (const [maximumLines, hidden] of [[6, 0], [5, 0], [4, 1], [1, 4], [0, 5]] as const) {
    assert.equal(svgGraph(law, { maximumLines }).hidden, hidden, `${maximumLines}`);
  }
});

Deno.test("a drawing escapes ids, and writes out characters that cannot be seen", () => {
  const svg = svgFile(lawOf([["<a>&\u202e"]], stage("<a>&\u202e")));
  assert.match(svg, />&lt;a&gt;&amp;\\u\{202e\}<\/text>/);
  assert.doesNotMatch(svg, /<a>|\u202e/);
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
  const svg = svgFile(lawOf(rows, all("publish", "second", "intake")));
  assertFree(svg);
  const lanes = linesOf(svg).filter(({ command }) => command === "V");
  assert.equal(lanes.length, 6);
  for (const one of lanes) {
    const beside = lanes.filter(({ from, to }) =>
      from[0] === one.from[0] && from[1] <= one.to[1] && to[1] >= one.from[1]
    );
    assert.deepEqual(beside, [one], "lanes in the same rows do not share a track");
  }
  const [, left = NaN, width = NaN] = /viewBox="(-?\d+) 0 (\d+) /.exec(svg)?.map(Number) ?? [];
  for (const { from, to } of linesOf(svg)) {
    assert.ok([from[0], to[0]].every((x) => x > left && x < left + width), "every line is within the picture");
  }
});

Deno.test("a drawing grows with the lines of a law, not with how far they lead", () => {
  const bytesOf = (count: number, hasRoots: boolean): number => {
    const indexes = Array.from({ length: count - 1 }, (_, index) => index + 1);
    const roots = hasRoots ? indexes.map((index): Row => [`r${index}`]) : [];
    const chain = indexes.map((index): Row => [`s${index}`, all(`s${index - 1}`, hasRoots ? `r${index}` : "s0")]);
    return svgFile(lawOf([["s0"], ...roots, ...chain], stage(`s${count - 1}`))).length;
  };
  for (const hasRoots of [false, true]) assert.ok(bytesOf(400, hasRoots) < 2.2 * bytesOf(200, hasRoots));
});
