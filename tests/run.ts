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

import { downloadsLine, OF_THE_TESTS } from "../docs/examples/release_gate/downloads.ts";
import { pagesOf, readTree } from "./checks/tree.ts";
import { FULL_STEPS } from "./full.ts";
import { PROOF_STEPS } from "./proof.ts";
import { addTallies, exitCodeOf, formatTally, LOCK, runStep, type Step, type Tally, testFilesIn } from "./steps.ts";

const DENO = Deno.execPath();
/** Pages whose blocks of TypeScript are type-checked and run. */
const TREE = await readTree();
const PAGES = pagesOf(TREE).map((page) => page.path);
const UNIT_OPTIONS = ["--parallel", "--sanitize-ops", "--sanitize-resources"];

/** These commands show nothing until they end. */
const SILENT_MINUTES = 30;

/** The whole tree is formatted, linted and typed, documentation examples included. */
const STATIC_STEPS: readonly Step[] = [
  { name: "format", kind: "command", command: [DENO, "fmt", "--check"], silentMinutes: SILENT_MINUTES },
  { name: "lint", kind: "command", command: [DENO, "lint", "--quiet"], silentMinutes: SILENT_MINUTES },
  {
    name: "types",
    kind: "command",
    command: [DENO, "check", "--quiet", "--frozen", LOCK, "--doc", "main.ts", "src", "tests", "docs", ...PAGES],
    silentMinutes: SILENT_MINUTES,
  },
];

const CHECKS: Step = {
  name: "project checks",
  kind: "tests",
  options: ["--parallel"],
  paths: ["tests/checks"],
};

/** Unit tests that take seconds: brute force, peers, hostile input, many runs and timers. `test` runs them, `ok` does not. */
const SLOW = [
  "src/config/files_test.ts",
  "src/docs/catalogue_test.ts",
  "src/evidence/builtin/yaml_document_test.ts",
  "src/evidence/json_path/limits_test.ts",
  "src/evidence/json_path/peer_test.ts",
  "src/evidence/json_schema/compile_peer_test.ts",
  "src/run/missing/missing_test.ts",
  "src/server/audit/sinks_test.ts",
  "src/store/run_index_test.ts",
  "src/store/sqlite/connection_test.ts",
  "src/tools/framework/response_size_test.ts",
];

/**
 * Runs test files in one thread for each core. Loading the product's modules again for every file takes more than half
 * of the time of the unit tests.
 */
function sharedTests(name: string, paths: readonly string[], options: readonly string[] = []): Step {
  const threads = navigator.hardwareConcurrency;
  return { name, kind: "tests", options: [...UNIT_OPTIONS, ...options], paths, threads };
}

/** Fewer rounds of each property, for a run that must be short. */
const FEW_RUNS = ["--preload=tests/few_runs.ts"];

