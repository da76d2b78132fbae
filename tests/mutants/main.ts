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

/** A run that takes this many times what it takes without a fault hangs; at least so many seconds. */
const PATIENCE = { times: 10, seconds: 60 };

/** The nearest importers decide most faults: a first run has so many test files, the second one the rest. */
const NEAREST = 6;

/** Files beside `src` whose tests run here: they need no server. */
const SIMULATED = [
  "tests/simulation/forged_packs",
  "tests/simulation/kernel",
  "tests/simulation/store/sealed_reads_test.ts",
];

async function copyTree(tree: readonly SourceFile[], folder: string): Promise<void> {
  for (const { path } of tree) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.copyFile(path, join(folder, path));
  }
}

/** Whether some tests pass in the copy, and how many seconds they took. */
async function pass(
  folder: string,
  tests: readonly string[],
  seconds: number,
  stop: AbortSignal,
): Promise<[boolean, number]> {
  const group = join(folder, "tests/mutants/group_test.ts");
  await Deno.writeTextFile(group, tests.map((test) => `import "../../${test}";\n`).join(""));
  const began = performance.now();
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
  return [success, (performance.now() - began) / 1000];
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    allowPositionals: true,
    options: { count: { type: "string" }, seed: { type: "string" } },
  });
  const tree = await readTree();
  const files = tree.filter(({ path }) => positionals.length > 0 ? positionals.includes(path) : CORE.test(path));
  const faults = files.flatMap(faultsOf);
  const drawn = values.count === undefined && positionals.length > 0
    ? faults
    : draw(faults, Number(values.count ?? 300), Number(values.seed ?? 1));
  if (drawn.length === 0) {
    console.error(`Cannot plant a fault: no file of ${positionals.join(", ") || "the core"} has a place for one`);
    return 2;
  }
  const all = new Set(
    [...testFilesIn(["src"]), ...testFilesIn(SIMULATED)].filter((path) => !SLOW_UNITS.includes(path)),
  );
  const folder = await Deno.makeTempDir({ prefix: "gate-mutants-" });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  let judged = 0;
  const survivors: Fault[] = [];
  const usual = new Map<string, number>();
  try {
    await copyTree(tree, folder);
    for (const [index, fault] of drawn.entries()) {
      const tests = importersOf(tree, [fault.path]).filter((path) => all.has(path));
      const where = `${fault.path}:${fault.line} "${fault.before}" to "${fault.after}"`;
      const text = files.find(({ path }) => path === fault.path)?.text ?? "";
      let caught = false;
      for (const part of [tests.slice(0, NEAREST), tests.slice(NEAREST)]) {
        if (caught || part.length === 0) continue;
        const key = part.join();
        if (!usual.has(key)) {
          const [isGreen, seconds] = await pass(folder, part, 3600, stop.signal);
          if (stop.signal.aborted) break;
          if (!isGreen) throw new Error(`Cannot judge ${where}: its tests fail without it`);
          usual.set(key, seconds);
        }
        await Deno.writeTextFile(join(folder, fault.path), withFault(text, fault));
        const patience = Math.max(PATIENCE.seconds, PATIENCE.times * (usual.get(key) ?? 0));
        caught = !(await pass(folder, part, patience, stop.signal))[0];
        await Deno.writeTextFile(join(folder, fault.path), text);
      }
      if (stop.signal.aborted) break;
      judged++;
      if (!caught) survivors.push(fault);
      console.log(`${index + 1} of ${drawn.length}: ${caught ? "caught  " : "SURVIVED"} ${where}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  console.log(`\n${judged - survivors.length} of ${judged} faults caught`);
  return judged === drawn.length && survivors.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
