import assert from "node:assert/strict";
import { LOCAL } from "../../tools/tests/tools_fixture.ts";
import { createLoopDelay } from "../http_host.ts";
import { createMetrics } from "./metrics.ts";

/** The times of measurements that are due each 20 ms, and the recorded delays. */
const ROWS: readonly (readonly [looks: readonly number[], delays: readonly number[]])[] = [
  [[20, 40, 60], [0, 0, 0]],
  [[25, 45], [5, 0]],
  [[39, 60], [19, 1]],
  [[40, 60], [20, 0, 0]],
  [[121, 141], [101, 81, 61, 41, 21, 1, 0]],
];

for (const [looks, delays] of ROWS) {
  Deno.test(`createLoopDelay() looks at ${looks.join()}: late by ${delays.join()}`, () => {
    const recorded: number[] = [];
    let time = 0;
    const look = createLoopDelay({ metrics: { loopDelayed: (late) => void recorded.push(late) }, now: () => time });
    for (time of looks) look();
    assert.deepEqual(recorded, delays);
  });
}

Deno.test("the metrics render a delay in seconds", () => {
  const metrics = createMetrics();
  for (const late of [0, 99, 101, 151]) metrics.loopDelayed(late);
  const text = metrics.render(LOCAL);
  for (
    const line of [
      'gate_loop_delay_seconds_bucket{le="0.05"} 1',
      'gate_loop_delay_seconds_bucket{le="0.1"} 2',
      'gate_loop_delay_seconds_bucket{le="0.15"} 3',
      'gate_loop_delay_seconds_bucket{le="0.2"} 4',
      "gate_loop_delay_seconds_count 4",
    ]
  ) assert.ok(text.split("\n").includes(line), `${line} in ${text}`);
});
