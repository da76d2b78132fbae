import assert from "node:assert/strict";
import { packOf } from "../simulation/runpack/memory.ts";
import { verifyMutations } from "../simulation/runpack/mutations.ts";
import { playGoldenRun } from "../simulation/runpack/run.ts";

/** Mutations of one seed. */
const MUTATIONS = 2000;

for (let seed = 1; seed <= 5; seed++) {
  Deno.test(`verifyRunpack() ${MUTATIONS} random mutations of a pack, seed ${seed}`, async () => {
    const pack = await packOf(playGoldenRun(seed === 5 ? 300 : 0));
    assert.equal(await verifyMutations(pack, MUTATIONS, seed), MUTATIONS);
  });
}
