import assert from "node:assert/strict";
import { startTimeLimit } from "./bounded_request.ts";

for (const millis of [2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
  Deno.test(`startTimeLimit() takes ${millis} ms for a long time`, async () => {
    const limit = startTimeLimit(millis, new AbortController().signal);
    // A timer that cannot be set so far ahead rings at once, before one that was set later.
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(limit.isOver(), false);
    assert.ok(limit.left() > 2 ** 30 && limit.left() < 2 ** 31);
    limit.end();
  });
}

Deno.test("startTimeLimit() takes no time for none", async () => {
  const limit = startTimeLimit(0, new AbortController().signal);
  const over = new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
  await over;
  assert.equal(limit.isOver(), true);
  limit.end();
});

Deno.test("startTimeLimit() pause() stops the clock, and what was left is left when it goes on", async () => {
  const limit = startTimeLimit(20, new AbortController().signal);
  const resume = limit.pause();
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(limit.isOver(), false);
  const over = new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
  resume();
  assert.ok(limit.left() <= 20);
  await over;
  assert.equal(limit.isOver(), true);
  limit.end();
});
