/**
 * Runs the server: log, signals, transport, and the tools behind it, which are loaded once the first answer is out.
 *
 * @module
 */

import type { ServerConfig } from "../config/server_types.ts";
import type { Tool, ToolName } from "../tools/types.ts";
import { redirectConsole } from "./console.ts";
import { createDispatcher } from "./dispatcher.ts";
import { createLimits } from "./limits.ts";
import { type Log, type LogLevel, openLog } from "./log.ts";
import { watchSignals } from "./signals.ts";
import { serveStdio } from "./stdio/serve_stdio.ts";

/** The tools, and what ends with them. */
export interface Runtime {
  readonly tools: ReadonlyMap<ToolName, Tool>;
  /** Closes stores and workers, after the last call. */
  readonly close: () => Promise<void>;
}

/** What a host needs. */
export interface HostOptions {
  readonly server: ServerConfig;
  readonly logLevel: LogLevel;
  /** Opens stores and makes the tools; called once. A rejection ends the process, its message is logged. */
  readonly loadRuntime: (log: Log) => Promise<Runtime>;
  /** False leaves every message to the SDK; the answers are the same. */
  readonly fastLane?: boolean;
}

/** How long a process without a client waits before it opens its stores, in milliseconds. */
const PRELOAD_MILLISECONDS = 250;

/** How long the end waits for standard error to take the last entries, in milliseconds. */
const LOG_FLUSH_MILLISECONDS = 200;

/**
 * Serves on standard input and output until the client is gone or the process is told to stop.
 *
 * @returns The exit code: 0 after an orderly end, 1 when the runtime could not be loaded
 */
export async function host(options: HostOptions): Promise<number> {
  const { log, flush } = openLog({
    level: options.logLevel,
    format: Deno.stderr.isTerminal() ? "text" : "json",
    write: (bytes) => Deno.stderr.write(bytes),
  });
  const restoreConsole = redirectConsole(log);
  const signals = watchSignals(Deno.exit);
  const broken = new AbortController();
  let runtime: Promise<Runtime> | null = null;
  const load = (): Promise<Runtime> => {
    if (runtime !== null) return runtime;
    runtime = options.loadRuntime(log);
    runtime.catch((error) => {
      log("error", error instanceof Error ? error.message : String(error));
      broken.abort();
    });
    return runtime;
  };
  const preload = setTimeout(load, PRELOAD_MILLISECONDS);
  const end = await serveStdio({
    streams: { read: (buffer) => Deno.stdin.read(buffer), write: (bytes) => Deno.stdout.write(bytes) },
    server: options.server,
    limits: createLimits(options.server.limits),
    dispatcher: createDispatcher({
      loadTools: async () => (await load()).tools,
      tools: options.server.tools,
      auth: options.server.auth,
      log,
    }),
    log,
    fastLane: options.fastLane ?? true,
    stop: AbortSignal.any([signals.stop, broken.signal]),
    answered: () => setTimeout(load, 0),
  });
  clearTimeout(preload);
  log("debug", "Stopped serving", { reason: end });
  await closeRuntime(runtime, log);
  signals.close();
  await flush(LOG_FLUSH_MILLISECONDS);
  restoreConsole();
  return broken.signal.aborted ? 1 : 0;
}

async function closeRuntime(runtime: Promise<Runtime> | null, log: Log): Promise<void> {
  const loaded = await runtime?.catch(() => null);
  try {
    await loaded?.close();
  } catch (error) {
    log("error", "Cannot close the stores", { detail: String(error) });
  }
}
