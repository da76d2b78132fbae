import assert from "node:assert/strict";
import { crashRound } from "./round.ts";

/** Rounds of every run of the tests; `deno task proof` runs the other ninety. */
const ROUNDS = 10;

for (let seed = 1; seed <= ROUNDS; seed++) {
  Deno.test(`a server killed under load keeps every answer it gave, seed ${seed}`, async () => {
    const report = await crashRound(seed);
    assert.ok(report.accepted > 0, "no call was accepted before the end");
    assert.ok(report.unanswered > 0, "no call was cut off");
  });
}
