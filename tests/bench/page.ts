/**
 * The page of the benchmarks, and its plots, from the report of a run. Nothing is measured here.
 *
 * @module
 */

import { tableText } from "../checks/table_text.ts";
import { type BenchReport, type BenchRow, digits, verdictOf } from "./harness.ts";
import { type BarPlot, drawPlot, type LinePlot, numberText, type Plot } from "./plot.ts";

/** The folder of the plots and of the results, relative to the root of the tree. */
export const RESULTS_FOLDER = "docs/benchmarks";
/** The results of the run that the page shows. */
export const RESULTS = `${RESULTS_FOLDER}/results.json`;

/** A file to write, relative to the root of the tree. */
export interface PageFile {
  readonly path: string;
  readonly text: string;
}

/** A plot of the page without its points. */
type Heading = Omit<LinePlot, "kind" | "series">;

const CALLERS = { label: "callers", scale: "logarithmic" } as const;
const RECORDS = { label: "records, in runs of ten", scale: "logarithmic" } as const;
const LATENCY = { label: "milliseconds", scale: "logarithmic" } as const;
const DUE =
  "Milliseconds from the time when a call was due to its answer, at 0.7 of the throughput for that number of callers.";

/** The curves with their plots, in the order of the page. */
const HEADINGS: readonly (readonly [section: string, curve: string, heading: Heading])[] = [
  ["Throughput and latency", "throughput", {
    title: "Throughput by callers",
    description: "Answers a second over stdio, each caller calling again as soon as it has its answer.",
    x: CALLERS,
    y: { label: "answers a second", scale: "logarithmic" },
  }],
  ["Throughput and latency", "submit_latency", {
    title: "Latency of scenario_submit by callers, open loop",
    description: DUE,
    x: CALLERS,
    y: LATENCY,
  }],
  ["Throughput and latency", "status_latency", {
    title: "Latency of scenario_status by callers, open loop",
    description: DUE,
    x: CALLERS,
    y: LATENCY,
  }],
  ["Growth", "growth_time", {
    title: "Time of a call by records in the store",
    description: "One caller over stdio.",
    x: RECORDS,
    y: { label: "milliseconds", scale: "linear" },
  }],
  ["Growth", "growth_memory", {
    title: "Resident memory by records in the store",
    description: "Memory of a new process after 3,840 calls.",
    x: RECORDS,
    y: { label: "megabytes", scale: "linear" },
  }],
  ["Runpacks", "runpack", {
    title: "Export and verification of a runpack by records of the run",
    description: "One call of runpack_export or runpack_verify over stdio.",
    x: { label: "records of the run", scale: "logarithmic" },
    y: LATENCY,
  }],
];

/** Rows that are drawn as bars. */
const BARS: readonly {
  section: string;
  file: string;
  row: string;
  unit: string;
  title: string;
  description: string;
}[] = [
  {
    section: "Start and memory",
    file: "start",
    row: "1",
    unit: "ms",
    title: "Start to the first answer",
    description: "Milliseconds from the start of the process to its first answer over stdio, with a store on disk.",
  },
  {
    section: "Start and memory",
    file: "memory",
    row: "12",
    unit: "MB",
    title: "Resident memory when idle and after load",
    description: "Megabytes that each process has resident.",
  },
];

/** What each plot of a section shows beyond its labels. */
const NOTES: Readonly<Record<string, string>> = {
  "Throughput and latency": [
    "First every caller calls again as soon as it has its answer; that is the throughput. Then calls are due at 0.7 of that rate,",
    "whatever the answers do (open loop). A call that waits for the one before it is measured from its due time. So one slow",
    "answer counts for every call that it delays. Server and callers share the processors.",
  ].join("\n"),
  Growth: "Both lines of a flat store are level: what a call costs does not depend on what the store holds.",
  Runpacks: "A verification reads, hashes and, with full replay, decides again every record.",
  "Start and memory": "Each beside the reference server that the table names.",
};

/** The files of the page. */
export function pageFiles(report: BenchReport): PageFile[] {
  const plots = plotsOf(report);
  const sections = [...new Set(plots.map(({ section }) => section))];
  const lines = [
    ...["# Benchmarks", "", ...opening(report), "", "## Ratios", "", ...ratios(report.rows), ""],
    ...sections.flatMap((section) => [
      ...[`## ${section}`, "", NOTES[section] ?? "", ""],
      ...plots.filter((one) => one.section === section)
        .flatMap(({ file, plot }) => [`![${plot.title}. ${plot.description}](benchmarks/${file}.svg)`, ""]),
    ]),
  ];
  return [
    { path: "docs/benchmarks.md", text: `${lines.join("\n").trimEnd()}\n` },
    ...plots.map(({ file, plot }) => ({ path: `${RESULTS_FOLDER}/${file}.svg`, text: drawPlot(plot) })),
  ];
}

