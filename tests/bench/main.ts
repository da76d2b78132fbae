/**
 * Runs the benchmarks: `main.ts [--ci] [--quick] [--json FILE] [NAME...]`. A name picks a benchmark by a part of its
 * name or by a row that it measures. Fails where a row misses its `must`; with `--ci`, where it misses 0.7 of it. With
 * `--quick`, and with `--ci`, benchmarks that can take less to measure do.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type BenchRow, describeRow, holds, makeReport, writeReport } from "./harness.ts";

/** A benchmark and the rows it measures. */
interface Bench {
  readonly name: string;
  readonly rows: readonly string[];
  readonly load: () => Promise<{ readonly run: (quick: boolean) => Promise<BenchRow[]> }>;
}

const BENCHES: readonly Bench[] = [
  { name: "cold_start", rows: ["1"], load: () => import("./cold_start_bench.ts") },
  { name: "kernel", rows: ["7"], load: () => import("./kernel_bench.ts") },
  { name: "canonical", rows: ["8"], load: () => import("./canonical_bench.ts") },
  { name: "mutation", rows: ["5", "6"], load: () => import("./mutation_bench.ts") },
  { name: "stdio", rows: ["5e", "6e"], load: () => import("./stdio_bench.ts") },
  { name: "tools", rows: ["2", "3", "12"], load: () => import("./stdio_tools_bench.ts") },
  { name: "http", rows: ["4"], load: () => import("./http_bench.ts") },
  { name: "verifier", rows: ["9", "10"], load: () => import("./verifier_bench.ts") },
  { name: "sandbox", rows: ["sandbox"], load: () => import("./sandbox_bench.ts") },
  { name: "typed", rows: ["typed"], load: () => import("./typed_bench.ts") },
  { name: "audit", rows: ["audit"], load: () => import("./audit_bench.ts") },
  { name: "docs", rows: ["11"], load: () => import("./docs_bench.ts") },
  { name: "growth", rows: ["13"], load: () => import("./growth_bench.ts") },
  { name: "loop", rows: ["14"], load: () => import("./loop_bench.ts") },
  { name: "store", rows: ["store"], load: () => import("./store_bench.ts") },
  { name: "postgres", rows: ["postgres"], load: () => import("./postgres_bench.ts") },
];

/** Runs what was asked for; returns the exit code. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ci: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
    },
  });
  const benches = BENCHES.filter((bench) => isAsked(bench, positionals));
  if (benches.length === 0) {
    console.error(`No benchmark is named ${positionals.map((name) => `"${name}"`).join(", ")}`);
    return 2;
  }
  const rows: BenchRow[] = [];
  for (const bench of benches) {
    for (const row of await (await bench.load()).run(values.quick || values.ci)) {
      console.log(describeRow(row, values.ci));
      rows.push(row);
    }
  }
  if (values.json !== undefined) await writeReport(values.json, makeReport(rows));
  const missed = rows.filter((row) => !holds(row, values.ci));
  console.log(`${rows.length - missed.length} of ${rows.length} rows hold`);
  return missed.length === 0 ? 0 : 1;
}

function isAsked(bench: Bench, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => bench.name.includes(name) || bench.rows.includes(name));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
