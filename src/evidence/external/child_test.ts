import assert from "node:assert/strict";
import { stoppedClock } from "../../../tests/clock.ts";
import { drain } from "./child.ts";

/** A stream whose next chunk is always there. */
function flood(chunks: number): ReadableStream<Uint8Array> {
  let left = chunks;
  return new ReadableStream({
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(new Uint8Array(1));
      else controller.close();
    },
  });
}

Deno.test("drain() lets other work run between the chunks of five floods", async () => {
  using clock = stoppedClock();
  const events: string[] = [];
  const turn = (): void => {
    events.push("turn");
    timer = setTimeout(turn);
  };
  let timer = setTimeout(turn);
  const floods = Array.from({ length: 5 }, () =>
    drain(flood(4), () => {
      events.push("chunk");
      clock.pass(11);
    }));
  await Promise.all(floods);
  clearTimeout(timer);
  assert.equal(events.filter((event) => event === "chunk").length, 20);
  // Each flood begins without waiting, and after that there is one chunk in a turn.
  const begun = events.slice(5).join(" ");
  assert.doesNotMatch(begun, /chunk chunk/);
});

Deno.test("drain() of output that takes no time waits for no turn", async () => {
  using _clock = stoppedClock();
  let turns = 0;
  const timer = setInterval(() => turns++);
  await drain(flood(100), () => {});
  clearInterval(timer);
  assert.equal(turns, 0);
});
