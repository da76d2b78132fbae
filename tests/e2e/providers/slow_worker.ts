/**
 * A worker whose module takes 5,000 ms to load, and answers as the probe does.
 *
 * @module
 */

import "./probe.ts";

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
