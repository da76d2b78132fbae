import assert from "node:assert/strict";
import { packOf } from "./memory.ts";
import { verifyMutations } from "./mutations.ts";
import { playGoldenRun } from "./run.ts";

/** Mutations of every run of the tests; `deno task proof` tries 10,000. */
const MUTATIONS = 500;

Deno.test("verifyRunpack() no random mutation of a pack verifies, crashes or costs more than the pack", async () => {
  const pack = await packOf(playGoldenRun());
  assert.equal(await verifyMutations(pack, MUTATIONS, 1), MUTATIONS);
});
