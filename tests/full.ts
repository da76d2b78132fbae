/**
 * The tests that need more than Deno: programs of Debian packages, or packages under Node. A missing prerequisite fails.
 *
 * @module
 */

import type { Step } from "./steps.ts";

/** Every step of `deno task test:full`. */
export const FULL_STEPS: readonly Step[] = [
  {
    name: "the kernel on Node",
    kind: "tests",
    options: [],
    paths: ["tests/full"],
    minutes: 5,
    needs: [{ program: "node", debianPackage: "nodejs" }],
  },
];
