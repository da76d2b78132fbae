import assert from "node:assert/strict";

import { createLimiter } from "./limiter.ts";

Deno.test("createLimiter() lets callers take turns, and keeps the order of each", async () => {
  const limit = createLimiter(1);
  const begun: string[] = [];
  const calls = ["a1", "a2", "a3", "a4", "b1", "c1", "b2"];
  await Promise.all(calls.map((name) =>
    limit(async () => {
      begun.push(name);
      await Promise.resolve();
    }, name[0] ?? "")
  ));
  assert.deepEqual(begun, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

Deno.test("createLimiter() runs at most so many functions at the same time, in the order of the calls", async () => {
  for (const atOnce of [1, 2, 3]) {
    const limit = createLimiter(atOnce);
    const begun: number[] = [];
    let [running, most] = [0, 0];
    const works = [0, 1, 2, 3, 4].map((name) =>
      limit(async () => {
        begun.push(name);
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        if (name === 1) throw new Error("one fails");
        return name;
      })
    );
    const ends = await Promise.allSettled(works);
    assert.deepEqual(ends.map(({ status }) => status === "fulfilled"), [true, false, true, true, true]);
    assert.deepEqual([begun, most, running], [[0, 1, 2, 3, 4], atOnce, 0]);
  }
});
