import { KEY_1, NOW, trusting } from "../../simulation/kernel/fixture.ts";
import { DECIMAL } from "../../simulation/forged_packs/absent_values.ts";
import { type Given, play, twoConditionLaw } from "../../simulation/forged_packs/played.ts";
import { playClockRun } from "../../simulation/forged_packs/clock_run.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { playParametersRun } from "../../simulation/pack_vectors/parameters_run.ts";
import { playPeople } from "../../simulation/forged_packs/people.ts";
import { playWaiting } from "../../simulation/forged_packs/waiting.ts";
import type { Parts } from "../../simulation/forged_packs/forge.ts";
import { bindArtifacts, deployRun, goldenKey, rewritten, rewrittenParameters } from "./packs.ts";
import { chooserOf, compare, SecondVerifier, SEED } from "./process.ts";

/** An attempt of which a value will be absent: bare and bound signatures, and values that are equal by number. */
const ABSENT: Given = {
  caller: [{ value: "1.5", key: KEY_1, observed_at: NOW }],
  acquired: {
    "scan-1": { value: 1.5, key: KEY_1, bare: true },
    "scan-2": { value: "1.50", key: KEY_1, observed_at: NOW },
    "env-1": { value: 1.5, hash: "right" },
    "ledger-1": { value: { error: "jsonpath_not_found" } },
  },
  branch: "main",
};
/** A policy that trusts the key of the provider `scanner`. */
const TRUSTING = {
  trust: {
    min_lane: "verified",
    default_policy: "audit",
    providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
  },
} as const;

/** Rewrites of each run. */
const REWRITES = Number(Deno.env.get("GATE_SECOND_VERIFIER_REWRITES") ?? 50);

Deno.test(`two verifiers agree on ${8 * REWRITES} packs that were rewritten in single places and hash from end to end`, async () => {
  await using second = new SecondVerifier();
  const trusted_keys = [await goldenKey()];
  const deploy = await deployRun();
  // The vectors only name contracts and a schema. With those of the test the signatures are over another head; without, they verify.
  const asRecorded = (parts: Parts): void => void parts.artifacts.splice(0, parts.artifacts.length - 1);
  const absent = play(twoConditionLaw({ independence: "distinct_provider" }, DECIMAL), TRUSTING, [ABSENT]);
  const withheld = (parts: Parts): void => void parts.withheld.push("branch");
  const runs = [
    [playGoldenRun(), () => {}],
    [deploy, bindArtifacts],
    [deploy, asRecorded],
    [absent, withheld],
    [playParametersRun(), () => {}],
    [playClockRun(), () => {}],
    [playWaiting(), () => {}],
    [playPeople(), () => {}],
  ] as const;
  for (const [index, [run, prepare]] of runs.entries()) {
    const choose = chooserOf(SEED + index);
    for (let round = 0; round < REWRITES; round++) {
      const pack = rewritten(run, choose, prepare);
      if (pack === null) continue;
      await compare(
        second,
        pack,
        round % 3 === 0
          ? { trusted_keys }
          : round % 3 === 1
          ? {}
          : { budget: { canonical_work_bytes: choose(200_000), records: 1 + choose(30) } },
        `run ${index}, seed ${SEED}, round ${round}`,
      );
    }
  }
});

Deno.test(`two verifiers agree on ${REWRITES} packs whose parameters, or what they touch, were rewritten`, async () => {
  await using second = new SecondVerifier();
  const run = playParametersRun();
  const choose = chooserOf(SEED + 70);
  for (let round = 0; round < REWRITES; round++) {
    const pack = rewrittenParameters(run, choose);
    if (pack === null) continue;
    await compare(second, pack, {}, `parameters, seed ${SEED}, round ${round}`);
  }
});