/** Modules of the product whose docstrings have blocks of TypeScript, and the pages. */
const EXAMPLES = [
  ...TREE.filter(({ path, text }) => /^src\/.*(?<!_test)\.ts$/.test(path) && /^ \* ```ts/m.test(text)).map(({ path }) =>
    path
  ),
  ...PAGES,
];

/** What a plan of its own runs, or what needs more than Deno. */
const ELSEWHERE = [
  ...["tests/checks", "tests/full", "tests/proof", "tests/conformance"],
  ...FULL_STEPS.flatMap((step) => step.kind === "tests" ? step.paths : []),
];

/** Test files that measure time or memory, fill the machine's connections, or change this process's environment. */
const ALONE = [
  "tests/e2e/evidence/acquisition_mcp_test.ts",
  "tests/e2e/evidence/acquisition_responsive_test.ts",
  "tests/e2e/http/attacks_test.ts",
  "tests/e2e/http/overload_test.ts",
  "tests/e2e/typed/import_hostile_test.ts",
  "tests/e2e/evidence/precheck_responsive_test.ts",
  "tests/e2e/providers/values_test.ts",
];

/** Test files that belong to no other step, wherever they are. */
function otherTests(): string[] {
  const not = [...ELSEWHERE, ...ALONE];
  return testFilesIn(["tests", "docs"]).filter((file) =>
    !not.some((path) => file === path || file.startsWith(`${path}/`))
  );
}

const WHOLE_STEPS: readonly Step[] = [
  sharedTests("unit tests", testFilesIn(["src"])),
  { name: "documentation examples", kind: "tests", options: ["--doc", ...UNIT_OPTIONS], paths: EXAMPLES },
  { name: "end to end, simulation and vectors", kind: "tests", options: ["--parallel"], paths: otherTests() },
  { name: "end to end, one file at a time", kind: "tests", options: [], paths: ALONE },
];

interface Plan {
  readonly steps: () => Promise<readonly Step[]> | readonly Step[];
  /** How long the steps take with the packages in the cache, on two cores. */
  readonly takes: string;
}

const PLANS: Readonly<Record<string, Plan>> = {
  quick: { steps: quickSteps, takes: "half a minute or more" },
  ok: {
    steps: () => [...STATIC_STEPS, CHECKS, sharedTests("unit tests without slow ones", quickTests(), FEW_RUNS)],
    takes: "some 2 minutes",
  },
  test: { steps: () => [...STATIC_STEPS, CHECKS, ...WHOLE_STEPS], takes: "some 15 minutes" },
  full: { steps: () => FULL_STEPS, takes: "some 12 minutes" },
  proof: { steps: () => PROOF_STEPS, takes: "some hours" },
};

/** The static steps, and the tests in each folder of `src` where a file differs from the last commit. */
async function quickSteps(): Promise<readonly Step[]> {
  const git = new Deno.Command("git", { args: ["status", "--porcelain", "--untracked-files=all"], stderr: "inherit" });
  const { success, stdout } = await git.output();
  if (!success) throw new Error("Cannot list changed files: git status failed");
  const changed = new TextDecoder().decode(stdout).split("\n").map((line) => line.slice(3).split(" -> ").at(-1) ?? "");
  const folders = new Set(changed.flatMap((path) => /^src\/.*(?=\/[^/]+\.ts$)/.exec(path)?.[0] ?? []));
  const tests = quickTests().filter((path) => folders.has(path.slice(0, path.lastIndexOf("/"))));
  return tests.length === 0
    ? STATIC_STEPS
    : [...STATIC_STEPS, sharedTests("tests beside changed files", tests, FEW_RUNS)];
}

/** The unit tests without slow ones. */
function quickTests(): string[] {
  return testFilesIn(["src"]).filter((path) => !SLOW.includes(path));
}

async function main(planName: string | undefined): Promise<number> {
  const found = Object.hasOwn(PLANS, planName ?? "") ? PLANS[planName ?? ""] : undefined;
  if (found === undefined) {
    console.error(`Cannot run plan "${planName ?? ""}": plans are ${Object.keys(PLANS).join(", ")}`);
    return 2;
  }
  const plan = await found.steps();
  console.log(downloadsLine(OF_THE_TESTS, `${plan.length} steps: ${found.takes} on two cores`));
  const interruption = interruptedBySignals();
  let total: Tally = addTallies();
  const failures: string[] = [];
  const started = performance.now();
  for (const [index, step] of plan.entries()) {
    if (interruption.aborted) break;
    console.log(`\n== Step ${index + 1} of ${plan.length}: ${step.name} (${secondsSince(started)} so far)`);
    const tally = await runStep(step, { signal: interruption });
    total = addTallies(total, tally);
    if (tally.failed > 0) failures.push([step.name, ...tally.ended].join(", "));
  }
  if (failures.length > 0) console.log(`\nFailed: ${failures.join("; ")}`);
  console.log(`\n${plan.length} steps took ${secondsSince(started)}`);
  console.log(`\n${formatTally(total)}`);
  return exitCodeOf(total);
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
