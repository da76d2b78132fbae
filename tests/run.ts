/**
 * Runs a plan of the project's tests and says how many passed: `deno run -P=test tests/run.ts ok|test|full|proof`.
 *
 * The last line is `N passed, N failed`, alone. The exit code is 0 only if something ran, nothing failed and nothing was
 * skipped: a skipped test reads as green, so it counts as failed here.
 *
 * @module
 */

import { pagesOf } from "./checks/doc_links.ts";
import { readTree } from "./checks/tree.ts";
import { FULL_STEPS } from "./full.ts";
import { PROOF_STEPS } from "./proof.ts";
import { addTallies, exitCodeOf, formatTally, runStep, type Step, type Tally } from "./steps.ts";

const DENO = Deno.execPath();
/** Pages whose blocks of TypeScript are type-checked and run. */
const PAGES = pagesOf(await readTree()).map((page) => page.path);
const UNIT_OPTIONS = ["--parallel", "--sanitize-ops", "--sanitize-resources"];

/** The whole tree is formatted, linted and typed, documentation examples included. */
const STATIC_STEPS: readonly Step[] = [
  { name: "format", kind: "command", command: [DENO, "fmt", "--check"], minutes: 2 },
  { name: "lint", kind: "command", command: [DENO, "lint"], minutes: 2 },
  {
    name: "types",
    kind: "command",
    command: [DENO, "check", "--quiet", "--frozen", "--doc", "main.ts", "src", "tests", "docs", ...PAGES],
    minutes: 5,
  },
];

const UNIT_STEPS: readonly Step[] = [
  { name: "project checks", kind: "tests", options: ["--parallel"], paths: ["tests/checks"], minutes: 5 },
  {
    name: "unit tests and documentation examples",
    kind: "tests",
    options: ["--doc", ...UNIT_OPTIONS],
    paths: ["src", ...PAGES],
    minutes: 10,
  },
];

/** What a plan of its own runs, or what needs more than Deno. */
const ELSEWHERE = [
  ...["tests/checks", "tests/full", "tests/proof", "tests/conformance"],
  ...FULL_STEPS.flatMap((step) => step.kind === "tests" ? step.paths : []),
];

const WHOLE_STEPS: readonly Step[] = [
  {
    name: "end to end, simulation and vectors",
    kind: "tests",
    options: [`--ignore=${[...new Set(ELSEWHERE)].join(",")}`],
    paths: ["tests", "docs"],
    minutes: 10,
  },
];

const PLANS: Readonly<Record<string, readonly Step[]>> = {
  ok: [...STATIC_STEPS, ...UNIT_STEPS],
  test: [...STATIC_STEPS, ...UNIT_STEPS, ...WHOLE_STEPS],
  full: FULL_STEPS,
  proof: PROOF_STEPS,
};

async function main(planName: string | undefined): Promise<number> {
  const plan = Object.hasOwn(PLANS, planName ?? "") ? PLANS[planName ?? ""] : undefined;
  if (plan === undefined) {
    console.error(`Cannot run plan "${planName ?? ""}": plans are ${Object.keys(PLANS).join(", ")}`);
    return 2;
  }
  let total: Tally = { passed: 0, failed: 0 };
  const failures: string[] = [];
  for (const step of plan) {
    console.log(`\n== ${step.name}`);
    const tally = await runStep(step);
    total = addTallies(total, tally);
    if (tally.failed > 0) failures.push(step.name);
  }
  if (failures.length > 0) console.log(`\nFailed: ${failures.join("; ")}`);
  console.log(`\n${formatTally(total)}`);
  return exitCodeOf(total);
}

if (import.meta.main) Deno.exit(await main(Deno.args[0]));
