import assert from "node:assert/strict";
import { delayBuckets, LATE_MOST, lateP999, measureLoop } from "../bench/rows/loop_bench.ts";

/** A busy machine may take this many times what the benchmark allows. */
const BUSY = 3;
/** Milliseconds that 99 of 100 requests for `/healthz` may take beside that load. */
const HEALTH_MOST = 300;

Deno.test("verification, export and 256 callers keep the serving thread from nothing for long", async () => {
  const report = await measureLoop(25);
  const told = JSON.stringify(report);
  console.log(told);
  assert.ok(report.looks > 500 && report.done.verify > 4 && report.done.export > 1, told);
  assert.ok(report.done.define > 4 && report.done.status > 240, told);
  assert.ok(report.late <= LATE_MOST * BUSY, told);
  assert.ok(report.health <= HEALTH_MOST, told);
});

/** Looks within 100 ms, within 300 ms and in all before and after; the bound within which 99.9 of 100 came. */
const ROWS: readonly (readonly [before: readonly number[], after: readonly number[], late: number])[] = [
  [[0, 0, 0], [1000, 1000, 1000], 100],
  [[0, 0, 0], [999, 1000, 1000], 100],
  [[0, 0, 0], [998, 1000, 1000], 300],
  [[0, 0, 0], [0, 998, 1000], Infinity],
  [[0, 10, 10], [1000, 1010, 1010], 100],
  [[5, 5, 5], [5, 5, 5], Infinity],
];

for (const [before, after, late] of ROWS) {
  Deno.test(`lateP999() of ${before.join()} and then ${after.join()} is ${late}`, () => {
    const text = ([a, b, c]: readonly number[]): string =>
      ["0.1", "0.3", "+Inf"].map((bound, at) => `gate_loop_delay_seconds_bucket{le="${bound}"} ${[a, b, c][at]}\n`)
        .join("");
    assert.equal(lateP999(delayBuckets(text(before)), delayBuckets(text(after))).late, late);
  });
}
