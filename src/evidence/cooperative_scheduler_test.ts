import assert from "node:assert/strict";
import { stoppedClock, type TestClock } from "../../tests/clock.ts";
import { inTurns } from "./cooperative_scheduler.ts";

/** Takes 2 ms at a time, and records when. */
function* busy(name: string, times: number, said: string[], clock: TestClock): Generator<undefined, string> {
  for (let time = 0; time < times; time++) {
    said.push(name);
    clock.pass(2);
    yield;
  }
  return name;
}

Deno.test("inTurns() runs other work between time slices, one slice at a time", async () => {
  using clock = stoppedClock();
  const said: string[] = [];
  let isDone = false;
  const names = Array.from("abcdefgh");
  const work = Promise.all(names.map((name) => inTurns(busy(name, 20, said, clock)))).finally(() => isDone = true);
  // All begin together.
  said.length = 0;
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve));
    said.push("|");
  }
  assert.deepEqual(await work, names);
  const gaps = said.join("").split("|").map((gap) => new Set(gap).size);
  assert.ok(gaps.length > names.length, said.join(""));
  assert.ok(Math.max(...gaps) <= 3, said.join(""));
});

Deno.test("inTurns() rejects with the error of the work", async () => {
  function* wrong(): Generator<undefined> {
    yield;
    throw new RangeError("wrong");
  }
  await assert.rejects(inTurns(wrong()), RangeError);
});
