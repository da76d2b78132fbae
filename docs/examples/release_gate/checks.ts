/**
 * The real checks of this checkout, written down where gate can read their results.
 *
 * @module
 */

import { testFilesIn } from "../../../tests/steps.ts";
import { fromFileUrl, inheritedEnvironment } from "./environment.ts";

const CHECKOUT_URL = new URL("../../../", import.meta.url);

/** The folder of this checkout. */
export const CHECKOUT = fromFileUrl(CHECKOUT_URL);

/** No check may take longer, milliseconds. */
const CHECK_TIMEOUT = 600_000;

/** How a command ended; a null exit code says that it could not be run to its end, so that nothing is known. */
export interface CommandEnd {
  readonly exitCode: number | null;
  /** What it wrote on standard output alone: standard error may report downloads. */
  readonly output: string;
  /** What it said on standard error, or why it could not be run. */
  readonly errors: string;
  readonly seconds: number;
}

/** Runs a program in the checkout and waits for its end. */
export async function runProgram(program: string, args: readonly string[]): Promise<CommandEnd> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  try {
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: [...args],
      cwd: CHECKOUT,
      env: inheritedEnvironment(),
      signal: AbortSignal.timeout(CHECK_TIMEOUT),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    return {
      exitCode: code,
      output: decoder.decode(stdout),
      errors: decoder.decode(stderr),
      seconds: seconds(),
    };
  } catch (error) {
    return { exitCode: null, output: "", errors: String(error), seconds: seconds() };
  }
}

/** How a reader starts this Deno: npm keeps the program of a package that it runs once in a cache of its own. */
export const THIS_DENO = Deno.execPath().includes("_npx") ? `npx -y deno@${Deno.version.deno}` : "deno";

/** Flags with which the runtime downloads only the packages of the modules that it runs. */
export const LOAD_WHEN_NEEDED = ["--unstable-npm-lazy-caching", "--unstable-lazy-dynamic-imports"];

/** The lock that also has the packages that tests alone use. */
export const OF_TESTS = ["--frozen", "--lock=tests/deno.lock"];

/** Runs this Deno in the checkout. */
export function runDeno(args: readonly string[]): Promise<CommandEnd> {
  return runProgram(Deno.execPath(), args);
}

/** Runs gate from the checkout under a named set of permissions. */
export function runGate(permissions: "serve" | "verify", args: readonly string[]): Promise<CommandEnd> {
  return runDeno(["run", "--no-prompt", "--quiet", ...LOAD_WHEN_NEEDED, `-P=${permissions}`, "main.ts", ...args]);
}

/** What one test shard counted; null where it could not be counted. */
export interface TestCount {
  readonly passed: number | null;
  readonly failed: number | null;
  readonly seconds: number;
}

/**
 * Runs the tests of some folders and counts them from the runner's own report. One module imports them all, so that the
 * program is loaded once; their types are a check of their own.
 */
export async function countTests(folders: readonly string[]): Promise<TestCount> {
  const own = await Deno.makeTempDir();
  const report = `${own}/report.xml`;
  const files = testFilesIn(folders.map((folder) => `${CHECKOUT}${folder}`));
  try {
    await Deno.writeTextFile(
      `${own}/all_test.ts`,
      files.map((file) => `import "${new URL(file.slice(CHECKOUT.length), CHECKOUT_URL)}";\n`).join(""),
    );
    const end = await runDeno([
      "test",
      "--quiet",
      "--no-prompt",
      "--no-check",
      ...LOAD_WHEN_NEEDED,
      ...OF_TESTS,
      "-P=test",
      `--junit-path=${report}`,
      `${own}/all_test.ts`,
    ]);
    const totals = /<testsuites [^>]*tests="(\d+)" failures="(\d+)" errors="(\d+)"/.exec(
      await Deno.readTextFile(report),
    );
    if (end.exitCode === null || totals === null) return { passed: null, failed: null, seconds: end.seconds };
    const failed = Number(totals[2]) + Number(totals[3]);
    // A runner that fails without a failed test has not reported every result.
    if (end.exitCode !== 0 && failed === 0) return { passed: null, failed: null, seconds: end.seconds };
    return { passed: Number(totals[1]) - failed, failed, seconds: end.seconds };
  } finally {
    await Deno.remove(own, { recursive: true });
  }
}

/** The branch that the checkout is on: what a CI service says, else what git says, else none. */
export async function branchName(): Promise<string | null> {
  const said = Deno.env.get("CI_COMMIT_REF_NAME") ?? Deno.env.get("GITHUB_REF_NAME");
  if (said !== undefined && said !== "") return said;
  const { exitCode, output } = await runProgram("git", ["rev-parse", "--abbrev-ref", "HEAD"]);
  return exitCode === 0 ? output.trim() : null;
}

/** The commit that is checked, as the pipeline names it or git knows it; null where neither does. */
export async function commitId(): Promise<string | null> {
  const said = Deno.env.get("CI_COMMIT_SHA") ?? Deno.env.get("GITHUB_SHA");
  if (said !== undefined && said !== "") return said;
  const { exitCode, output } = await runProgram("git", ["rev-parse", "HEAD"]);
  return exitCode === 0 ? output.trim() : null;
}

/** The version that the checkout declares. */
export async function declaredVersion(): Promise<string> {
  return (JSON.parse(await Deno.readTextFile(`${CHECKOUT}deno.json`)) as { version: string }).version;
}

/** Where the law asks for a release of the program: its version is the path. */
export const ENDPOINT = "http://127.0.0.1:4287/releases/";

/** An endpoint on this machine that reports the version which the command line reports. */
export interface VersionEndpoint {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts the endpoint: where the law asks, or on a free port where that one is taken. */
export function serveVersion(): VersionEndpoint {
  const answer = async ({ url }: Request): Promise<Response> => {
    const { exitCode, output } = await runGate("serve", ["--version", "--json"]);
    if (exitCode !== 0) return new Response("the command line reports no version", { status: 500 });
    const { result } = JSON.parse(output) as { result: { version: string } };
    if (new URL(url).pathname !== `/releases/${result.version}`) return new Response(null, { status: 404 });
    return Response.json({ version: result.version });
  };
  const listen = (port: number): Deno.HttpServer<Deno.NetAddr> =>
    Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, answer);
  const wanted = new URL(ENDPOINT);
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = listen(Number(wanted.port));
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    server = listen(0);
  }
  wanted.port = String(server.addr.port);
  return { url: wanted.href, close: () => server.shutdown() };
}
