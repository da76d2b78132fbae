/**
 * One step of a test plan: a command, or a run of `deno test` whose results are counted from its JUnit report.
 *
 * @module
 */

import { trustedStores } from "../docs/examples/release_gate/downloads.ts";
import { type CaseOutcome, readReport, type TestCase } from "./report.ts";
import { runWatched, type WatchedEnd } from "./watched_process.ts";

/** How many tests passed and failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** What failed, by name: tests, and what had to be ended. */
  readonly failures: readonly string[];
}

/** What a step needs on the machine, and the Debian package that brings it. */
export interface Prerequisite {
  /** The name of a program, or the absolute path of a file. */
  readonly program: string;
  readonly debianPackage: string;
}

interface StepBase {
  readonly name: string;
  /**
   * A process of the step is ended after so many minutes in which no test finished and nothing was shown; 3 where it
   * says nothing.
   */
  readonly silentMinutes?: number;
  /** Programs without which the step fails; it is never skipped. */
  readonly needs?: readonly Prerequisite[];
  /** Whether no other step runs meanwhile: it measures, or needs every core. */
  readonly isAlone?: boolean;
  /** Environment beside the inherited one. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A command that counts as one test: passed if it exits with 0. */
export interface CommandStep extends StepBase {
  readonly kind: "command";
  readonly command: readonly string[];
}

/** A run of `deno test` over files; every test and test step counts. */
export interface TestsStep extends StepBase {
  readonly kind: "tests";
  readonly options: readonly string[];
  /** Files, and folders whose test files belong to the step. */
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

/** Minutes without progress after which a process is ended. */
const SILENT_MINUTES = 3;

/** At least one line in so many seconds. */
const LINE_SECONDS = 10;

const NOTHING: Tally = { passed: 0, failed: 0, failures: [] };
const PASSED_ONCE: Tally = { ...NOTHING, passed: 1 };
const FAILED_ONCE: Tally = { ...NOTHING, failed: 1 };

/** The sum of tallies. */
export function addTallies(...tallies: readonly Tally[]): Tally {
  return tallies.reduce((a, b) => ({
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    failures: [...a.failures, ...b.failures],
  }), NOTHING);
}

/** The closing line, as runners of tests are read: `12 passed, 0 failed`. */
export function formatTally({ passed, failed }: Tally): string {
  return `${passed} passed, ${failed} failed`;
}

/** 0 only if at least one test ran and none failed. */
export function exitCodeOf({ passed, failed }: Tally): number {
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** What ends a step before its time. */
export interface Ending {
  /** Ends the step, and nothing of it goes on. */
  readonly signal: AbortSignal;
  /** Whether a process of the step is stuck, which has shown nothing for so many seconds. */
  readonly isStuck: (silentSeconds: number) => boolean;
}

/** Runs one step with its output shown, and counts. */
export async function runStep(step: Step, ending: Partial<Ending> = {}): Promise<Tally> {
  const missing = (step.needs ?? []).filter((need) => !isThere(need.program));
  for (const need of missing) {
    console.log(`Cannot run "${step.name}": "${need.program}" is missing (package "${need.debianPackage}")`);
  }
  if (missing.length > 0) return FAILED_ONCE;
  const most = (step.silentMinutes ?? SILENT_MINUTES) * 60;
  const by = { signal: new AbortController().signal, isStuck: (seconds: number) => seconds >= most, ...ending };
  if (step.kind === "tests") return await runTests(step, { files: testFilesIn(step.paths) }, by);
  const end = await runProcess(step, step.command, by);
  return isEnded(end) ? failedBy(step.name, end) : end.code === 0 ? PASSED_ONCE : FAILED_ONCE;
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

/** The test files in folders and below; a path of a file stands for itself. */
export function testFilesIn(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (!Deno.statSync(path).isDirectory) return [path];
    const entries = [...Deno.readDirSync(path)].filter(({ name, isDirectory }) =>
      isDirectory || name.endsWith("_test.ts")
    );
    return testFilesIn(entries.map(({ name }) => `${path}/${name}`).sort());
  });
}

async function runProcess(step: Step, command: readonly string[], ending: Ending): Promise<WatchedEnd> {
  return await runWatched(command, {
    name: step.name,
    environment: {
      ...trustedStores(),
      ...{ NO_COLOR: "1", RUST_BACKTRACE: "0", DENO_NO_UPDATE_CHECK: "1" },
      ...step.environment,
    },
    lineSeconds: LINE_SECONDS,
    ...ending,
  });
}

function isEnded({ signal, isStuck }: WatchedEnd): boolean {
  return isStuck || signal !== null;
}

/** One failure with a name: what was ended, and why. */
function failedBy(name: string, { isStuck, signal }: WatchedEnd): Tally {
  const why = isStuck ? "no progress" : signal ?? "interrupted";
  console.log(`\nEnded ${name}: ${why}`);
  return { ...FAILED_ONCE, failures: [`${name} (${why})`] };
}

/** One run of some files: of all their tests, or of those that are named. */
interface Selection {
  readonly files: readonly string[];
  readonly names?: readonly string[];
}

/**
 * Runs test files. Where no test makes progress, those that were running have failed, and the rest go on: the other
 * tests of their files, and the files that had not ended.
 */
async function runTests(step: TestsStep, selection: Selection, ending: Ending): Promise<Tally> {
  const { end, cases } = await runOnce(step, selection, ending);
  if (!end.isStuck && !ending.signal.aborted && end.signal === null) return tallyOf(cases, end.code);
  const { files } = selection;
  const stuck = runningTests(cases);
  const rest = end.isStuck ? restOf(files, cases, stuck) : [];
  const names = stuck.map(nameOf);
  // A module that hangs while it loads has no test to name; where there are several, each is run alone.
  if (names.length === 0 && rest.length === 0) names.push(files.length === 1 ? String(files) : step.name);
  const again = rest.flatMap((selection) => selection.files);
  const finished = cases.filter(({ file, name }) =>
    !again.includes(file) || stuck.some((test) => isStepOf({ file, name }, test))
  );
  const tallies = names.map((name) => failedBy(name, end));
  // A process that crashed, or was killed, leaves no report.
  tallies.push(cases.length === 0 && rest.length === 0 ? { ...end.marks, failures: [] } : countCases(finished));
  for (const selection of rest) {
    if (!ending.signal.aborted) tallies.push(await runTests(step, selection, ending));
  }
  return addTallies(...tallies);
}

/** The tests that were running when their process was ended, without their steps. */
function runningTests(cases: readonly TestCase[]): TestCase[] {
  const running = cases.filter(({ outcome }) => outcome === "cancelled");
  return running.filter(({ file, name }) => !running.some((other) => isStepOf({ file, name }, other)));
}

/** What is left to run after a process was ended. */
function restOf(files: readonly string[], cases: readonly TestCase[], stuck: readonly TestCase[]): Selection[] {
  // Of a test whose file is not known, nothing can be left out.
  if (!stuck.every(({ file }) => files.includes(file))) return [];
  const open = files.filter((file) => {
    const own = cases.filter((test) => test.file === file);
    return own.length === 0 || own.some(({ outcome }) => outcome === "cancelled" || outcome === "not_run");
  });
  const [held, others] = [true, false].map((isHeld) =>
    open.filter((file) => stuck.some((test) => test.file === file) === isHeld)
  );
  const rest = (held ?? []).map((file) => {
    const own = stuck.filter((test) => test.file === file).map(({ name }) => name);
    const isOther = ({ name }: TestCase): boolean =>
      !own.some((held) => name === held || name.startsWith(`${held} > `));
    return {
      files: [file],
      names: cases.filter((test) => test.file === file && isOther(test)).map(({ name }) => name),
    };
  }).filter(({ names }) => names.length > 0);
  if (others === undefined || others.length === 0) return rest;
  if (stuck.length > 0) return [...rest, { files: others }];
  return files.length === 1 ? [] : others.map((file) => ({ files: [file] }));
}

async function runOnce(
  step: TestsStep,
  { files, names }: Selection,
  ending: Ending,
): Promise<{ readonly end: WatchedEnd; readonly cases: readonly TestCase[] }> {
  const folder = await Deno.makeTempDir({ prefix: "gate-tests-" });
  const report = `${folder}/junit.xml`;
  try {
    const paths = step.threads === undefined ? files : await writeGroups(folder, files, step.threads);
    const end = await runProcess(step, [
      ...[Deno.execPath(), "test", "--quiet", "--no-prompt", "--no-check", "--frozen", LOCK],
      // A run downloads the packages that its files import, not all that the lock names.
      ...["--unstable-npm-lazy-caching", "-P=test"],
      ...["--reporter=dot", `--junit-path=${report}`, ...step.options],
      ...(names === undefined ? [] : [`--filter=/^(?:${names.map(escapeRegex).join("|")})$/`]),
      ...paths,
    ], ending);
    const all = readReport(await Deno.readTextFile(report).catch(() => ""));
    // The report lists tests that the filter left out, too.
    const cases = all.filter(({ name, outcome }) => outcome !== "not_run" || (names ?? [name]).includes(name));
    // The report names files from the working folder, the step as it likes.
    const written = new Map(files.map((file) => [toFileUrl(file), file]));
    const named = cases.map((test) => ({ ...test, file: written.get(toFileUrl(test.file)) ?? test.file }));
    for (const line of slowestFiles(named)) console.log(line);
    return { end, cases: named };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A text as a part of a regular expression of `deno test`, which may escape nothing but its own characters. */
function escapeRegex(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** Writes one module for each thread, which imports every so many of the files. */
async function writeGroups(folder: string, files: readonly string[], threads: number): Promise<string[]> {
  const groups = Array.from({ length: threads }, (_, group) => files.filter((_, index) => index % threads === group));
  return await Promise.all(
    groups.filter((group) => group.length > 0).map(async (group, index) => {
      const imports = group.map((file) =>
        `import ${JSON.stringify(toFileUrl(file))};
`
      );
      const path = `${folder}/group_${index + 1}_test.ts`;
      await Deno.writeTextFile(path, imports.join(""));
      return path;
    }),
  );
}

function toFileUrl(path: string): string {
  return new URL(path, `file://${Deno.cwd()}/`).href;
}

/** What a file has to take to be named among the slowest ones. */
const SLOW_SECONDS = 10;

/** A line for each of the files that took longest, beside what ran at the same time. */
export function slowestFiles(cases: readonly TestCase[]): string[] {
  const taken = new Map<string, number>();
  // The time of a test has that of its steps.
  const tests = cases.filter(({ name }) => !name.includes(" > "));
  for (const { file, seconds } of tests) taken.set(file, (taken.get(file) ?? 0) + seconds);
  const slow = [...taken].filter(([, seconds]) => seconds >= SLOW_SECONDS).sort(([, a], [, b]) => b - a);
  return slow.slice(0, 5).map(([file, seconds]) => `   slow: ${Math.round(seconds)} s in ${file}`);
}

/** Whether one case is a step of another. */
function isStepOf(step: Pick<TestCase, "file" | "name">, test: TestCase): boolean {
  return step.file === test.file && step.name.startsWith(`${test.name} > `);
}

function nameOf({ file, name }: TestCase): string {
  return `"${name}" of ${file}`;
}

function countCases(cases: readonly TestCase[]): Tally {
  const count = (wanted: CaseOutcome): number => cases.filter(({ outcome }) => outcome === wanted).length;
  const bad = cases.filter(({ outcome }) => outcome === "failed" || outcome === "skipped");
  // A step that failed names the test around it.
  const failures = bad.filter((test) => !bad.some((other) => isStepOf(other, test)));
  return {
    passed: count("passed"),
    failed: bad.length,
    failures: failures.map(nameOf),
  };
}

/**
 * Counts the cases of a run that came to its end. A skipped test counts as failed, and so does a run without tests. So
 * does a run that ended badly although no test failed (a module that does not load, a test marked `only`).
 */
export function tallyOf(cases: readonly TestCase[], exitCode: number): Tally {
  const { passed, failed, failures } = countCases(cases);
  const refused = cases.length - passed;
  const hidden = refused === 0 && (exitCode !== 0 || cases.length === 0) ? 1 : 0;
  return { passed, failed: Math.max(failed, refused) + hidden, failures };
}
