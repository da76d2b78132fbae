/**
 * Runs the benchmarks: `main.ts [--ci] [--quick] [--json FILE] [NAME...]`. A name picks a benchmark by a part of its
 * name or by a row that it measures. Fails where a row misses its `must`; with `--ci`, where it misses 0.7 of it. With
 * `--quick`, and with `--ci`, benchmarks that can take less to measure do.
 *
 * Without a name and without `--ci`, all are measured, and the page of the benchmarks is written with its plots.
 * `main.ts --page` writes it again from the results of the last run.
 *
 * Each of several benchmarks runs in a process of its own, so that none runs on the heap of another. One that ends its
 * process or does not end costs only its own rows.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { tableText } from "../checks/table_text.ts";
import { ROOT_URL } from "../checks/tree.ts";
import {
  type BenchReport,
  type BenchRow,
  type Curves,
  describeRow,
  holds,
  machineLoad,
  makeReport,
  type Measured,
  writeReport,
} from "./harness.ts";
import { pageFiles, RATIO_COLUMNS, ratioCells, RESULTS, RESULTS_FOLDER } from "./page.ts";

/** A benchmark and the rows it measures. */
interface Bench {
  readonly name: string;
  readonly rows: readonly string[];
  readonly load: () => Promise<{ readonly run: (quick: boolean) => Promise<readonly BenchRow[] | Measured> }>;
}

const BENCHES: readonly Bench[] = [
  { name: "cold_start", rows: ["1"], load: () => import("./rows/cold_start_bench.ts") },
  { name: "kernel", rows: ["7"], load: () => import("./rows/kernel_bench.ts") },
  { name: "canonical", rows: ["8"], load: () => import("./rows/canonical_bench.ts") },
  { name: "mutation", rows: ["5", "6"], load: () => import("./rows/mutation_bench.ts") },
  { name: "stdio", rows: ["5e", "6e", "15"], load: () => import("./rows/stdio_bench.ts") },
  { name: "tools", rows: ["2", "3", "12"], load: () => import("./rows/stdio_tools_bench.ts") },
  { name: "http", rows: ["4"], load: () => import("./rows/http_bench.ts") },
  { name: "verifier", rows: ["9", "10"], load: () => import("./rows/verifier_bench.ts") },
  { name: "sandbox", rows: ["sandbox"], load: () => import("./rows/sandbox_bench.ts") },
  { name: "typed", rows: ["typed"], load: () => import("./rows/typed_bench.ts") },
  { name: "audit", rows: ["audit"], load: () => import("./rows/audit_bench.ts") },
  { name: "notify", rows: ["notify"], load: () => import("./rows/notify_bench.ts") },
  { name: "docs", rows: ["11"], load: () => import("./rows/docs_bench.ts") },
  { name: "growth", rows: ["13"], load: () => import("./rows/growth_bench.ts") },
  { name: "loop", rows: ["14"], load: () => import("./rows/loop_bench.ts") },
  { name: "questions", rows: ["16"], load: () => import("./rows/questions_bench.ts") },
  { name: "law_file", rows: ["17"], load: () => import("./rows/law_file_bench.ts") },
  { name: "store", rows: ["store"], load: () => import("./rows/store_bench.ts") },
  { name: "postgres", rows: ["postgres"], load: () => import("./rows/postgres_bench.ts") },
  { name: "load", rows: [], load: () => import("./rows/load_bench.ts") },
  { name: "runpack", rows: [], load: () => import("./rows/runpack_bench.ts") },
];

