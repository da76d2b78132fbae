/**
 * What all benchmarks share: two sides measured in turns within one process, medians, and one way to report.
 *
 * @module
 */

import { cpus, loadavg, totalmem } from "node:os";
import type { Series } from "./plot.ts";

/** One measured ratio. */
export interface BenchRow {
  /** The number of the row in the table of targets. */
  readonly row: string;
  /** What was measured. */
  readonly name: string;
  /** Our median, in `unit`. */
  readonly ours: number;
  /** The other side's median, in `unit`. */
  readonly peer: number;
  /** What the other side is, with its version where it has one. */
  readonly peer_name: string;
  /** The unit of `ours`, `peer` and all samples. */
  readonly unit: string;
  /** `ours` / `peer`. */
  readonly ratio: number;
  /** The ratio that has to hold, or null where the row is only reported. */
  readonly must: number | null;
  /** The ratio we are after. */
  readonly goal: number | null;
  /** Whether a good ratio is high or low. */
  readonly direction: "higher" | "lower";
  /** All rounds, in the order they were run. */
  readonly samples: { readonly ours: readonly number[]; readonly peer: readonly number[] };
  /** What bounds the ratio, for the reader. */
  readonly ceiling?: string;
}

/** Series of plots, by the name of the plot. */
export type Curves = Readonly<Record<string, readonly Series[]>>;

/** What a benchmark measured that also draws plots. */
export interface Measured {
  readonly rows: readonly BenchRow[];
  readonly curves: Curves;
}

/** Runs one round of one side and returns its measurement. */
export type Side = () => number | Promise<number>;

/** How often two sides are run. */
export interface Rounds {
  /** Rounds that count; at least 5. 7 unless told. */
  readonly counted?: number;
  /** Rounds before them that do not. 2 unless told. */
  readonly warmUp?: number;
}

/** A row as its benchmark states it, before the sides are run. */
export type RowSpec =
  & Pick<BenchRow, "row" | "name" | "peer_name" | "unit" | "must" | "goal" | "direction">
  & { readonly ceiling?: string };

/** A comparison to run. */
export interface Comparison extends RowSpec {
  readonly ours: Side;
  readonly peer: Side;
  readonly rounds?: Rounds;
}

/** On shared machines ratios swing; there only what falls below this part of `must` fails. */
export const CI_FACTOR = 0.7;

/**
 * Runs both sides in turns and makes a row of their medians. Who goes first changes each round, so that neither side
 * always runs on the heap the other one left.
 *
 * @throws {RangeError} If fewer than 5 rounds are to be counted
 */
export async function compare(comparison: Comparison): Promise<BenchRow> {
  const samples = await alternate(comparison.ours, comparison.peer, comparison.rounds);
  return makeRow(comparison, samples);
}

/** Runs two sides in turns; see {@link compare}. */
export async function alternate(
  ours: Side,
  peer: Side,
  rounds: Rounds = {},
): Promise<{ ours: number[]; peer: number[] }> {
  const { counted = 7, warmUp = 2 } = rounds;
  if (counted < 5) throw new RangeError(`Cannot measure: counted rounds must be >= 5, got ${counted}`);
  const samples = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < warmUp + counted; round++) {
    const order = round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const);
    for (const side of order) {
      const sample = await (side === "ours" ? ours : peer)();
      if (round >= warmUp) samples[side].push(sample);
    }
  }
  return samples;
}

/** A row from samples that a benchmark took itself. */
export function makeRow(spec: RowSpec, samples: BenchRow["samples"]): BenchRow {
  const ours = median(samples.ours);
  const peer = median(samples.peer);
  const { row, name, peer_name, unit, must, goal, direction } = spec;
  const ceiling = spec.ceiling === undefined ? {} : { ceiling: spec.ceiling };
  return { row, name, ours, peer, peer_name, unit, ratio: ours / peer, must, goal, direction, samples, ...ceiling };
}

