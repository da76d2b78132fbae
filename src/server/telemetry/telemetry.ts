/**
 * Telemetry of the server: a span and a duration for each call, the log, and the metrics of the runtime.
 *
 * No payload, value, credential or principal leaves the process: attributes are names of this program, ids of runs and
 * stages, and at most {@link SCENARIOS} names of scenarios.
 */

import { type JsonObject, member } from "../../canonical/json.ts";
import type { Call, Measure } from "../../tools/framework/types.ts";
import type { Log, LogLevel } from "../process/log.ts";
import type { CallOutcome, Dispatcher } from "../protocol/dispatcher.ts";
import { knownTools, outcomeLabel } from "../protocol/metered_dispatcher.ts";
import { type Collector, startExporter } from "./exporter.ts";
import { type Attributes, type Distribution, DURATION_BOUNDS, metricsDocument, type Point } from "./otlp.ts";

/** Telemetry that runs. */
export interface Telemetry {
  /** A dispatcher whose calls have spans. */
  readonly trace: (dispatcher: Dispatcher) => Dispatcher;
  /** A log whose entries are exported too. */
  readonly follow: (log: Log) => Log;
  /** Reads the metrics of the runtime at each export. */
  readonly source: (read: () => readonly Measure[]) => void;
  readonly close: () => Promise<void>;
}

/** Maximum distinct scenarios in attributes; further ones are `other`. */
export const SCENARIOS = 200;

/** Fields of log entries that are exported. Others can contain names of callers or texts from outside. */
const FIELDS: ReadonlySet<string> = new Set(["code", "correlation_id", "count", "reason", "transport"]);

/** Arguments that become attributes of a span. */
const SUBJECTS = ["namespace_id", "run_id", "stage_id"] as const;
/** An identifier of a run or stage: no free text. */
const IDENTIFIER = /^[A-Za-z0-9._-]{1,128}$/;

/** Starts telemetry. */
export function startTelemetry(collector: Collector, log: Log, exportMillis?: number): Telemetry {
  const started = Date.now();
  const instance = crypto.randomUUID();
  const durations = createDurations();
  const scenarios = new Set<string>();
  let measures: () => readonly Measure[] = () => [];
  const exporter = startExporter({
    collector,
    instance,
    log,
    ...exportMillis === undefined ? {} : { exportMillis },
    metrics: () => metricsDocument(instance, started, Date.now(), points(), durations.all()),
  });
  const points = (): readonly Point[] => [
    ...measures().map(pointOf),
    { ...DROPPED, value: exporter.dropped() },
    { ...MEMORY, value: Deno.memoryUsage().rss },
  ];
  const scenarioOf = (input: JsonObject): Attributes => {
    const scenario = member(input, "scenario_id");
    if (typeof scenario !== "string" || !IDENTIFIER.test(scenario)) return {};
    if (!scenarios.has(scenario) && scenarios.size >= SCENARIOS) return { "gate.scenario_id": "other" };
    scenarios.add(scenario);
    return { "gate.scenario_id": scenario };
  };
  const trace = (dispatcher: Dispatcher): Dispatcher => {
    const known = knownTools();
    const call: Dispatcher["call"] = async (name, input, call) => {
      const start = Date.now();
      const since = performance.now();
      const outcome = await dispatcher.call(name, input, call);
      const millis = performance.now() - since;
      const tool = known(name, outcome);
      const error = errorOf(outcome);
      const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": tool, ...error };
      durations.observe(attributes, millis / 1000);
      // A scenario that is named by a refused call may not exist, so it takes no place.
      const subject = "error.type" in error ? {} : { ...subjectOf(input), ...scenarioOf(input) };
      exporter.span({
        ...parentOf(call),
        spanId: randomHex(8),
        name: `tools/call ${tool}`,
        start,
        end: start + millis,
        attributes: { ...attributes, "gate.outcome": outcomeLabel(outcome), ...subject, ...transportOf(call) },
        isError: "error.type" in error,
      });
      return outcome;
    };
    return { ...dispatcher, call };
  };
  return {
    trace,
    follow: (inner) => (level: LogLevel, message, fields = {}) => {
      inner(level, message, fields);
      if (level !== "debug") exporter.entry({ time: Date.now(), level, message, attributes: exportedFields(fields) });
    },
    source: (read) => measures = read,
    close: exporter.close,
  };
}

interface Durations {
  readonly observe: (attributes: Attributes, seconds: number) => void;
  readonly all: () => readonly Distribution[];
}

/** The distributions of durations by attributes; tools and errors are closed lists, so there are few. */
function createDurations(): Durations {
  const found = new Map<string, Distribution & { readonly buckets: number[]; count: number; sum: number }>();
  const observe = (attributes: Attributes, seconds: number): void => {
    const key = JSON.stringify(attributes);
    const zeros = (): number[] => Array.from({ length: DURATION_BOUNDS.length + 1 }, () => 0);
    const one = found.get(key) ?? { attributes, count: 0, sum: 0, buckets: zeros() };
    found.set(key, one);
    one.count++;
    one.sum += seconds;
    const bucket = DURATION_BOUNDS.findIndex((bound) => seconds <= bound);
    const at = bucket < 0 ? DURATION_BOUNDS.length : bucket;
    one.buckets[at] = (one.buckets[at] ?? 0) + 1;
  };
  return { observe, all: () => [...found.values()] };
}

const DROPPED = {
  name: "gate.telemetry.dropped",
  description: "Spans and log entries that were not sent",
  unit: "{entry}",
  type: "counter",
  attributes: {},
} as const;

const MEMORY = {
  name: "process.memory.usage",
  description: "Resident memory",
  unit: "By",
  type: "gauge",
  attributes: {},
} as const;

function pointOf({ name, type, help, labels, value }: Measure): Point {
  return { name: name.replace(/_total$/, ""), description: help, unit: "1", type, attributes: labels, value };
}

function errorOf(outcome: CallOutcome): Attributes {
  if (!outcome.ok) return { "error.type": outcome.error.kind };
  return outcome.answer.ok ? {} : { "error.type": "tool_error" };
}

function subjectOf(input: JsonObject): Attributes {
  const found = SUBJECTS.flatMap((name) => {
    const value = member(input, name);
    const isShown = typeof value === "number" ? Number.isSafeInteger(value) : IDENTIFIER.test(String(value ?? ""));
    return isShown && (typeof value === "number" || typeof value === "string")
      ? [[`gate.${name}`, value] as const]
      : [];
  });
  return Object.fromEntries(found);
}

function transportOf({ origin }: Call): Attributes {
  if (origin === undefined) return {};
  return { "network.transport": origin.transport === "stdio" ? "pipe" : "tcp" };
}

function parentOf({ origin }: Call): { readonly traceId: string; readonly parentSpanId: string | null } {
  const [, traceId, parentSpanId] = origin?.traceparent?.split("-") ?? [];
  if (traceId === undefined || parentSpanId === undefined) return { traceId: randomHex(16), parentSpanId: null };
  return { traceId, parentSpanId };
}

function exportedFields(fields: Readonly<Record<string, unknown>>): Attributes {
  const found = Object.entries(fields).filter(([name, value]) =>
    FIELDS.has(name) && (typeof value === "string" || Number.isSafeInteger(value))
  );
  return Object.fromEntries(found) as Attributes;
}

function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
