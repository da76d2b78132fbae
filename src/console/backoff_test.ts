import assert from "node:assert/strict";
import { reconnectDelay } from "./gate_client.ts";

const ROWS: readonly (readonly [failures: number, least: number, most: number])[] = [
  [0, 500, 1_000],
  [1, 1_000, 2_000],
  [5, 16_000, 32_000],
  [6, 30_000, 60_000],
  [7, 30_000, 60_000],
  [10_000, 30_000, 60_000],
];

for (const [failures, least, most] of ROWS) {
  Deno.test(`reconnectDelay() after ${failures} further failures: ${least} to ${most} ms`, () => {
    assert.deepEqual([reconnectDelay(failures, 0), reconnectDelay(failures, 1)], [least, most]);
  });
}
