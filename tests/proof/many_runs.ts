/**
 * Loaded before the tests of a proof run: every property that names no number of runs of its own gets 5,000, and all
 * properties get a new seed.
 *
 * @module
 */

import fc from "../packages/fast_check.ts";

fc.configureGlobal({ numRuns: 5_000, seed: crypto.getRandomValues(new Int32Array(1))[0] ?? 0 });
