import assert from "node:assert/strict";
import { failoverRound } from "../full/postgres/failover.ts";

/** The full tests run seeds 1 to 5; these are the rest of two hundred. */
const FIRST_SEED = 6;
const LAST_SEED = 200;

for (let seed = FIRST_SEED; seed <= LAST_SEED; seed++) {
  Deno.test(`a fleet keeps every answer over the loss of servers, lines and the primary, seed ${seed}`, async () => {
    assert.ok((await failoverRound(seed)).repeated > 0, "no answer was uncertain");
  });
}
