/**
 * One step of a test plan: a command, or a run of `deno test` whose results are counted from its JUnit report.
 *
 * @module
 */

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
}

/** One step of a plan. */
export type Step = CommandStep | TestsStep;

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
  const command = [
    ...[Deno.execPath(), "test", "--quiet", "--no-prompt", "--no-check", "--frozen", "-P=test"],
    ...[`--junit-path=${report}`, ...step.options, ...step.paths],
  ];
  try {
    const code = await runCommand(step, command);
    return tallyOf(await Deno.readTextFile(report).catch(() => ""), code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a command without input, its output shown, until it ends or its time is over; gives the exit code. */
async function runCommand(step: Step, command: readonly string[]): Promise<number> {
  const child = new Deno.Command(command[0] ?? "", {
    args: command.slice(1),
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", DENO_NO_UPDATE_CHECK: "1", ...step.environment },
    signal: AbortSignal.timeout(step.minutes * 60_000),
  }).spawn();
  const status = await child.status;
  if (status.signal !== null) {
    console.log(`Step "${step.name}" ended by ${status.signal}: limit ${step.minutes} minutes`);
  }
  return status.code;
}

/**
 * Counts a JUnit report of `deno test`. A skipped test counts as failed, and so does a run that ended badly although no
 * test in the report failed (a module that does not load, a test marked `only`), or that ran nothing.
 */
export function tallyOf(report: string, exitCode: number): Tally {
  const cases = report.match(/<testcase\b/g)?.length ?? 0;
  const refused = report.match(/<(failure|error|skipped)\b/g)?.length ?? 0;
  const hidden = refused === 0 && (exitCode !== 0 || cases === 0) ? 1 : 0;
  return { passed: cases - refused, failed: refused + hidden };
}
