import assert from "node:assert/strict";
import { NOW } from "../kernel/fixture.ts";
import { readJson } from "../../../src/canonical/scan.ts";
import { CLOCK_FORGERIES, playClockRun } from "./clock_run.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge } from "./forge.ts";
import { packOf, statusesOf, verifyWhole } from "../runpack/memory.ts";
import type { VerificationReport } from "../../../src/runpack/verify/types.ts";

const RUN = playClockRun();

function violated(report: VerificationReport): Readonly<Record<string, string>> {
  const found = Object.entries(statusesOf(report)).filter(([, status]) => status.startsWith("violated "));
  return Object.fromEntries(found.map(([claim, status]) => [claim, status.split(" ")[1]?.replace(":", "") ?? ""]));
}

Deno.test("a run whose clock jumped ahead: conditions that depend on the clock are Unknown until it is at most 60,000 ms behind", () => {
  const attempts = RUN.records.flatMap(({ record }) => {
    const { record_kind, body } = readJson(record) as Editable;
    if (record_kind !== "stage_evaluated") return [];
    const trace = body.trace.map(({ condition_id, value, reason = "" }: Editable) =>
      `${condition_id} ${value} ${reason}`.trim()
    );
    return [trace.join(", ")];
  });
  assert.deepEqual(attempts, [
    "fresh true, open true, plain true, said unknown unqualified, young true",
    "fresh true, open true, plain true, said unknown unqualified, young true",
    "fresh unknown error, open unknown error, plain true, said unknown error, young unknown error",
  ]);
});

Deno.test("a run whose clock jumped verifies, with every value and with values withheld", async () => {
  for (const withheld_conditions of [[], ["fresh"], ["said", "open"]]) {
    const report = await verifyWhole(await packOf(RUN, undefined, { withheld_conditions }));
    assert.deepEqual(violated(report), {});
    const expected = withheld_conditions.length === 0 ? "satisfied" : "unavailable value_withheld";
    assert.equal(statusesOf(report)["pure_semantic_replay"], expected);
  }
});

Deno.test("a run with an expected value relative to the evaluation replays whenever it is verified", async () => {
  const pack = await packOf(RUN);
  const { now } = Date;
  const reports: VerificationReport[] = [];
  try {
    for (const instant of [0, NOW, NOW + 3000 * 86_400_000]) {
      Date.now = () => instant;
      reports.push(await verifyWhole(pack));
    }
  } finally {
    Date.now = now;
  }
  for (const report of reports) {
    assert.equal(statusesOf(report)["pure_semantic_replay"], "satisfied");
    assert.equal(report.report_identity, reports[0]?.report_identity);
  }
});

for (const { name, forge: change, violates } of CLOCK_FORGERIES) {
  Deno.test(`verifyRunpack() ${name}: ${Object.values(violates).join(", ")}`, async () => {
    assert.deepEqual(violated(await verifyWhole(forge(RUN, change))), violates);
  });
}
