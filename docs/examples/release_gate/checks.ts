/**
 * The real checks of this checkout that the demo turns into evidence.
 *
 * @module
 */

import { fromFileUrl, inheritedEnvironment } from "./environment.ts";

/** The folder of this checkout. */
export const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));

/** No check may take longer, milliseconds. */
const CHECK_TIMEOUT = 120_000;

/** How a command ended; a null exit code says that it could not be run to its end, so that nothing is known. */
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly output: string;
  readonly seconds: number;
}

/** Runs this Deno in the checkout and waits for its end. */
export async function runDeno(args: readonly string[]): Promise<CommandEnd> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: CHECKOUT,
      env: inheritedEnvironment(),
      signal: AbortSignal.timeout(CHECK_TIMEOUT),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    return { exitCode: code, output: decoder.decode(stdout) + decoder.decode(stderr), seconds: seconds() };
  } catch (error) {
    return { exitCode: null, output: String(error), seconds: seconds() };
  }
}

/** What one test shard counted; null where it could not be counted. */
export interface TestCount {
  readonly passed: number | null;
  readonly failed: number | null;
  readonly seconds: number;
}

/** Runs the tests of some folders and counts them from the runner's own report. */
export async function countTests(folders: readonly string[]): Promise<TestCount> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  try {
    const end = await runDeno(["test", "--quiet", "--no-prompt", "-A", `--junit-path=${report}`, ...folders]);
    const totals = /<testsuites [^>]*tests="(\d+)" failures="(\d+)" errors="(\d+)"/.exec(
      await Deno.readTextFile(report),
    );
    if (end.exitCode === null || totals === null) return { passed: null, failed: null, seconds: end.seconds };
    const failed = Number(totals[2]) + Number(totals[3]);
    // A runner that ends badly without a failed test has not told everything it knows.
    if (end.exitCode !== 0 && failed === 0) return { passed: null, failed: null, seconds: end.seconds };
    return { passed: Number(totals[1]) - failed, failed, seconds: end.seconds };
  } finally {
    await Deno.remove(report);
  }
}

/** Whether the command line reports the version that `deno.json` declares; null where it reports none. */
export async function versionReported(): Promise<boolean | null> {
  const { version } = JSON.parse(await Deno.readTextFile(`${CHECKOUT}deno.json`)) as { version: string };
  const end = await runDeno(["run", "--no-prompt", "-A", "main.ts", "--version"]);
  return end.exitCode === null ? null : end.exitCode === 0 && end.output.includes(version);
}
