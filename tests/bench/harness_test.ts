import assert from "node:assert/strict";
import { alternate, type BenchRow, compare, describeRow, holds, makeReport, median } from "./harness.ts";

function row(ratio: number, must: number | null, direction: "higher" | "lower"): BenchRow {
  const samples = { ours: [ratio], peer: [1] };
  const fixed = { row: "0", name: "n", peer: 1, peer_name: "p", unit: "u", goal: null };
  return { ...fixed, ours: ratio, ratio, must, direction, samples };
}

Deno.test("median() is the middle, or the mean of the middle two", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.throws(() => median([]), RangeError);
});

Deno.test("holds() compares with must, and with 0.7 of it on shared machines", () => {
  const table: readonly [number, number | null, "higher" | "lower", boolean, boolean][] = [
    [2, 2, "higher", true, true],
    [1.99, 2, "higher", false, true],
    [1.4, 2, "higher", false, true],
    [1.39, 2, "higher", false, false],
    [0.5, 0.5, "lower", true, true],
    [0.6, 0.5, "lower", false, true],
    [0.72, 0.5, "lower", false, false],
    [0.01, null, "higher", true, true],
    [NaN, 2, "higher", false, false],
    [NaN, 2, "lower", false, false],
    [NaN, null, "lower", false, false],
  ];
  for (const [ratio, must, direction, plain, ci] of table) {
    assert.equal(holds(row(ratio, must, direction), false), plain, `${ratio} ${must} ${direction}`);
    assert.equal(holds(row(ratio, must, direction), true), ci, `${ratio} ${must} ${direction} ci`);
  }
});

Deno.test("alternate() takes turns, changes who is first and leaves warm-up out", async () => {
  const calls: string[] = [];
  const samples = await alternate(() => calls.push("o"), () => calls.push("p"), { counted: 5, warmUp: 1 });
  assert.equal(calls.join(""), "oppooppooppo");
  assert.deepEqual(samples, { ours: [4, 5, 8, 9, 12], peer: [3, 6, 7, 10, 11] });
  await assert.rejects(alternate(() => 1, () => 1, { counted: 4 }), RangeError);
});

Deno.test("compare() makes a row of medians that the report and its line carry", async () => {
  const spec = { row: "8", name: "n", peer_name: "peer", unit: "MB/s", must: 2, goal: 3, direction: "higher" } as const;
  const made = await compare({ ...spec, ceiling: "native", ours: () => 300, peer: () => Promise.resolve(100) });
  assert.equal(made.ratio, 3);
  assert.equal(
    describeRow(made, false),
    "8   goal   n: 300 MB/s, peer 100 MB/s, ratio 3.00 (must >= 2, goal >= 3; ceiling: native)",
  );
  assert.deepEqual(makeReport({ rows: [made], curves: {}, quick: false, failed: [], load: 0 }).rows, [made]);
});
