import assert from "node:assert/strict";
import { failoverRound } from "./failover.ts";

/** Rounds of every full run; `deno task proof` runs two hundred. */
const ROUNDS = 3;

for (let seed = 1; seed <= ROUNDS; seed++) {
  Deno.test(`a fleet keeps every answer over the loss of servers, lines and the primary, seed ${seed}`, async () => {
    const report = await failoverRound(seed);
    assert.ok(report.repeated > 0, "no answer was uncertain");
    assert.equal(report.faults.length, 5);
  });
}

Deno.test("the check finds answers that an asynchronous standby lost", async () => {
  await assert.rejects(failoverRound(1, false), /^AssertionError.*: An accepted call answers \{/);
});
