import assert from "node:assert/strict";
import { complete, evaluate, LAW, open, play } from "../../../tests/simulation/kernel/release.ts";
import type { Accepted } from "../../run/command.ts";
import { countDecisions } from "./decision_counts.ts";

const DECISIONS = play(
  LAW,
  open("build"),
  evaluate("build", "built", false),
  ...complete("scan", "scanned"),
) as Accepted[];

function valuesOf(measures: ReturnType<ReturnType<typeof countDecisions>["measures"]>): Record<string, number> {
  return Object.fromEntries(
    measures.map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(" "), value]),
  );
}

Deno.test("countDecisions() counts runs and attempts by outcome; unused outcomes are zero", () => {
  const { decided, measures, detailed } = countDecisions();
  for (const decision of DECISIONS) decided("release", decision);
  assert.deepEqual(valuesOf(measures()), {
    gate_runs_started_total: 1,
    gate_runs_completed_total: 0,
    "gate_attempts_total true": 1,
    "gate_attempts_total false": 1,
    "gate_attempts_total unknown": 0,
  });
  assert.deepEqual(valuesOf(detailed()), {
    "gate_runs_started_total release": 1,
    "gate_attempts_total true release": 1,
    "gate_attempts_total false release": 1,
  });
});

for (const [count, others] of [[199, 0], [200, 0], [201, 1]] as const) {
  Deno.test(`countDecisions() of ${count} scenarios counts ${others} as other`, () => {
    const { decided, detailed } = countDecisions();
    const [created] = DECISIONS;
    for (let at = 0; at < count; at++) if (created !== undefined) decided(`scenario-${at}`, created);
    const found = detailed();
    assert.equal(found.length, Math.min(count, 200) + others);
    assert.equal(found.filter(({ labels }) => labels["scenario"] === "other").length, others);
  });
}
