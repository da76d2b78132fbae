import assert from "node:assert/strict";
import { environmentWith, lawOf, stampsAt } from "../../tests/simulation/kernel/fixture.ts";
import { LAW, NEW, open, OVER, READY } from "../../tests/simulation/kernel/release.ts";
import { flag, leastSpec, stage } from "../../tests/simulation/kernel/law_specs.ts";
import { decide } from "./decide/decide.ts";
import { initialStages, readyFrontier, stagesAfterCompletion, stagesSatisfy, traceStages } from "./frontier.ts";
import type { StageClassification, StageState } from "./types.ts";

/** `c` requires `a` or `b`, `d` requires two of `a`, `b` and `c`. */
function graphLaw(): ReturnType<typeof lawOf> {
  const spec = leastSpec();
  const names = (...ids: string[]) => ids.map((Condition) => ({ Condition }));
  spec.conditions = [flag("done")];
  spec.stages = [
    stage("a", "done"),
    stage("b", "done"),
    stage("c", "done", { kind: "requires", requirement: { Or: names("a", "b") } }),
    stage("d", "done", { kind: "requires", requirement: { RequireGroup: { min: 2, reqs: names("a", "b", "c") } } }),
  ];
  spec.completion_requirement = { And: names("c", "d") };
  return lawOf(spec);
}

const GRAPH = graphLaw();

/** Stages of the graph, by letters: blocked, ready, open, complete. */
function stagesOf(letters: string): StageState[] {
  const classifications: Readonly<Record<string, StageClassification>> = {
    b: "blocked",
    r: "ready_unopened",
    o: "open_incomplete",
    c: "complete",
  };
  return initialStages(GRAPH).map((state, index) => ({
    ...state,
    classification: classifications[letters.charAt(index)] ?? "blocked",
  }));
}

function letters(stages: readonly StageState[]): string {
  return stages.map(({ classification }) => classification.charAt(0)).join("");
}

Deno.test("initialStages() makes roots ready and blocks the others", () => {
  assert.equal(letters(initialStages(GRAPH)), "rrbb");
});

Deno.test("stagesAfterCompletion() changes only blocked stages whose prerequisite holds now, to ready", () => {
  const rows: readonly [before: string, completed: number, after: string][] = [
    ["crbb", 0, "crrb"],
    ["rcbb", 1, "rcrb"],
    ["ccrb", 1, "ccrr"],
    ["ccob", 1, "ccor"],
    ["cccb", 1, "cccr"],
    ["crcb", 2, "crcr"],
    ["ccco", 2, "ccco"],
    ["cccc", 3, "cccc"],
    ["orbb", 0, "orbb"],
  ];
  for (const [before, completed, after] of rows) {
    assert.equal(letters(stagesAfterCompletion(GRAPH, stagesOf(before), completed)), after, before);
  }
});

Deno.test("stagesSatisfy() and traceStages() count complete stages as true and all others as false", () => {
  for (const [stages, holds] of [["cccb", false], ["ccco", false], ["rrcc", true]] as const) {
    assert.equal(stagesSatisfy(GRAPH.completion, GRAPH.completionStages, stagesOf(stages)), holds, stages);
  }
  assert.deepEqual(traceStages(GRAPH.completion, GRAPH.completionStages, stagesOf("ccoc")), [
    { path: "$.And[0]", stage_id: "c", value: "false" },
    { path: "$.And[1]", stage_id: "d", value: "true" },
  ]);
});

Deno.test("readyFrontier() lists ready stages by id, and is empty for a complete run", () => {
  assert.deepEqual(readyFrontier(NEW), ["build", "scan", "spare"]);
  assert.deepEqual(readyFrontier(READY), ["ship", "spare"]);
  assert.deepEqual(readyFrontier({ ...OVER, stages: NEW.stages }), []);
});

Deno.test("readyFrontier() of a run is exactly the stages that can be opened", () => {
  for (const state of [NEW, READY, OVER]) {
    const frontier = readyFrontier(state);
    for (const { stage_id } of state.stages) {
      const { outcome } = decide(LAW, state, open(stage_id)(state), stampsAt(), environmentWith());
      assert.equal(outcome === "accepted", frontier.includes(stage_id), stage_id);
    }
  }
});