function opening({ taken_at, machine, versions, quick, failed, minutes }: BenchReport): string[] {
  const memory = Math.round(machine.memory_bytes / 2 ** 30);
  return [
    "How fast gate is beside other programs and beside what the machine can do, in one run:",
    "",
    "```sh",
    "deno task bench",
    "```",
    "",
    "It needs Node, npm, OpenSSL and PostgreSQL from Debian packages, and writes this page, its plots and",
    "[their data](benchmarks/results.json). `deno task bench NAME` measures one benchmark and writes nothing, `--quick` measures less, and",
    "`--page` draws the page again from the data.",
    "",
    `Measured on ${
      taken_at.slice(0, 10)
    }: ${machine.cores} cores (${machine.cpu}), ${memory} GiB, ${machine.os}, Deno ${versions.deno}.`,
    `In the minute before, ${numberText(machine.load)} processes had work for the cores.` +
    (minutes === undefined ? "" : ` The run took ${Math.ceil(minutes)} minutes.`) +
    (quick ? " It was a quick run, with smaller stores and shorter rounds." : ""),
    ...failed.length === 0 ? [] : ["", `Not measured: ${failed.join(", ")}.`],
  ];
}

/** The columns of {@link ratioCells}. */
export const RATIO_COLUMNS = ["Row", "What", "gate", "Beside", "Ratio", "Must", "Goal", "Result"] as const;

/** Both values of each row, their ratio, what it should be, and whether it is. */
export function ratioCells(rows: readonly BenchRow[]): string[][] {
  return rows.map((row) => {
    const sign = row.direction === "higher" ? "≥" : "≤";
    const bound = (value: number | null): string => value === null ? "" : `${sign} ${value}`;
    return [
      row.row,
      row.name,
      `${digits(row.ours)} ${row.unit}`,
      `${digits(row.peer)} ${row.unit}, ${row.peer_name}`,
      digits(row.ratio),
      bound(row.must),
      bound(row.goal),
      verdictOf(row),
    ];
  });
}

function ratios(rows: readonly BenchRow[]): string[] {
  const missed = rows.filter((row) => verdictOf(row) === "missed").length;
  const sentence = missed === 0
    ? "Every row holds what it must."
    : `${missed} of ${rows.length} rows miss what they must hold.`;
  return [
    "Both sides in turns, medians of at least five rounds; memory after load is measured once.",
    `The ratio is gate's value over the other. ${sentence}`,
    "Over stdio, a bare client writes lines and reads the id and the head of each answer: it shares the processors with the server,",
    "and one that parsed and checked each answer would measure itself.",
    "",
    ...tableText(RATIO_COLUMNS, ratioCells(rows).map((cells) => cells.map(markPackages))),
  ];
}

/** Renderers take a package with a version for a mail address, unless it is code. */
function markPackages(text: string): string {
  return text.replace(/\S+@\S*\w/g, "`$&`");
}

interface Placed {
  readonly section: string;
  readonly file: string;
  readonly plot: Plot;
}

/** The plots that the report has data for. */
function plotsOf({ rows, curves }: BenchReport): Placed[] {
  const lines = HEADINGS.flatMap(([section, file, heading]): Placed[] => {
    const series = curves[file] ?? [];
    return series.length === 0 ? [] : [{ section, file, plot: { kind: "lines", ...heading, series } }];
  });
  const bars = BARS.flatMap(({ section, file, row, unit, title, description }): Placed[] => {
    const found = rows.filter((one) => one.row === row && one.unit === unit && Number.isFinite(one.ratio));
    const plot: BarPlot = { kind: "bars", title, description, label: unit, bars: barsOf(found) };
    return found.length === 0 ? [] : [{ section, file, plot }];
  });
  return [...lines, ...bars];
}

/** One bar for each value of gate, and one for each other side. */
function barsOf(rows: readonly BenchRow[]): BarPlot["bars"] {
  const peers = new Map(rows.map((row) => [row.peer_name, row.peer]));
  return [
    ...rows.map(({ name, ours }) => ({ name: `gate: ${name}`, value: ours, isPeer: false })),
    ...[...peers].map(([name, value]) => ({ name, value, isPeer: true })),
  ];
}
