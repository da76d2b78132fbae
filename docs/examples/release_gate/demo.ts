/**
 * The entry of the demo: says what it downloads and how long it takes, then gates the release in a process that downloads
 * only the packages that it runs. This module imports no package, so the first line is shown before any download.
 *
 * @module
 */

import { CHECKOUT, LOAD_WHEN_NEEDED } from "./checks.ts";
import { downloadsLine, OF_THE_DEMO } from "./downloads.ts";
import { fromFileUrl, inheritedEnvironment } from "./environment.ts";

const PROGRAM = fromFileUrl(new URL("./gated_release.ts", import.meta.url));

if (import.meta.main) {
  console.log(downloadsLine(OF_THE_DEMO, "checks and gates this checkout: half a minute on two cores"));
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
