/**
 * The metrics of the service in the text format of Prometheus (version 0.0.4). Every label has a closed set of values,
 * so that clients cannot make the tables grow.
 */

import type { Principal } from "../../access/types.ts";
import type { Measure } from "../../tools/framework/types.ts";

/** Records and renders metrics. */
export interface Metrics {
  /** Records a call of a tool, its outcome and duration. */
  readonly toolCalled: (tool: string, outcome: string, milliseconds: number) => void;
  /** Records an answered request. */
  readonly answered: (route: string, status: number, milliseconds: number) => void;
  /** Records a delay of the event loop. */
  readonly loopDelayed: (milliseconds: number) => void;
  /** Records a rejected connection or request. */
  readonly refused: (reason: string) => void;
  /** Adds a gauge that is read at each scrape; null leaves it out. */
  readonly gauge: (name: string, help: string, read: () => number | null) => void;
  /** Adds a source of measures that is read at each scrape, for the caller that scrapes. */
  readonly source: (read: MeasureSource) => void;
  /** The text of a scrape. */
  readonly render: (reader: Principal) => string;
}

/** The measures that a caller may see. */
type MeasureSource = (reader: Principal) => readonly Measure[];

/** Upper bounds of the buckets of times, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Upper bounds of the buckets of the loop's delay, in seconds. */
const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5];

/** The most distinct reasons of rejections. All are defined here, so there are few. */
const REASONS = 64;

interface Histogram {
  readonly bounds: readonly number[];
  readonly buckets: number[];
  sum: number;
  count: number;
}

interface Reading {
  readonly help: string;
  readonly read: () => number | null;
}

interface Tables {
  readonly calls: Map<string, number>;
  readonly callTimes: Map<string, Histogram>;
  readonly answers: Map<string, number>;
  readonly answerTimes: Map<string, Histogram>;
  readonly delays: Map<string, Histogram>;
  readonly refusals: Map<string, number>;
  readonly readings: Map<string, Reading>;
  readonly sources: MeasureSource[];
}

/** Makes an empty registry. */
export function createMetrics(): Metrics {
  const tables: Tables = {
    calls: new Map(),
    callTimes: new Map(),
    answers: new Map(),
    answerTimes: new Map(),
    delays: new Map(),
    refusals: new Map(),
    readings: new Map(),
    sources: [],
  };
  const callLabels = keptPair((tool, outcome: string) => labels({ tool, outcome }));
  const toolLabels = kept((tool: string) => labels({ tool }));
  const answerLabels = keptPair((route, status: number) => labels({ route, status: String(status) }));
  const routeLabels = kept((route: string) => labels({ route }));
  return {
    toolCalled: (tool, outcome, milliseconds) => {
      increase(tables.calls, callLabels(tool, outcome));
      observe(tables.callTimes, toolLabels(tool), milliseconds / 1000);
    },
    answered: (route, status, milliseconds) => {
      increase(tables.answers, answerLabels(route, status));
      observe(tables.answerTimes, routeLabels(route), milliseconds / 1000);
    },
    loopDelayed: (milliseconds) => observe(tables.delays, "", milliseconds / 1000, DELAY_BUCKETS),
    refused: (reason) => {
      const known = tables.refusals.has(labels({ reason })) || tables.refusals.size < REASONS;
      increase(tables.refusals, labels({ reason: known ? reason : "other" }));
    },
    gauge: (name, help, read) => void tables.readings.set(name, { help, read }),
    source: (read) => void tables.sources.push(read),
    render: (reader) => render(tables, reader),
  };
}

/** A function that makes the text of a value once. Labels have few values, and each call needs their texts. */
function kept<Value>(textOf: (value: Value) => string): (value: Value) => string {
  const texts = new Map<Value, string>();
  return (value) => {
    let text = texts.get(value);
    if (text === undefined) texts.set(value, text = textOf(value));
    return text;
  };
}

/** As {@link kept}, for two values. */
function keptPair<Second>(
  textOf: (first: string, second: Second) => string,
): (first: string, second: Second) => string {
  const tables = new Map<string, (second: Second) => string>();
  return (first, second) => {
    let table = tables.get(first);
    if (table === undefined) tables.set(first, table = kept((other) => textOf(first, other)));
    return table(second);
  };
}

function increase(table: Map<string, number>, key: string): void {
  table.set(key, (table.get(key) ?? 0) + 1);
}

function observe(table: Map<string, Histogram>, key: string, seconds: number, bounds = BUCKETS): void {
  let histogram = table.get(key);
  if (histogram === undefined) {
    histogram = { bounds, buckets: bounds.map(() => 0), sum: 0, count: 0 };
    table.set(key, histogram);
  }
  histogram.sum += seconds;
  histogram.count++;
  const bucket = bounds.findIndex((bound) => seconds <= bound);
  if (bucket >= 0) histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
}

function labels(values: Readonly<Record<string, string>>): string {
  let text = "";
  for (const name in values) text += `${text === "" ? "" : ","}${name}="${escaped(values[name] ?? "")}"`;
  return text;
}

function escaped(value: string): string {
  if (!/["\\\n]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function render(tables: Tables, reader: Principal): string {
  const lines = [
    ...counters("gate_tool_calls_total", "Calls of tools by outcome.", tables.calls),
    ...histograms("gate_tool_call_seconds", "Time that calls of tools took.", tables.callTimes),
    ...counters("gate_http_requests_total", "HTTP requests by route and status.", tables.answers),
    ...histograms("gate_http_request_seconds", "Time until HTTP requests were answered.", tables.answerTimes),
    ...histograms("gate_loop_delay_seconds", "Delay of timers in the serving thread.", tables.delays),
    ...counters("gate_refusals_total", "Rejected connections and requests, by reason.", tables.refusals),
  ];
  for (const [name, { help, read }] of tables.readings) {
    const value = read();
    if (value !== null) lines.push(...heading(name, help, "gauge"), `${name} ${value}`);
  }
  const measures = Map.groupBy(tables.sources.flatMap((read) => read(reader)), ({ name }) => name);
  for (const [name, group] of measures) {
    const [{ help, type } = { help: "", type: "gauge" }] = group;
    lines.push(...heading(name, help, type));
    for (const measure of group) lines.push(`${name}{${labels(measure.labels)}} ${measure.value}`);
  }
  return `${lines.join("\n")}\n`;
}

function heading(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function counters(name: string, help: string, table: ReadonlyMap<string, number>): string[] {
  return [...heading(name, help, "counter"), ...[...table].map(([key, count]) => `${name}{${key}} ${count}`)];
}

function histograms(name: string, help: string, table: ReadonlyMap<string, Histogram>): string[] {
  const lines = heading(name, help, "histogram");
  for (const [key, { bounds, buckets, sum, count }] of table) {
    const before = key === "" ? "" : `${key},`;
    const of = key === "" ? "" : `{${key}}`;
    let below = 0;
    for (const [index, bound] of bounds.entries()) {
      below += buckets[index] ?? 0;
      lines.push(`${name}_bucket{${before}le="${bound}"} ${below}`);
    }
    lines.push(`${name}_bucket{${before}le="+Inf"} ${count}`, `${name}_sum${of} ${sum}`, `${name}_count${of} ${count}`);
  }
  return lines;
}
