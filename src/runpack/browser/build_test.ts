import assert from "node:assert/strict";
import { withBundler } from "./build.ts";

const RACING =
  "error: failed to copy esbuild binary from /a to /b\n\nCaused by:\n    No such file or directory (os error 2)\n";
const BROKEN = "error: Module not found";

/** What the bundler writes to standard error in each run, empty where it succeeds; how it ends, and after how many runs. */
const ROWS: readonly (readonly [name: string, said: readonly string[], success: boolean, runs: number])[] = [
  ["it succeeds", ["", BROKEN], true, 1],
  ["another process installs it", [RACING, ""], true, 2],
  ["another process installs it, and the source is broken", [RACING, BROKEN], false, 2],
  ["it cannot be installed", [RACING, RACING, ""], false, 2],
  ["the source is broken", [BROKEN, ""], false, 1],
];

for (const [name, said, success, runs] of ROWS) {
  Deno.test(`withBundler() ${name}: ${success} after ${runs} runs`, async () => {
    let count = 0;
    const output = await withBundler(() => {
      const stderr = new TextEncoder().encode(said[count++]);
      return Promise.resolve({ success: stderr.length === 0, stderr });
    });
    assert.deepEqual([output.success, count], [success, runs]);
  });
}
