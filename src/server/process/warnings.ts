/** Writes warnings of the runtime to the log instead of standard error, and counts repeated ones. */

import process from "node:process";
import type { Log } from "./log.ts";

/** How long repeated warnings are counted before they are logged, in milliseconds. */
export const COUNTED_MILLISECONDS = 60_000;

/** Kinds of warnings that are counted separately in that time. */
export const DISTINCT_KINDS = 16;

/** The most characters of a warning in the log. */
const DETAIL_CHARACTERS = 1024;

/** The options of the handler. */
export interface WarningOptions {
  readonly log: Log;
  /** Calls a function once, after a number of milliseconds. */
  readonly after?: (milliseconds: number, run: () => void) => void;
}

/** Makes the handler. It logs the first warning of a kind at once, and later ones within a minute as one entry. */
export function createWarnings({ log, after = afterwards }: WarningOptions): (warning: Error) => void {
  const counts = new Map<string, { count: number; last: string }>();
  const flush = (): void => {
    for (const { count, last } of counts.values()) {
      if (count > 0) log("warn", "Warnings of the runtime", { detail: last, count });
    }
    counts.clear();
  };
  return ({ name, message }) => {
    const detail = `${name}: ${message}`.slice(0, DETAIL_CHARACTERS);
    const key = counts.has(name) || counts.size < DISTINCT_KINDS ? name : "";
    const known = counts.get(key);
    if (known !== undefined) {
      known.count++;
      known.last = detail;
      return;
    }
    if (counts.size === 0) after(COUNTED_MILLISECONDS, flush);
    counts.set(key, { count: 0, last: detail });
    log("warn", "Warning of the runtime", { detail });
  };
}

/** Redirects the warnings of this process to the log; the returned function restores the runtime's handlers. */
export function redirectWarnings(log: Log, after?: WarningOptions["after"]): () => void {
  const before = process.listeners("warning");
  const handle = createWarnings(after === undefined ? { log } : { log, after });
  process.removeAllListeners("warning");
  process.on("warning", handle);
  return () => {
    process.off("warning", handle);
    for (const listener of before) process.on("warning", listener as (warning: Error) => void);
  };
}

/** Runs a function later, unless the process ends before. */
export function afterwards(milliseconds: number, run: () => void): void {
  Deno.unrefTimer(setTimeout(run, milliseconds));
}
