import assert from "node:assert/strict";
import { createDeadlineMeter, threadMilliseconds, WorkExpired } from "./deadline_meter.ts";

/** Waits without computing. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

Deno.test("createDeadlineMeter() of processor time counts what the thread computes, not what it waits", () => {
  const spend = createDeadlineMeter(200, 1, threadMilliseconds);
  sleep(300);
  spend(1);
  const end = threadMilliseconds() + 200;
  assert.throws(() => {
    while (threadMilliseconds() < end + 200) spend(1);
  }, WorkExpired);
});

/** Readings of the clock after the start, steps before each, and whether the time is over. */
const ROWS: readonly (readonly [now: number, steps: number, isOver: boolean])[] = [
  [9, 4, false],
  [10, 3, false],
  [9, 4, false],
  [10, 4, true],
  [11, 5, true],
];

Deno.test("createDeadlineMeter() reads the clock after its steps, and ends at its time", () => {
  for (const [now, steps, isOver] of ROWS) {
    let time = 100;
    const spend = createDeadlineMeter(10, 4, () => time);
    time += now;
    if (isOver) assert.throws(() => spend(steps), WorkExpired, `${now} ${steps}`);
    else spend(steps);
  }
});
