import assert from "node:assert/strict";
import type { AcceptedSteps } from "../../run/decide/decide_steps.ts";
import type { AcceptedCall } from "../mutation/derived_mutation.ts";
import { searchStages, type TriedStep } from "../scenario_next.ts";

/** What a stage gives by its first letter; the stage itself can be told from the answer. */
function tried(stage: string): TriedStep {
  switch (stage[0]) {
    case "c":
      return { decisions: stage } as unknown as AcceptedSteps;
    case "r":
      return { steps: stage } as unknown as AcceptedCall;
    case "f":
      return { outcome: "acquisition_failed", result: { stage } };
    default:
      return { outcome: "evidence_rejected", result: { stage } };
  }
}

/**
 * Stages that change (c), repeat (r), fail (f) or reject (e), milliseconds of each, when the caller leaves, how many
 * are tried, and the stage of the answer.
 */
const ROWS: readonly [string, number, number, number, string][] = [
  ["c1 c2", 1, Infinity, 1, "c1"],
  ["r1 c2", 1, Infinity, 2, "c2"],
  ["r1 r2 r3", 1, Infinity, 3, "r1"],
  ["r1 f2 f3", 1, Infinity, 3, "f2"],
  ["f1 r2", 1, Infinity, 2, "f1"],
  ["f1 c2", 1, Infinity, 2, "c2"],
  ["e1 c2", 1, Infinity, 1, "e1"],
  ["r1 e2 c3", 1, Infinity, 3, "c3"],
  ["r1 e2", 1, Infinity, 2, "r1"],
  ["f1 e2", 1, Infinity, 2, "f1"],
  ["r1 c2", 9999, Infinity, 2, "c2"],
  ["r1 c2", 10_000, Infinity, 1, "r1"],
  ["r1 r2 c3", 5000, Infinity, 2, "r1"],
  ["r1 r2 c3", 1, 2, 2, "r1"],
];

for (const [stages, millis, gone, count, expected] of ROWS) {
  Deno.test(`searchStages(${stages}) of ${millis} ms each, caller gone after ${gone}, tries ${count}: ${expected}`, async () => {
    const caller = new AbortController();
    let calls = 0;
    const answer = await searchStages(
      stages.split(" "),
      (stage) => {
        if (++calls === gone) caller.abort();
        return Promise.resolve(tried(stage));
      },
      caller.signal,
      () => calls * millis,
    );
    assert.deepEqual([answer, calls], [tried(expected), count]);
  });
}
