/**
 * Plants faults of one token, one at a time, and runs the tests that import the file: `deno task mutants [FILE]`, with
 * `--count N` and `--seed N`. It works on a copy of the tree, and lists what no test noticed.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { SourceFile } from "../checks/source.ts";
import { readTree } from "../checks/tree.ts";
import { importersOf } from "../import_graph.ts";
import { SLOW_UNITS } from "../long.ts";
import { LOCK, testFilesIn } from "../steps.ts";
import { draw, type Fault, faultsOf, withFault } from "./faults.ts";

/** What a fault would harm most. */
const CORE =
  /^src\/(?:canonical|law|run|store|runpack\/verify|runpack\/format|tools\/mutation|server\/process)\/.*(?<!_test|_fixture)\.ts$/;

/** A run that takes so many seconds more than all tests take without a fault hangs. */
const PATIENCE_SECONDS = 60;

/** The nearest importers decide most faults: a first run has so many test files, a second one more, the last one the rest. */
const NEAREST = [6, 30];

/** Files beside `src` whose tests run here: they need no server. */
const SIMULATED = [
  "tests/simulation/forged_packs",
  "tests/simulation/kernel",
  "tests/simulation/store/sealed_reads_test.ts",
];

/** Does something in a copy of the tree, which is removed after it. */
async function inCopy<Result>(
  tree: readonly SourceFile[],
  action: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "gate-mutants-" });
  try {
    for (const { path } of tree) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.copyFile(path, join(folder, path));
    }
    return await action(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether some tests pass in the copy within so many seconds. */
async function pass(folder: string, tests: readonly string[], seconds: number, stop: AbortSignal): Promise<boolean> {
  const group = join(folder, "tests/mutants/group_test.ts");
  await Deno.writeTextFile(group, tests.map((test) => `import "../../${test}";\n`).join(""));
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "--quiet", "--no-prompt", "--no-check", "--frozen", LOCK, "-P=test", "--fail-fast", "--reporter=dot"],
      ...["--preload=tests/few_runs.ts", group],
    ],
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const kill = (): void => child.kill("SIGKILL");
  const timer = setTimeout(kill, seconds * 1000);
  stop.addEventListener("abort", kill);
  const { success } = await child.status;
  clearTimeout(timer);
  stop.removeEventListener("abort", kill);
  return success;
}

/** The tests that import a file, those with the fewest steps between first, in runs of their own. */
function partsOf(tests: readonly string[]): string[][] {
  const [first = 0, second = 0] = NEAREST;
  return [tests.slice(0, first), tests.slice(first, second), tests.slice(second)].filter((part) => part.length > 0);
}

interface Judge {
  readonly tree: readonly SourceFile[];
  readonly all: ReadonlySet<string>;
  readonly seconds: number;
  readonly stop: AbortSignal;
}

/** Whether a test notices a fault, planted in a copy of the tree. */
async function isCaught(folder: string, fault: Fault, { tree, all, seconds, stop }: Judge): Promise<boolean> {
  const file = join(folder, fault.path);
  const text = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, withFault(text, fault));
  try {
    for (const part of partsOf(importersOf(tree, [fault.path]).filter((path) => all.has(path)))) {
      if (stop.aborted || !(await pass(folder, part, seconds, stop))) return true;
    }
    return false;
  } finally {
    await Deno.writeTextFile(file, text);
  }
}

/** What is planted: the faults of the named files, or some of those of the core, drawn by a seed. */
function drawnOf(
  tree: readonly SourceFile[],
  paths: readonly string[],
  { count, seed }: { readonly count?: string | undefined; readonly seed?: string | undefined },
): readonly Fault[] {
  const files = tree.filter(({ path }) => paths.length > 0 ? paths.includes(path) : CORE.test(path));
  const faults = files.flatMap(faultsOf);
  return count === undefined && paths.length > 0 ? faults : draw(faults, Number(count ?? 300), Number(seed ?? 1));
}

/** Judges faults in as many copies of the tree as there are cores; gives those that no test noticed, and how many were judged. */
async function judgeAll(drawn: readonly Fault[], judge: Judge): Promise<{ judged: number; survivors: number }> {
  const counts = { judged: 0, survivors: 0 };
  const waiting = [...drawn];
  const work = async (folder: string): Promise<void> => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const caught = await isCaught(folder, fault, judge);
      if (judge.stop.aborted) break;
      counts.judged++;
      if (!caught) counts.survivors++;
      const where = `${fault.path}:${fault.line} "${fault.before}" to "${fault.after}"`;
      console.log(`${counts.judged} of ${drawn.length}: ${caught ? "caught  " : "SURVIVED"} ${where}`);
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, () => inCopy(judge.tree, work)));
  return counts;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    allowPositionals: true,
    options: { count: { type: "string" }, seed: { type: "string" } },
  });
  const tree = await readTree();
  const drawn = drawnOf(tree, positionals, values);
  if (drawn.length === 0) {
    console.error(`Cannot plant a fault: no file of ${positionals.join(", ") || "the core"} has a place for one`);
    return 2;
  }
  const all = new Set(
    [...testFilesIn(["src"]), ...testFilesIn(SIMULATED)].filter((path) => !SLOW_UNITS.includes(path)),
  );
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  console.log(`${drawn.length} faults; first all tests without one`);
  const began = performance.now();
  if (!(await inCopy(tree, (folder) => pass(folder, [...all], 3600, stop.signal)))) {
    console.error("Cannot judge a fault: a test fails without one");
    return 1;
  }
  const seconds = PATIENCE_SECONDS + (performance.now() - began) / 1000;
  const { judged, survivors } = await judgeAll(drawn, { tree, all, seconds, stop: stop.signal });
  console.log(`\n${judged - survivors} of ${judged} faults caught`);
  return judged === drawn.length && survivors === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
