/**
 * Loaded before the tests of a proof run: every property that names no number of runs of its own gets 5,000.
 *
 * @module
 */

import fc from "fast-check";

fc.configureGlobal({ numRuns: 5_000 });
