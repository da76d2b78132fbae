/**
 * Runs a plan of the project's tests and counts them: `deno run -P=test tests/run.ts quick|ok|test|full|proof`.
 *
 * The last line is `N passed, N failed`, alone. The exit code is 0 only if something ran, nothing failed and nothing was
 * skipped: a skipped test reads as green, so it counts as failed here.
 *
 * This module and its imports need no package, so the first line is shown before any download.
 *
 * @module
 */

import { type Downloads, downloadsLine, OF_ALL_TESTS, OF_THE_TESTS } from "../docs/examples/release_gate/downloads.ts";
import { pagesOf, readTree } from "./checks/tree.ts";
import { FULL_STEPS } from "./full.ts";
import { importersOf } from "./import_graph.ts";
import { isIn, LATER_UNITS, LONG_ALONE, LONG_APART, longTests, SLOW_UNITS } from "./long.ts";
import { PROOF_STEPS } from "./proof.ts";
import {
  addTallies,
  exitCodeOf,
  formatTally,
  LOCK,
  runStep,
  type Step,
  type Tally,
  testFilesIn,
  type TestsStep,
} from "./steps.ts";

const DENO = Deno.execPath();
const TREE = await readTree();
/** Pages whose blocks of TypeScript are type-checked. */
const PAGES = pagesOf(TREE).map((page) => page.path);
const UNIT_OPTIONS = ["--parallel", "--sanitize-ops", "--sanitize-resources"];

/** A command that shows nothing until it ends. */
function silentCommand(name: string, ...args: readonly string[]): Step {
  return { name, kind: "command", command: [DENO, ...args], silentMinutes: 30 };
}

const STYLE_STEPS: readonly Step[] = [
  silentCommand("format", "fmt", "--check"),
  silentCommand("lint", "lint", "--quiet"),
];

/** Checks the types of files, folders and blocks of documentation, and downloads no package that they do not need. */
function typesOf(name: string, paths: readonly string[]): Step {
  return silentCommand(name, "check", "--quiet", "--frozen", LOCK, "--unstable-npm-lazy-caching", "--doc", ...paths);
}

const ALL_TYPES = typesOf("types", ["main.ts", "src", "tests", "docs", ...PAGES]);

const CHECKS: Step = {
  name: "project checks",
  kind: "tests",
  options: ["--parallel"],
  paths: ["tests/checks"],
};

/**
 * Runs test files in one thread for each core. Loading the product's modules again for every file takes more than half
 * of the time of the unit tests.
 */
function sharedTests(name: string, paths: readonly string[], options: readonly string[] = []): TestsStep {
  const threads = navigator.hardwareConcurrency;
  return { name, kind: "tests", options: [...UNIT_OPTIONS, ...options], paths, threads };
}

/** Fewer rounds of each property, for a run that must be short. */
const FEW_RUNS = ["--preload=tests/few_runs.ts"];

/** More groups than cores, of tests that wait for processes: they keep the cores busy, and end closer to each other. */
const GROUPS = 6;

/** What a plan of its own runs, or what needs more than Deno. */
const ELSEWHERE = [
  ...["tests/checks", "tests/full", "tests/proof", "tests/conformance"],
  ...FULL_STEPS.flatMap((step) => step.kind === "tests" ? step.paths : []),
];

/** Test files that change this process's environment. */
const ALONE = ["tests/e2e/providers/values_test.ts"];

/** Test files that belong to no step of their own, wherever they are. */
const OTHERS = testFilesIn(["tests", "docs"]).filter((file) =>
  !isIn([...ELSEWHERE, ...ALONE, ...LONG_APART, ...LONG_ALONE], file)
);

function wholeSteps(): readonly Step[] {
  const long = longTests(TREE, OTHERS);
  const others = OTHERS.filter((file) => !long.includes(file));
  const checked = ["main.ts", "src", "docs", "tests/run.ts", ...testFilesIn(["tests/checks"]), ...others, ...ALONE];
  return [
    ...STYLE_STEPS,
    typesOf("types of the program and of these tests", [...checked, ...PAGES]),
    CHECKS,
    sharedTests("unit tests", quickTests()),
    { ...sharedTests("end to end, simulation and vectors", others), options: ["--parallel"], threads: GROUPS },
    { name: "end to end, in a process of its own", kind: "tests", options: [], paths: ALONE },
  ];
}

/** What `test` leaves out because it takes long, and then what needs more than Deno. */
function fullSteps(): readonly Step[] {
  return [
    ALL_TYPES,
    sharedTests("unit tests at length", SLOW_UNITS),
    { ...sharedTests("end to end at length", longTests(TREE, OTHERS)), options: ["--parallel"], threads: GROUPS },
    ...FULL_STEPS,
    {
      name: "end to end at length, one file at a time",
      kind: "tests",
      options: [],
      paths: LONG_APART,
      silentMinutes: 10,
    },
    {
      name: "end to end at length, alone",
      kind: "tests",
      options: [],
      paths: LONG_ALONE,
      silentMinutes: 10,
      isAlone: true,
    },
  ];
}

interface Plan {
  readonly steps: () => Promise<readonly Step[]> | readonly Step[];
  /** How long the steps take with the packages in the cache, on two cores. */
  readonly takes: string;
  /** What the steps download. */
  readonly downloads: Downloads;
}

