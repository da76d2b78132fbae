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
import { addTallies, exitCodeOf, formatTally, LOCK, runStep, type Step, type Tally } from "./steps.ts";

const DENO = Deno.execPath();
/** Pages whose blocks of TypeScript are type-checked and run. */
const PAGES = pagesOf(await readTree()).map((page) => page.path);
const UNIT_OPTIONS = ["--parallel", "--sanitize-ops", "--sanitize-resources"];

/** The whole tree is formatted, linted and typed, documentation examples included. */
const STATIC_STEPS: readonly Step[] = [
  { name: "format", kind: "command", command: [DENO, "fmt", "--check"], minutes: 2 },
  { name: "lint", kind: "command", command: [DENO, "lint", "--quiet"], minutes: 2 },
  {
    name: "types",
    kind: "command",
    command: [DENO, "check", "--quiet", "--frozen", LOCK, "--doc", "main.ts", "src", "tests", "docs", ...PAGES],
    minutes: 5,
  },
];

const CHECKS: Step = {
  name: "project checks",
  kind: "tests",
  options: ["--parallel"],
  paths: ["tests/checks"],
  minutes: 5,
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

const UNIT_TESTS: Step = {
  name: "unit tests and documentation examples",
  kind: "tests",
  options: ["--doc", ...UNIT_OPTIONS],
  paths: ["src", ...PAGES],
  minutes: 10,
};

/**
 * Runs test files with fewer rounds of each property, in one thread for each core. Loading the product's modules again
 * for every file takes more than half of the time of the unit tests; the plan `test` keeps the files apart.
 */
function shortTests(name: string, paths: readonly string[]): Step {
  const options = [...UNIT_OPTIONS, "--preload=tests/few_runs.ts"];
  return { name, kind: "tests", options, paths, minutes: 5, threads: navigator.hardwareConcurrency };
}

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

const WHOLE_STEPS: readonly Step[] = [
  {
    name: "end to end, simulation and vectors",
    kind: "tests",
    options: ["--parallel", `--ignore=${[...new Set([...ELSEWHERE, ...ALONE])].join(",")}`],
    paths: ["tests", "docs"],
    minutes: 15,
  },
  { name: "end to end, one file at a time", kind: "tests", options: [], paths: ALONE, minutes: 5 },
];

interface Plan {
  readonly steps: () => Promise<readonly Step[]> | readonly Step[];
  /** How long the steps take with the packages in the cache, on two cores. */
  readonly takes: string;
}

const PLANS: Readonly<Record<string, Plan>> = {
  quick: { steps: quickSteps, takes: "half a minute or more" },
  ok: {
    steps: () => [...STATIC_STEPS, CHECKS, shortTests("unit tests without slow ones", quickTestsIn("src"))],
    takes: "some 2 minutes",
  },
  test: { steps: () => [...STATIC_STEPS, CHECKS, UNIT_TESTS, ...WHOLE_STEPS], takes: "some 15 minutes" },
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
  const tests = quickTestsIn("src").filter((path) => folders.has(path.slice(0, path.lastIndexOf("/"))));
  return tests.length === 0 ? STATIC_STEPS : [...STATIC_STEPS, shortTests("tests beside changed files", tests)];
}

/** The test files of a folder and those below, without slow ones. */
function quickTestsIn(folder: string): string[] {
  const paths = [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? quickTestsIn(path) : name.endsWith("_test.ts") ? [path] : [];
  });
  return paths.filter((path) => !SLOW.includes(path)).sort();
}

async function main(planName: string | undefined): Promise<number> {
  const found = Object.hasOwn(PLANS, planName ?? "") ? PLANS[planName ?? ""] : undefined;
  if (found === undefined) {
    console.error(`Cannot run plan "${planName ?? ""}": plans are ${Object.keys(PLANS).join(", ")}`);
    return 2;
  }
  const plan = await found.steps();
  console.log(downloadsLine(OF_THE_TESTS, `${plan.length} steps: ${found.takes} on two cores`));
  let total: Tally = { passed: 0, failed: 0 };
  const failures: string[] = [];
  const started = performance.now();
  for (const [index, step] of plan.entries()) {
    console.log(`\n== Step ${index + 1} of ${plan.length}: ${step.name} (${secondsSince(started)} so far)`);
    const tally = await runStep(step);
    total = addTallies(total, tally);
    if (tally.failed > 0) failures.push(step.name);
  }
  if (failures.length > 0) console.log(`\nFailed: ${failures.join("; ")}`);
  console.log(`\n${plan.length} steps took ${secondsSince(started)}`);
  console.log(`\n${formatTally(total)}`);
  return exitCodeOf(total);
}

function secondsSince(instant: number): string {
  return `${Math.round((performance.now() - instant) / 1000)} s`;
}

if (import.meta.main) Deno.exit(await main(Deno.args[0]));
