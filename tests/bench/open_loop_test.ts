import assert from "node:assert/strict";
import { openLoop } from "./open_loop.ts";

Deno.test("openLoop() counts what a late answer delays from when it was due", async () => {
  // One caller has 10 calls due within 10 ms, and each answer takes 30 ms.
  let calls = 0;
  const act = async (): Promise<void> => {
    calls++;
    await new Promise((resolve) => setTimeout(resolve, 30));
  };
  const latencies = await openLoop([act], 1000, 9.5);
  assert.equal(calls, 10);
  assert.equal(latencies.length, 10);
  // A loop that waits for answers would measure about 30 ms each time.
  latencies.forEach((latency, index) => assert.ok(latency >= 30 * (index + 1) - index - 5, `${index}: ${latency}`));
});

Deno.test("openLoop() lets callers call in turns", async () => {
  const calls: number[] = [];
  await openLoop([0, 1, 2].map((caller) => () => Promise.resolve(calls.push(caller))), 1000, 5.5);
  assert.deepEqual(calls, [0, 1, 2, 0, 1, 2]);
});
