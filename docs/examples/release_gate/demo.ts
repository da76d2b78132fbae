/**
 * The entry of the demo: says what it downloads and how long it takes, then gates the release in a process that downloads
 * only the packages that it runs. This module imports no package, so the first line is shown before any download.
 *
 * @module
 */

import { CHECKOUT, LOAD_WHEN_NEEDED } from "./checks.ts";
import { fromFileUrl, inheritedEnvironment } from "./environment.ts";

/** At most so many packages are downloaded at the first run. */
export const PACKAGES_MAX = 30;

/** At most so many megabytes of packages are downloaded at the first run, as they are on disk. */
export const MEGABYTES_MAX = 30;

const PROGRAM = fromFileUrl(new URL("./gated_release.ts", import.meta.url));

if (import.meta.main) {
  console.log(
    `Downloads at most ${PACKAGES_MAX} packages from npm (${MEGABYTES_MAX} MB) where they are not cached: some 5 seconds, ` +
      "then half a minute for the checks",
  );
  const { NO_COLOR: _, ...environment } = inheritedEnvironment();
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--frozen", "--no-prompt", "--quiet", ...LOAD_WHEN_NEEDED, "-P=test", PROGRAM],
    cwd: CHECKOUT,
    clearEnv: true,
    env: { ...environment, ...(Deno.noColor ? { NO_COLOR: "1" } : {}) },
    stdin: "null",
  }).spawn().status;
  Deno.exit(code);
}
