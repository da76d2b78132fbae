/**
 * OTLP over HTTP in its JSON form (https://opentelemetry.io/docs/specs/otlp/#otlphttp): the documents of spans, metrics
 * and log records.
 */

import { VERSION } from "../../config/product_version.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { LogLevel } from "../process/log.ts";

/** Values of attributes: text, whole numbers and truth values. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** One finished operation. Times are Unix milliseconds with fractions. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

/** One entry of the log. */
export interface LogEntry {
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: Attributes;
}

/** A value that is read at each export. */
export interface Point {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly type: "counter" | "gauge";
  readonly attributes: Attributes;
  readonly value: number;
}

/** A distribution of durations in seconds. */
export interface Distribution {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  /** One more than the bounds. */
  readonly buckets: readonly number[];
}

/** Buckets in seconds, as the conventions for MCP advise. */
export const DURATION_BOUNDS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** The histogram of the conventions for MCP. */
const DURATION = "mcp.server.operation.duration";

const SCOPE = { name: "gate", version: VERSION };

/** Severity numbers of the data model of logs. */
const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** `SPAN_KIND_SERVER`. */
const SERVER = 2;
/** `STATUS_CODE_ERROR`. */
const ERROR = 2;
/** `AGGREGATION_TEMPORALITY_CUMULATIVE`. */
const CUMULATIVE = 2;

/** Whole milliseconds become exact nanoseconds; fractions keep microseconds. */
function nanoseconds(millis: number): string {
  const whole = Math.floor(millis);
  return `${whole}${String(Math.floor((millis - whole) * 1000) * 1000).padStart(6, "0")}`;
}

function attributesOf(attributes: Attributes): readonly JsonObject[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string"
      ? { stringValue: value }
      : typeof value === "boolean"
      ? { boolValue: value }
      : { intValue: String(value) },
  }));
}

function resourceOf(instance: string): JsonObject {
  return {
    attributes: attributesOf({
      "service.name": "gate",
      "service.version": VERSION,
      "service.instance.id": instance,
    }),
  };
}

/** The document for `/v1/traces`. */
export function tracesDocument(instance: string, spans: readonly Span[]): JsonObject {
  const encoded = spans.map((span) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    ...span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId },
    name: span.name,
    kind: SERVER,
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(span.end),
    attributes: attributesOf(span.attributes),
    status: span.isError ? { code: ERROR } : {},
  }));
  return { resourceSpans: [{ resource: resourceOf(instance), scopeSpans: [{ scope: SCOPE, spans: encoded }] }] };
}

/** The document for `/v1/logs`. */
export function logsDocument(instance: string, entries: readonly LogEntry[]): JsonObject {
  const logRecords = entries.map(({ time, level, message, attributes }) => ({
    timeUnixNano: nanoseconds(time),
    severityNumber: SEVERITY[level],
    severityText: level.toUpperCase(),
    body: { stringValue: message },
    attributes: attributesOf(attributes),
  }));
  return { resourceLogs: [{ resource: resourceOf(instance), scopeLogs: [{ scope: SCOPE, logRecords }] }] };
}

/** The document for `/v1/metrics`: all values since `start`. */
export function metricsDocument(
  instance: string,
  start: number,
  now: number,
  points: readonly Point[],
  durations: readonly Distribution[],
): JsonObject {
  const times = { startTimeUnixNano: nanoseconds(start), timeUnixNano: nanoseconds(now) };
  const metrics: JsonObject[] = [...Map.groupBy(points, ({ name }) => name)].map(([name, group]) => {
    const dataPoints = group.map(({ attributes, value }) => ({
      ...times,
      attributes: attributesOf(attributes),
      asDouble: value,
    }));
    const [{ description, unit, type } = { description: "", unit: "1", type: "gauge" as const }] = group;
    const data: JsonObject = type === "gauge"
      ? { gauge: { dataPoints } }
      : { sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
    return { name, description, unit, ...data };
  });
  if (durations.length > 0) {
    const dataPoints = durations.map(({ attributes, count, sum, buckets }) => ({
      ...times,
      attributes: attributesOf(attributes),
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: DURATION_BOUNDS,
    }));
    const histogram = { dataPoints, aggregationTemporality: CUMULATIVE };
    metrics.push({ name: DURATION, description: "Duration of a request", unit: "s", histogram });
  }
  return { resourceMetrics: [{ resource: resourceOf(instance), scopeMetrics: [{ scope: SCOPE, metrics }] }] };
}
