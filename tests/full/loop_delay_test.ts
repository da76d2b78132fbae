import assert from "node:assert/strict";
import { delayBuckets, lateP999, measureLoop } from "../bench/rows/loop_bench.ts";

// How late the thread is in milliseconds is judged by the benchmark, on a machine without other work.
Deno.test("verification, export and 256 callers leave the serving thread to others", async () => {
  const report = await measureLoop(25);
  const told = JSON.stringify(report);
  console.log(told);
  assert.ok(report.looks > 500 && report.done.verify > 4 && report.done.export > 1, told);
  assert.ok(report.done.define > 4 && report.done.status > 240, told);
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
