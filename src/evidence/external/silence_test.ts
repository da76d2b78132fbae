import assert from "node:assert/strict";
import { createSilence } from "./connections.ts";

/** Name, steps at their times, and the milliseconds of silence at 100. */
const ROWS: readonly (readonly [string, readonly (readonly [number, "begin" | "end" | "answered"])[], number])[] = [
  ["no query", [], 0],
  ["a query that waits", [[40, "begin"]], 60],
  ["a query that was left", [[40, "begin"], [60, "end"]], 20],
  ["two queries that were left", [[10, "begin"], [20, "end"], [50, "begin"], [80, "end"]], 40],
  ["two queries at one time", [[10, "begin"], [20, "begin"], [30, "end"], [50, "end"]], 40],
  ["an answer", [[40, "begin"], [60, "answered"], [60, "end"]], 0],
  ["an answer while another waits", [[10, "begin"], [20, "begin"], [70, "answered"], [70, "end"]], 30],
  ["a query after an answer", [[40, "begin"], [60, "answered"], [60, "end"], [90, "begin"]], 10],
];

for (const [name, steps, expected] of ROWS) {
  Deno.test(`createSilence() given ${name}: ${expected} ms`, () => {
    let now = 0;
    const silence = createSilence(() => now);
    for (const [time, step] of steps) {
      now = time;
      silence[step]();
    }
    now = 100;
    assert.equal(silence.milliseconds(), expected);
  });
}
