import assert from "node:assert/strict";
import type { StageStanding } from "../run/missing_stage.ts";
import { describeStage } from "./explain_view.ts";

const READY: StageStanding = {
  stage_id: "build",
  classification: "ready_unopened",
  sets: [[{ condition_id: "tests", needed: true }]],
  complete: true,
  evidence: [{
    condition_id: "tests",
    channels: ["caller_submission"],
    domain: { domain: "Boolean" },
    predicate: { predicate: "Exists" },
    retention: "RetainCanonicalValue",
    policy: {},
  }],
};

Deno.test("describeStage() says which bound was hit, and nothing where none was", () => {
  const whole = describeStage(READY, false);
  assert.doesNotMatch(whole, /more/);
  const rows: readonly [Partial<StageStanding>, string][] = [
    [{ complete: false }, "    tests\n    or another set: there may be more than are shown\n"],
    [{ complete: false, sets: [], evidence: [] }, "  To be complete it needs\n    more than can be shown here\n"],
    [{ evidence_left_out: 1 }, "    and that for 1 more condition\n"],
    [{ evidence_left_out: 68 }, "    and that for 68 more conditions\n"],
  ];
  for (const [change, told] of rows) {
    const text = describeStage({ ...READY, ...change }, false);
    assert.ok(text.includes(told), text);
  }
});