/** Runs what was asked for; returns the exit code. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ci: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      json: { type: "string" },
    },
  });
  if (values.page) {
    await writePage();
    return 0;
  }
  const benches = BENCHES.filter((bench) => isAsked(bench, positionals));
  if (benches.length === 0) {
    console.error(`No benchmark is named ${positionals.map((name) => `"${name}"`).join(", ")}`);
    return 2;
  }
  const report = await measure(benches, values.quick || values.ci, values.ci);
  console.log(["", ...tableText(RATIO_COLUMNS, ratioCells(report.rows)), ""].join("\n"));
  if (values.json !== undefined) await writeReport(values.json, report);
  if (positionals.length === 0 && !values.ci) {
    await Deno.mkdir(new URL(RESULTS_FOLDER, ROOT_URL), { recursive: true });
    await writeReport(new URL(RESULTS, ROOT_URL).pathname, report);
    await writePage();
  }
  const missed = report.rows.filter((row) => !holds(row, values.ci));
  console.log(`${report.rows.length - missed.length} of ${report.rows.length} rows hold`);
  return missed.length === 0 && report.failed.length === 0 ? 0 : 1;
}

/** What one benchmark measured; null where it failed. */
type Found = Measured | null;

/** Runs benchmarks one after the other. One that fails to measure is named in the report, and the others run. */
async function measure(benches: readonly Bench[], quick: boolean, ci: boolean): Promise<BenchReport> {
  const load = machineLoad();
  const began = performance.now();
  const rows: BenchRow[] = [];
  const curves: Record<string, Curves[string]> = {};
  const failed: string[] = [];
  for (const bench of benches) {
    const start = performance.now();
    const found = await (benches.length === 1 ? measureHere(bench, quick) : measureApart(bench, quick)).catch(
      (error) => {
        console.error(`Cannot measure "${bench.name}":`, error);
        return null;
      },
    );
    if (benches.length > 1) console.error(`${bench.name} took ${((performance.now() - start) / 1000).toFixed(0)} s`);
    if (found === null) failed.push(bench.name);
    for (const row of found?.rows ?? []) console.log(describeRow(row, ci));
    rows.push(...found?.rows ?? []);
    Object.assign(curves, found?.curves);
  }
  return makeReport({ rows, curves, quick, failed, load, minutes: (performance.now() - began) / 60_000 });
}

async function measureHere({ load }: Bench, quick: boolean): Promise<Measured> {
  const measured = await (await load()).run(quick);
  return "rows" in measured ? measured : { rows: measured, curves: {} };
}

/** Seconds that one benchmark may take. The longest takes about a third of them on a machine without other work. */
const LONGEST_SECONDS = 900;

/** Measures in a process of its own. */
async function measureApart({ name }: Bench, quick: boolean): Promise<Found> {
  const results = await Deno.makeTempFile({ prefix: "gate-bench-", suffix: ".json" });
  try {
    const script = new URL(import.meta.url).pathname;
    const flags = ["--no-prompt", "--frozen", `--lock=${new URL("tests/deno.lock", ROOT_URL).pathname}`, "-P=bench"];
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, script, ...quick ? ["--quick"] : [], "--json", results, name],
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_SECONDS * 1000);
    const { signal } = await child.status;
    clearTimeout(timer);
    const text = await Deno.readTextFile(results);
    if (text === "") throw new Error(`Its process ended before it measured (${signal ?? "exit"})`);
    const { rows, curves, failed } = JSON.parse(text) as BenchReport;
    return failed.length > 0 ? null : { rows, curves };
  } finally {
    await Deno.remove(results);
  }
}

/** Writes the page and its plots from the results; removes plots of an earlier run that they have no data for. */
async function writePage(): Promise<void> {
  const report = JSON.parse(await Deno.readTextFile(new URL(RESULTS, ROOT_URL))) as BenchReport;
  const files = pageFiles(report);
  for (const { path, text } of files) await Deno.writeTextFile(new URL(path, ROOT_URL), text);
  const folder = new URL(`${RESULTS_FOLDER}/`, ROOT_URL);
  for (const { name } of Deno.readDirSync(folder)) {
    const isKept = !name.endsWith(".svg") || files.some(({ path }) => path === `${RESULTS_FOLDER}/${name}`);
    if (!isKept) await Deno.remove(new URL(name, folder));
  }
}

function isAsked(bench: Bench, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => bench.name.includes(name) || bench.rows.includes(name));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
