import assert from "node:assert/strict";
import { CliError } from "../terminal/cli_error.ts";
import { durationOf, pauseBefore } from "./run.ts";

/** Text, and the duration in milliseconds; null where it is refused. */
const DURATIONS: readonly [string, number | null][] = [
  ["1s", 1000],
  ["90s", 90_000],
  ["15m", 900_000],
  ["168h", 604_800_000],
  ["169h", null],
  ["0s", null],
  ["10", null],
  ["1.5m", null],
  ["-1s", null],
  ["1d", null],
  ["", null],
];

for (const [text, expected] of DURATIONS) {
  Deno.test(`durationOf() of "${text}": ${expected ?? "refused"}`, () => {
    if (expected === null) assert.throws(() => durationOf(text), CliError);
    else assert.equal(durationOf(text), expected);
  });
}

Deno.test("pauseBefore() doubles from 2 s to 60 s, and ends with the wait", () => {
  const pauses = Array.from({ length: 8 }, (_, look) => pauseBefore(look, 1_000_000));
  assert.deepEqual(pauses, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  assert.equal(pauseBefore(1000, 1_000_000), 60_000);
  assert.deepEqual([pauseBefore(0, 1999), pauseBefore(3, 100)], [1999, 100]);
});
