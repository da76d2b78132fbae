/**
 * The log on standard error. It never blocks, and its queue is bounded: entries beyond the bound are dropped and
 * counted.
 */

import { terminalSafe } from "./terminal_safe.ts";

/** The severity of an entry, most severe first. */
export type LogLevel = "error" | "warn" | "info" | "debug";

/** Writes one entry. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** A log that can be flushed. */
export interface LogSink {
  readonly log: Log;
  /** Waits until all entries are written, at most `milliseconds`. */
  readonly flush: (milliseconds: number) => Promise<void>;
}

/** The format of entries. `json`: one JSON object per line; `text`: for people. */
export type LogFormat = "json" | "text";

/** The options of a log. */
export interface LogOptions {
  /** The lowest level that is written. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Writes some of the bytes; returns how many. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** The most bytes in the queue; further entries are dropped and counted. */
export const LOG_QUEUE_BYTES = 256 * 1024;

const SEVERITY: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/** Opens a log. */
export function openLog(options: LogOptions): LogSink {
  const encoder = new TextEncoder();
  const now = options.now ?? Date.now;
  let queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let dropped = 0;
  let writing: Promise<void> | null = null;

  const enqueue = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>): void => {
    const bytes = encoder.encode(formatEntry(options.format, now(), level, message, fields));
    if (queuedBytes + bytes.length > LOG_QUEUE_BYTES) {
      dropped++;
      return;
    }
    queue.push(bytes);
    queuedBytes += bytes.length;
    writing ??= drain();
  };

  const drain = async (): Promise<void> => {
    // Entries of one turn go out together.
    await Promise.resolve();
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        for (const bytes of batch) await writeAll(options.write, bytes);
      } catch {
        // Standard error is closed.
      }
      queuedBytes -= batch.reduce((sum, bytes) => sum + bytes.length, 0);
      if (dropped > 0) {
        const count = dropped;
        dropped = 0;
        enqueue("warn", "Log entries dropped: standard error was not read", { count });
      }
    }
    writing = null;
  };

  return {
    log: (level, message, fields = {}) => {
      if (SEVERITY[level] <= SEVERITY[options.level]) enqueue(level, message, fields);
    },
    flush: async (milliseconds) => {
      if (writing === null) return;
      using late = delay(milliseconds);
      await Promise.race([writing, late.passed]);
    },
  };
}

/** The format for the standard error of this process: text on a terminal, otherwise JSON. */
export function formatOfStderr(): LogFormat {
  return Deno.stderr.isTerminal() ? "text" : "json";
}

/** The line of one entry. */
export function formatEntry(
  format: LogFormat,
  time: number,
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  if (format === "json") {
    return `${terminalSafe(JSON.stringify({ time: new Date(time).toISOString(), level, message, ...fields }))}\n`;
  }
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${terminalSafe(JSON.stringify(value) ?? "")}`)
    .join("");
  return `gate ${level}: ${message}${rest}\n`;
}

/** Writes all of the bytes. */
export async function writeAll(write: (bytes: Uint8Array) => Promise<number>, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) at += await write(at === 0 ? bytes : bytes.subarray(at));
}

/** A time that passes, unless it is cancelled: by itself, or at the end of a block that holds it with `using`. */
interface Delay extends Disposable {
  readonly passed: Promise<void>;
  readonly cancel: () => void;
}

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve());
  return promise;
}

/** A cancellable delay. */
export function delay(milliseconds: number): Delay {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const cancel = (): void => clearTimeout(timer);
  return { passed: promise, cancel, [Symbol.dispose]: cancel };
}
