import assert from "node:assert/strict";
import { crashRound } from "../simulation/crash/round.ts";

/** The tests run seeds 1 to 10; these are the rest of the hundred. */
const FIRST_SEED = 11;
const LAST_SEED = 100;

for (let seed = FIRST_SEED; seed <= LAST_SEED; seed++) {
  Deno.test(`a server killed under load keeps every answer it gave, seed ${seed}`, async () => {
    const report = await crashRound(seed);
    assert.ok(report.accepted > 0, "no call was accepted before the end");
  });
}
