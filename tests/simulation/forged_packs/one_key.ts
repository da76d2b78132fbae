/**
 * A run in which one key, trusted under two ids, signs both items of a quorum of two.
 *
 * @module
 */

import type { ProcedureName } from "../../../src/run/types.ts";
import { KEY_1, NOW, oneConditionLaw, type TestKey, trusting } from "../kernel/fixture.ts";
import { play } from "./played.ts";
import type { PlayedRun } from "../runpack/run.ts";

const SAME_KEY: TestKey = { ...KEY_1, key_id: "ci-1-again" };

/** Plays the run. No server starts with such keys. */
export function playOneKey(procedure: ProcedureName): PlayedRun {
  const law = oneConditionLaw({
    allowed_channels: ["caller_submission"],
    authorization: "signature",
    combination: { combination: "Quorum", minimum: 2 },
  });
  const trust = { min_lane: "verified", default_policy: trusting(KEY_1, SAME_KEY), providers: [] } as const;
  const caller = [KEY_1, SAME_KEY].map((key) => ({ value: 1, key, observed_at: NOW }));
  return play(law, { trust }, [{ caller, acquired: {} }], procedure);
}
