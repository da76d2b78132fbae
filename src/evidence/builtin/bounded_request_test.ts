import assert from "node:assert/strict";
import { stoppedClock } from "../../../tests/clock.ts";
import { startTimeLimit } from "./bounded_request.ts";

for (const millis of [2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
  Deno.test(`startTimeLimit() does not expire at once for ${millis} ms`, async () => {
    const limit = startTimeLimit(millis, new AbortController().signal);
    // A timer beyond the maximum would fire at once, before one that was set later.
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(limit.isOver(), false);
    assert.ok(limit.left() > 2 ** 30 && limit.left() < 2 ** 31);
    limit.end();
  });
}

Deno.test("startTimeLimit() expires at once for 0 ms", async () => {
  const limit = startTimeLimit(0, new AbortController().signal);
  const over = new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
  await over;
  assert.equal(limit.isOver(), true);
  limit.end();
});

Deno.test("startTimeLimit() pause() suspends the limit and preserves the remaining time", async () => {
  using _ = stoppedClock();
  const limit = startTimeLimit(20, new AbortController().signal);
  const resume = limit.pause();
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(limit.isOver(), false);
  const over = new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
  resume();
  assert.ok(limit.left() === 20);
  await over;
  assert.equal(limit.isOver(), true);
  limit.end();
});