const PLANS: Readonly<Record<string, Plan>> = {
  quick: { steps: quickSteps, takes: "half a minute", downloads: OF_THE_TESTS },
  ok: {
    steps: () => [
      ...STYLE_STEPS,
      ALL_TYPES,
      CHECKS,
      sharedTests("unit tests", quickTests().filter((path) => !LATER_UNITS.includes(path)), FEW_RUNS),
    ],
    takes: "a minute",
    downloads: OF_ALL_TESTS,
  },
  test: { steps: wholeSteps, takes: "some 6 minutes", downloads: OF_THE_TESTS },
  full: { steps: fullSteps, takes: "some 35 minutes", downloads: OF_ALL_TESTS },
  proof: { steps: () => PROOF_STEPS, takes: "some hours", downloads: OF_ALL_TESTS },
};

/** Most test files of `quick`: what changed in the kernel is imported by nearly all, and `ok` runs them. */
const NEAREST = 48;

/** Format, lint, the types of changed files, and the unit tests that import one, at any distance. */
async function quickSteps(): Promise<readonly Step[]> {
  const git = new Deno.Command("git", { args: ["status", "--porcelain", "--untracked-files=all"], stderr: "inherit" });
  const { success, stdout } = await git.output();
  if (!success) throw new Error("Cannot list changed files: git status failed");
  const names = new TextDecoder().decode(stdout).split("\n").map((line) => line.slice(3).split(" -> ").at(-1) ?? "");
  const changed = names.filter((name) => name.endsWith(".ts") && TREE.some(({ path }) => path === name));
  if (changed.length === 0) return STYLE_STEPS;
  const known = new Set(quickTests());
  const importing = importersOf(TREE, changed).filter((path) => known.has(path));
  const tests = importing.slice(0, NEAREST);
  if (tests.length < importing.length) {
    console.log(`${importing.length} test files import what changed; here run the ${tests.length} nearest ones`);
  }
  return [
    ...STYLE_STEPS,
    typesOf("types of changed files", changed),
    ...(tests.length === 0 ? [] : [sharedTests("tests that import a changed file", tests, FEW_RUNS)]),
  ];
}

/** The unit tests that take no seconds. */
function quickTests(): string[] {
  return testFilesIn(["src"]).filter((path) => !SLOW_UNITS.includes(path));
}

async function main(planName: string | undefined): Promise<number> {
  const found = Object.hasOwn(PLANS, planName ?? "") ? PLANS[planName ?? ""] : undefined;
  if (found === undefined) {
    console.error(`Cannot run plan "${planName ?? ""}": plans are ${Object.keys(PLANS).join(", ")}`);
    return 2;
  }
  const plan = await found.steps();
  console.log(downloadsLine(found.downloads, `${plan.length} steps: ${found.takes} on two cores`));
  const interruption = interruptedBySignals();
  const started = performance.now();
  const { total, failures } = await runPlan(plan, interruption, started);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join("\n")}`);
  console.log(`\n${plan.length} steps took ${secondsSince(started)}`);
  console.log(`\n${formatTally(total)}`);
  return exitCodeOf(total);
}

/**
 * Runs the steps of a plan. A command has one thread for most of its time, and so has a step whose tests run one after
 * another, which also waits for servers and browsers: three of them run side by side, beside tests that use every core.
 */
async function runPlan(
  plan: readonly Step[],
  interruption: AbortSignal,
  started: number,
): Promise<{ readonly total: Tally; readonly failures: readonly string[] }> {
  const tallies: Tally[] = [];
  const failures: string[] = [];
  const waiting = [...plan];
  const run = async (step: Step): Promise<void> => {
    console.log(
      `\n== Step ${plan.indexOf(step) + 1} of ${plan.length}: ${step.name} (${secondsSince(started)} so far)`,
    );
    const began = performance.now();
    const tally = await runStep(step, { signal: interruption });
    tallies.push(tally);
    const named = tally.failures.length > 0 || tally.failed === 0 ? tally.failures : ["see above"];
    failures.push(...named.map((name) => `${step.name}: ${name}`));
    console.log(`   ${step.name}: ${formatTally(tally)} in ${secondsSince(began)}`);
  };
  const lane = async (...kinds: readonly ((step: Step) => boolean)[]): Promise<void> => {
    for (const isNext of kinds) {
      for (let at; (at = waiting.findIndex(isNext)) >= 0 && !interruption.aborted;) {
        for (const step of waiting.splice(at, 1)) await run(step);
      }
    }
  };
  const isNarrow = (step: Step): boolean => step.isAlone !== true && step.kind === "tests" && !usesAllCores(step);
  await Promise.all([lane(({ kind }) => kind === "command", isNarrow), lane(usesAllCores, isNarrow), lane(isNarrow)]);
  await lane(() => true);
  return { total: addTallies(...tallies), failures };
}

/** Whether a step of tests has a thread for each core. */
function usesAllCores(step: Step): boolean {
  return step.kind === "tests" && (step.threads !== undefined || step.options.includes("--parallel"));
}

/** Aborted when somebody ends this process, so that what ran is counted all the same. */
function interruptedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => controller.abort());
  return controller.signal;
}

function secondsSince(instant: number): string {
  return `${Math.round((performance.now() - instant) / 1000)} s`;
}

if (import.meta.main) Deno.exit(await main(Deno.args[0]));
