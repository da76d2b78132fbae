/**
 * Runs the server: log, signals, transport and tools. On stdio the tools are loaded after the first answer was sent.
 */

import { type AuditService, createAuditService } from "./audit/service.ts";
import { type AuditCall, createDispatcher, NO_NAMESPACES } from "./protocol/dispatcher.ts";
import type { Hosting, HostOptions, Runtime } from "./hosting.ts";
import type { Call } from "../tools/framework/types.ts";
import type { EdgeError } from "./process/edge_error.ts";
import { createLimits, hasSeveralCallers, type Limits } from "./process/limits.ts";
import { formatOfStderr, type Log, type LogLevel, openLog, writeAll } from "./process/log.ts";
import { exitWhenUncaught, HANGUP_CODE, watchHangup, watchSignals } from "./process/signals.ts";
import { type StartFailure, startFailure, unreachable } from "./process/start_failure.ts";
import { serveStdio } from "./stdio/serve_stdio.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";

const LEVELS: Readonly<Record<string, LogLevel>> = {
  log: "info",
  info: "info",
  debug: "debug",
  dir: "debug",
  dirxml: "debug",
  table: "debug",
  trace: "debug",
  group: "debug",
  groupCollapsed: "debug",
  count: "debug",
  timeLog: "debug",
  timeEnd: "debug",
  warn: "warn",
  error: "error",
  assert: "error",
};

/** Redirects every printing method of the global console to a log; the returned function restores them. */
function redirectConsole(log: Log): () => void {
  const target = globalThis.console as unknown as Record<string, unknown>;
  const before = Object.keys(LEVELS).map((name) => [name, target[name]] as const);
  for (const [name, level] of Object.entries(LEVELS)) {
    target[name] = (...values: unknown[]): void => {
      if (name === "assert" && values[0]) return;
      log(level, values.map((value) => typeof value === "string" ? value : Deno.inspect(value)).join(" "));
    };
  }
  return () => {
    for (const [name, method] of before) target[name] = method;
  };
}

/** How long a process without a request waits before it opens its stores, in milliseconds. */
const PRELOAD_MILLISECONDS = 250;

/** How long the end waits for the last log entries to be written, in milliseconds. */
const LOG_FLUSH_MILLISECONDS = 1_000;

/**
 * Serves until the client is gone or a stop signal arrives.
 *
 * @returns The exit code: 0 after an orderly end, otherwise that of the {@link StartFailure} of the runtime or the transport
 */
export async function host(options: HostOptions): Promise<number> {
  const writeError = errorOutlet();
  const { log: ownLog, flush } = openLog({
    level: options.logLevel,
    format: formatOfStderr(),
    write: (bytes) => writeError(bytes).then(() => bytes.length),
  });
  const telemetry = await telemetryOf(options, ownLog);
  const log = telemetry?.follow(ownLog) ?? ownLog;
  const audit = createAuditService({ config: options.server.audit, writeError, log, openHeads: options.openHeads });
  const restoreConsole = redirectConsole(log);
  const signals = watchSignals(Deno.exit);
  exitWhenUncaught();
  const hangup = watchHangup(heedsHangup(options) ? audit.reopen : () => Deno.exit(HANGUP_CODE));
  const broken = new AbortController();
  let runtime: Promise<Runtime> | null = null;
  const load = (): Promise<Runtime> => {
    if (runtime !== null) return runtime;
    const loading = options.loadRuntime(log);
    runtime = Promise.all([loading, audit.open().catch(unreachable)]).then(([loaded]) => {
      telemetry?.source(() => loaded.measures?.("operator") ?? []);
      return loaded;
    }, async (error) => {
      await closeRuntime(loading, log);
      throw startFailure(error);
    });
    // This handler runs before others that wait for the runtime, so clients receive this failure and not a later one.
    runtime.catch((failure: StartFailure) => {
      log("error", failure.message);
      broken.abort(failure);
    });
    return runtime;
  };
  const limits = createLimits(options.server.limits, { isShared: hasSeveralCallers(options.server) });
  const dispatcher = createDispatcher({
    loadTools: async () => (await load()).tools,
    listNamespaces: async (begun, call) => await (await load()).namespaces?.(begun, call) ?? NO_NAMESPACES,
    scenarioOf: async ({ namespaceId, runId }) => await (await load()).scenarioOf?.(namespaceId, runId) ?? null,
    readPack: async (...request) => await (await load()).readPack?.(...request) ?? null,
    tools: options.server.tools,
    auth: options.server.auth,
    countRequest: (call) => countRequest(limits, audit, call),
    log,
    ...options.server.audit.enabled ? { loadCallAudit: () => loadCallAudit(audit, load) } : {},
    ...(options.offer === undefined ? {} : { offer: options.offer }),
  });
  const hosting: Hosting = {
    options,
    log,
    signals,
    audit,
    load,
    broken: broken.signal,
    limits,
    dispatcher: telemetry?.trace(dispatcher) ?? dispatcher,
  };
  const failure = await hostTransport(hosting).then(() => null, startFailure);
  // A failure of the runtime was logged already.
  if (failure !== null && !broken.signal.aborted) log("error", failure.message);
  await closeRuntime(runtime, log);
  await audit.close();
  await telemetry?.close();
  signals.close();
  hangup.close();
  await flush(LOG_FLUSH_MILLISECONDS);
  restoreConsole();
  return (broken.signal.aborted ? startFailure(broken.signal.reason) : failure)?.exitCode ?? 0;
}

