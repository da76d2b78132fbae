import assert from "node:assert/strict";
import { inFolder } from "../../e2e/gate_command.ts";
import { describeLoad, runMixedLoad } from "./mixed_load.ts";

/** Memory at the end against what it was once settled. */
const GROWTH_MOST = 1.25;

Deno.test("60 seconds of writers, readers and exporters: no error, and memory stays what it was after 20", () =>
  inFolder(async (folder) => {
    const report = await runMixedLoad(folder, { seconds: 60, settledAfter: 20, writers: 8, readers: 8, exporters: 2 });
    console.log(describeLoad(report));
    assert.ok(report.mutations > 1000 && report.reads > 1000 && report.exports > 50, describeLoad(report));
    assert.ok(report.atEnd <= report.settled * GROWTH_MOST, describeLoad(report));
  }));
