import assert from "node:assert/strict";
import type { RunStanding } from "../run/standing.ts";
import { writeSummary } from "./summary.ts";

const [A, B, C] = ["a", "b", "c"].map((condition_id) => ({
  condition_id,
  needed: true,
  sentence: `${condition_id} == 0`,
}));
const STANDING = {
  run_key: { namespace_id: 2, run_id: "1" },
  scenario_id: "release",
  status: "active",
  law: {
    conditions: ["a", "b", "c"].map((condition_id) => ({
      condition_id,
      observation_domain: { domain: "Integer" },
      predicate: { predicate: "Equals", expected: { value: 0, value_type: "Integer" } },
      evidence_use_policy: {},
    })),
    stages: [],
    acquisition_bindings: [],
  },
  stages: [],
  picture: { stages: new Map() },
  missing: [{ stage_id: "build", classification: "open_incomplete", sets: [[A, C], [B, C]] }],
  attempts: [{
    stage_id: "build",
    attempt_number: 2,
    causes: [{ condition_id: "c", value: "false", found: ["1"] }],
    met: [{ condition_id: "a", value: "true", found: ["0"] }],
    holds: ["a"],
    fails: ["c"],
  }],
} as unknown as RunStanding;

Deno.test("writeSummary() says what was found, and marks what held among what is needed", () => {
  const parts = { scenario_law_identity: "0", parameters: "", obstacles: [], runpack: null };
  assert.deepEqual(writeSummary(STANDING, parts).split("\n").filter((line) => line.startsWith("- ")), [
    "- Stage `build`: `c == 0: found 1 ✗`",
    "- Stage `build`: `a == 0: found 0 ✓`",
    "- Stage `build` needs `a == 0` (held in attempt 2) and `c == 0`, or another combination",
  ]);
});

Deno.test("writeSummary() puts needed conditions into words where a server answers with ids alone", () => {
  const sets = [[{ condition_id: "a", needed: true }, { condition_id: "b", needed: false }]];
  const missing = [{ stage_id: "build", classification: "open_incomplete", sets }];
  const standing = { ...STANDING, attempts: [], missing } as unknown as RunStanding;
  const parts = { scenario_law_identity: "0", parameters: "", obstacles: [], runpack: null };
  assert.ok(writeSummary(standing, parts).includes("\n- Stage `build` needs `a == 0` and `!(b == 0)`\n"));
});