/** Counts an operation of a list as the request that it would be alone. */
function countRequest(limits: Limits, audit: AuditService, { principal: { subject }, origin }: Call): EdgeError | null {
  const error = limits.count(subject);
  if (error !== null && origin !== undefined) audit.refused({ kind: "request", reason: error.kind, subject, origin });
  return error;
}

/** Starts telemetry where a collector is named. The module is loaded only then. */
async function telemetryOf({ collector }: HostOptions, log: Log): Promise<Telemetry | null> {
  if (collector === undefined || collector === null) return null;
  return (await import("./telemetry/telemetry.ts")).startTelemetry(collector, log);
}

/** Loads the function that audits calls; rejects with the start failure if the log cannot be opened. */
async function loadCallAudit(audit: AuditService, load: () => Promise<unknown>): Promise<AuditCall> {
  const loading = audit.loadCallAudit();
  loading.catch(() => undefined);
  await load();
  return await loading;
}

/** Whether SIGHUP reopens files. On stdio without an audit file, and for `gate console`, it means that the terminal is gone. */
function heedsHangup({ server: { transport, audit }, http }: HostOptions): boolean {
  return transport === "stdio" ? audit.path !== null : http?.link === undefined;
}

/** Serializes writes to standard error, so that lines of the log and the audit log do not mix. */
function errorOutlet(): (bytes: Uint8Array) => Promise<void> {
  let last = Promise.resolve();
  return (bytes) => last = last.catch(() => undefined).then(() => writeAll((rest) => Deno.stderr.write(rest), bytes));
}

async function hostTransport(hosting: Hosting): Promise<void> {
  const { transport } = hosting.options.server;
  if (transport === "stdio") return await hostStdio(hosting);
  return await (await import("./http_host.ts")).hostHttp(hosting, transport);
}

async function hostStdio({ options, log, limits, dispatcher, audit, load, signals, broken }: Hosting): Promise<void> {
  const preload = setTimeout(load, PRELOAD_MILLISECONDS);
  const end = await serveStdio({
    streams: { read: (buffer) => Deno.stdin.read(buffer), write: (bytes) => Deno.stdout.write(bytes) },
    server: options.server,
    limits,
    dispatcher,
    log,
    stop: signals.stop,
    broken,
    refused: audit.refused,
    answered: () => setTimeout(load, 0),
  });
  clearTimeout(preload);
  // A client that sends nothing may only test whether the configuration can be served.
  if (end === "end_of_input") await load().catch(() => undefined);
  log("debug", "Stopped serving", { reason: end });
}

async function closeRuntime(runtime: Promise<Runtime> | null, log: Log): Promise<void> {
  const loaded = await runtime?.catch(() => null);
  try {
    await loaded?.close();
  } catch (error) {
    log("error", "Cannot close the stores", { detail: String(error) });
  }
}
