/**
 * Sends telemetry to a collector. Its queues are bounded, and what does not fit is dropped and counted: calls never
 * wait for it.
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { Log } from "../process/log.ts";
import { type LogEntry, logsDocument, type Span, tracesDocument } from "./otlp.ts";

/** Where telemetry goes. */
export interface Collector {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Headers with credentials; never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The options of an exporter. */
export interface ExporterOptions {
  readonly collector: Collector;
  /** Identifies this process. */
  readonly instance: string;
  /** The document of all metrics now. */
  readonly metrics: () => JsonObject;
  /** Receives a failure at most once a minute. */
  readonly log: Log;
  /** Milliseconds between two exports; default {@link EXPORT_MILLIS}. */
  readonly exportMillis?: number;
}

/** A running exporter. */
export interface Exporter {
  readonly span: (span: Span) => void;
  readonly entry: (entry: LogEntry) => void;
  /** Spans and log entries that were dropped so far. */
  readonly dropped: () => number;
  /** Sends what is queued, waiting at most {@link CLOSE_MILLIS}. */
  readonly close: () => Promise<void>;
}

/** Milliseconds between two exports. */
const EXPORT_MILLIS = 5_000;
/** Maximum spans, and maximum log entries, that wait. */
export const QUEUE_ENTRIES = 2_048;
/** Milliseconds for one request. */
const REQUEST_MILLIS = 10_000;
const CLOSE_MILLIS = 3_000;
const REPORT_MILLIS = 60_000;

/** Starts to export. */
export function startExporter(options: ExporterOptions): Exporter {
  const { instance, log } = options;
  let spans: Span[] = [];
  let entries: LogEntry[] = [];
  let dropped = 0;
  let reportedAt = -Infinity;
  let exporting: Promise<void> | null = null;
  const stopping = new AbortController();

  const put = <Item>(queue: Item[], item: Item): void => {
    if (queue.length < QUEUE_ENTRIES) queue.push(item);
    else dropped++;
  };
  const failed = (count: number, error: unknown): void => {
    dropped += count;
    if (performance.now() - reportedAt < REPORT_MILLIS) return;
    reportedAt = performance.now();
    const detail = error instanceof Error ? error.message : String(error);
    log("warn", "Cannot send telemetry", { endpoint: options.collector.endpoint, dropped, detail });
  };
  const exportOne = async (path: string, count: number, document: JsonObject): Promise<void> => {
    try {
      await post(options.collector, path, document, stopping.signal);
    } catch (error) {
      failed(count, error);
    }
  };
  const exportAll = async (): Promise<void> => {
    const [sentSpans, sentEntries] = [spans, entries];
    [spans, entries] = [[], []];
    await Promise.all([
      sentSpans.length === 0 ? null : exportOne("/v1/traces", sentSpans.length, tracesDocument(instance, sentSpans)),
      sentEntries.length === 0 ? null : exportOne("/v1/logs", sentEntries.length, logsDocument(instance, sentEntries)),
      exportOne("/v1/metrics", 0, options.metrics()),
    ]);
  };
  const run = (): Promise<void> => exporting ??= exportAll().finally(() => exporting = null);
  const timer = setInterval(run, options.exportMillis ?? EXPORT_MILLIS);
  Deno.unrefTimer(timer);
  return {
    span: (span) => put(spans, span),
    entry: (entry) => put(entries, entry),
    dropped: () => dropped,
    close: async () => {
      clearInterval(timer);
      const late = setTimeout(() => stopping.abort(), CLOSE_MILLIS);
      await exporting;
      await run();
      clearTimeout(late);
    },
  };
}

/** A request to a collector, without its address. */
interface Export {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function post(collector: Collector, path: string, document: JsonObject, stop: AbortSignal): Promise<void> {
  const url = new URL(`${collector.endpoint}${path}`);
  const request: Export = {
    method: "POST",
    headers: { ...collector.headers, "content-type": "application/json" },
    body: JSON.stringify(document),
    signal: AbortSignal.any([stop, AbortSignal.timeout(REQUEST_MILLIS)]),
  };
  const status = url.protocol === "http:" ? await sendDirectly(url, request) : await send(url, request);
  if (status < 200 || status > 299) throw new Error(`the collector answered ${status}`);
}

/** Sends a request over `https`; a proxy cannot read its content. Returns the status. */
async function send(url: URL, request: Export): Promise<number> {
  // A redirect would carry the credentials to another host.
  const response = await fetch(url, { ...request, redirect: "manual" });
  await response.body?.cancel();
  return response.status;
}

/**
 * Sends a request to a collector of this machine. `fetch` would send it, with its credentials, to the proxy that
 * `HTTP_PROXY` names. Returns the status.
 */
async function sendDirectly(url: URL, { body, ...options }: Export): Promise<number> {
  const { request } = await import("node:http");
  return await new Promise((resolve, reject) => {
    const sent = request(url, { ...options, agent: false }, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
