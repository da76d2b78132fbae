/**
 * Loaded before the tests of a run that must be short: every property that names no number of runs of its own gets 20
 * of its 100.
 *
 * @module
 */

import fc from "./packages/fast_check.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 20 });
