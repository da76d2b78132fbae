import assert from "node:assert/strict";
import { inFolder } from "../../e2e/gate_command.ts";
import { describeLoad, p99Limit, runMixedLoad } from "./mixed_load.ts";

/**
 * Memory at the end against what it was half a minute before. The rule for memory is that the end is held against the
 * first minute, and the long dose goes by it; here the minute is all there is, so its second half must not grow by more.
 */
const GROWTH_MOST = 1.25;

Deno.test("60 seconds of writers, readers and exporters: no error, memory settles, mutations wait for the machine alone", () =>
  inFolder(async (folder) => {
    const report = await runMixedLoad(folder, { seconds: 60, settledAfter: 30, writers: 8, readers: 8, exporters: 2 });
    const said = describeLoad(report);
    console.log(said);
    assert.ok(report.mutations > 1000 && report.reads > 1000 && report.exports > 50, said);
    assert.ok(report.atEnd <= report.settled * GROWTH_MOST, said);
    assert.ok(report.p99 <= p99Limit(report), said);
  }));

Deno.test("p99Limit() is what mutations may take, or what a busy machine makes of requests that wait for nobody", () => {
  const rows = [[0, 20], [8, 20], [8.1, 20.25], [100, 250]] as const;
  for (const [bystanderP99, limit] of rows) assert.equal(p99Limit({ bystanderP99 }), limit);
});
