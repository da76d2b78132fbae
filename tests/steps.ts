/**
 * One step of a test plan: a command, or a run of `deno test` whose results are counted from its JUnit report.
 *
 * @module
 */

import { trustedStores } from "../docs/examples/release_gate/downloads.ts";

/** How many tests passed and failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** What a step needs on the machine, and the Debian package that brings it. */
export interface Prerequisite {
  /** The name of a program, or the absolute path of a file. */
  readonly program: string;
  readonly debianPackage: string;
}

interface StepBase {
  readonly name: string;
  /** After this many minutes the step is ended and has failed. */
  readonly minutes: number;
  /** Programs without which the step fails; it is never skipped. */
  readonly needs?: readonly Prerequisite[];
  /** Environment beside the inherited one. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A command that counts as one test: passed if it exits with 0. */
export interface CommandStep extends StepBase {
  readonly kind: "command";
  readonly command: readonly string[];
}

/** A run of `deno test` over paths; every test and test step counts. */
export interface TestsStep extends StepBase {
  readonly kind: "tests";
  readonly options: readonly string[];
  readonly paths: readonly string[];
  /**
   * Number of threads that share the test files in `paths`. Each loads the product's modules once; without it, each
   * file loads them again.
   */
  readonly threads?: number;
}

/** One step of a plan. */
export type Step = CommandStep | TestsStep;

/** The lock of the tests: what the program needs, and the packages that tests and benchmarks alone use. */
export const LOCK = "--lock=tests/deno.lock";

const FAILED_ONCE: Tally = { passed: 0, failed: 1 };

/** The sum of two tallies. */
export function addTallies(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed };
}

/** The closing line, as runners of tests are read: `12 passed, 0 failed`. */
export function formatTally(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed`;
}

/** 0 only if at least one test ran and none failed. */
export function exitCodeOf(tally: Tally): number {
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
}

/** Runs one step with its output shown, and counts. */
export async function runStep(step: Step): Promise<Tally> {
  const missing = (step.needs ?? []).filter((need) => !isThere(need.program));
  for (const need of missing) {
    console.log(`Cannot run "${step.name}": "${need.program}" is missing (package "${need.debianPackage}")`);
  }
  if (missing.length > 0) return FAILED_ONCE;
  if (step.kind === "command") {
    return await runCommand(step, step.command) === 0 ? { passed: 1, failed: 0 } : FAILED_ONCE;
  }
  return await runTests(step);
}

function isThere(program: string): boolean {
  const folders = program.startsWith("/")
    ? [""]
    : (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/`);
  return folders.some((folder) => {
    try {
      return Deno.statSync(`${folder}${program}`).isFile;
    } catch {
      return false;
    }
  });
}

async function runTests(step: TestsStep): Promise<Tally> {
  const folder = await Deno.makeTempDir({ prefix: "gate-tests-" });
  const report = `${folder}/junit.xml`;
  try {
    const paths = step.threads === undefined ? step.paths : await writeGroups(folder, step.paths, step.threads);
    const command = [
      ...[Deno.execPath(), "test", "--quiet", "--no-prompt", "--no-check", "--frozen", LOCK, "-P=test"],
      ...[
        `--junit-path=${report}`,
        ...(step.threads === undefined ? [] : ["--reporter=dot"]),
        ...step.options,
        ...paths,
      ],
    ];
    const code = await runCommand(step, command);
    return tallyOf(await Deno.readTextFile(report).catch(() => ""), code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes one module for each thread, which imports every so many of the files. */
async function writeGroups(folder: string, files: readonly string[], threads: number): Promise<string[]> {
  const groups = Array.from({ length: threads }, (_, group) => files.filter((_, index) => index % threads === group));
  return await Promise.all(
    groups.filter((group) => group.length > 0).map(async (group, index) => {
      const imports = group.map((file) => `import ${JSON.stringify(toFileUrl(file))};\n`);
      const path = `${folder}/group_${index + 1}_test.ts`;
      await Deno.writeTextFile(path, imports.join(""));
      return path;
    }),
  );
}

function toFileUrl(path: string): string {
  return new URL(path, `file://${Deno.cwd()}/`).href;
}

/** Runs a command without input, its output shown, until it ends or its time is over; returns the exit code. */
async function runCommand(step: Step, command: readonly string[]): Promise<number> {
  const counted = step.kind === "tests" && step.threads !== undefined;
  const child = new Deno.Command(command[0] ?? "", {
    args: command.slice(1),
    stdin: "null",
    stdout: counted ? "piped" : "inherit",
    stderr: "inherit",
    env: { ...trustedStores(), NO_COLOR: "1", RUST_BACKTRACE: "0", DENO_NO_UPDATE_CHECK: "1", ...step.environment },
    signal: AbortSignal.timeout(step.minutes * 60_000),
  }).spawn();
  if (counted) await showCount(child.stdout);
  const status = await child.status;
  if (status.signal !== null) {
    console.log(`Step "${step.name}" ended by ${status.signal}: limit ${step.minutes} minutes`);
  }
  return status.code;
}

/** Shows the output of the reporter "dot": its marks, one a line, as a running count on a terminal, and the rest as it is. */
async function showCount(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  let count = 0;
  let rest = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    const shown = lines.filter((line) => !/^[.!,]$/.test(line));
    count += lines.length - shown.length;
    if (Deno.stdout.isTerminal()) Deno.stdout.writeSync(new TextEncoder().encode(`\r${count} tests and steps\r`));
    for (const line of shown) console.log(line);
  }
  console.log(rest);
}

/**
 * Counts a JUnit report of `deno test`. A skipped test counts as failed, and so does a run without tests. So does a run
 * that ended badly although no test in the report failed (a module that does not load, a test marked `only`).
 */
export function tallyOf(report: string, exitCode: number): Tally {
  const cases = report.match(/<testcase\b/g)?.length ?? 0;
  const refused = report.match(/<(failure|error|skipped)\b/g)?.length ?? 0;
  const hidden = refused === 0 && (exitCode !== 0 || cases === 0) ? 1 : 0;
  return { passed: cases - refused, failed: refused + hidden };
}
