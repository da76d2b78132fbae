import assert from "node:assert/strict";
import { inFolder } from "../e2e/gate_command.ts";
import { describeLoad, P99_MOST, runMixedLoad } from "../full/load/mixed_load.ts";

/** Memory at the end against what it was after the first minute. */
const GROWTH_MOST = 1.25;

Deno.test("five minutes of writers, readers and exporters: no error, memory settles, mutations stay fast", () =>
  inFolder(async (folder) => {
    const report = await runMixedLoad(folder, { seconds: 300, settledAfter: 60, writers: 8, readers: 8, exporters: 2 });
    const said = describeLoad(report);
    console.log(said);
    assert.ok(report.mutations > 10_000 && report.reads > 10_000 && report.exports > 300, said);
    assert.ok(report.atEnd <= report.settled * GROWTH_MOST, said);
    assert.ok(report.p99 <= P99_MOST, said);
  }));