/** The middle of the values, the mean of the middle two where they are even in number. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("Cannot take a median: there are no values");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Tells whether a row holds its `must`, loosened by {@link CI_FACTOR} on shared machines. A ratio of NaN never does. */
export function holds(row: BenchRow, ci: boolean): boolean {
  if (!Number.isFinite(row.ratio)) return false;
  if (row.must === null) return true;
  const factor = ci ? CI_FACTOR : 1;
  return row.direction === "higher" ? row.ratio >= row.must * factor : row.ratio <= row.must / factor;
}

/** One line for people: both numbers, the ratio, what it should be, and whether it is. */
export function describeRow(row: BenchRow, ci: boolean): string {
  const sign = row.direction === "higher" ? ">=" : "<=";
  const target = row.must === null ? "report" : `must ${sign} ${row.must}`;
  const goal = row.goal === null ? "" : `, goal ${sign} ${row.goal}`;
  const verdict = holds(row, ci) ? (reaches(row) ? "goal" : "ok") : "FAILED";
  const numbers = `${digits(row.ours)} ${row.unit}, ${row.peer_name} ${digits(row.peer)} ${row.unit}`;
  const ceiling = row.ceiling === undefined ? "" : `; ceiling: ${row.ceiling}`;
  return `${row.row.padEnd(3)} ${verdict.padEnd(6)} ${row.name}: ${numbers}, ratio ${
    row.ratio.toFixed(2)
  } (${target}${goal}${ceiling})`;
}

/** Everything a reader needs to judge a run: machine, versions, all rows with their samples, and what the plots show. */
export interface BenchReport {
  readonly taken_at: string;
  /** Whether benchmarks took less where they can. */
  readonly quick: boolean;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory_bytes: number;
    readonly os: string;
    /** Processes that ran or waited for a processor, as the mean of the minute before the run. */
    readonly load: number;
  };
  readonly versions: { readonly deno: string; readonly v8: string };
  readonly rows: readonly BenchRow[];
  readonly curves: Curves;
  /** Names of the benchmarks that failed to measure. */
  readonly failed: readonly string[];
  /** How long the run took. */
  readonly minutes?: number;
}

/** The load of the machine now; see {@link BenchReport}. */
export function machineLoad(): number {
  return loadavg()[0] ?? 0;
}

/** What a run measured, and how. */
export interface MeasuredRun extends Measured {
  readonly quick: boolean;
  readonly failed: readonly string[];
  readonly minutes?: number;
  /** The load of the machine before the run. */
  readonly load: number;
}

/** The report of a run on this machine. */
export function makeReport({ quick, load, ...measured }: MeasuredRun): BenchReport {
  const all = cpus();
  return {
    taken_at: new Date().toISOString(),
    quick,
    machine: {
      cpu: all[0]?.model ?? "unknown",
      cores: all.length,
      memory_bytes: totalmem(),
      os: `${systemName()} ${Deno.build.arch}`,
      load,
    },
    versions: { deno: Deno.version.deno, v8: Deno.version.v8 },
    ...measured,
  };
}

/** The name of the system: of its distribution, where a file has it. */
function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(Deno.readTextFileSync("/etc/os-release"))?.[1] ?? Deno.build.os;
  } catch {
    return Deno.build.os;
  }
}

/** Writes a report as JSON, with five digits of each measured value. */
export async function writeReport(path: string, report: BenchReport): Promise<void> {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
  await Deno.writeTextFile(path, `${JSON.stringify(report, rounded, 1)}\n`);
}

/** Whether a row misses its `must`, holds it, or reaches its `goal`. */
export function verdictOf(row: BenchRow): "missed" | "reported" | "holds" | "goal" {
  if (!holds(row, false)) return "missed";
  if (reaches(row)) return "goal";
  return row.must === null ? "reported" : "holds";
}

function reaches(row: BenchRow): boolean {
  if (row.goal === null) return false;
  return row.direction === "higher" ? row.ratio >= row.goal : row.ratio <= row.goal;
}

/** A value with three significant digits, or with all before the point. A report as JSON has null for a value that is not finite. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return "-";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
