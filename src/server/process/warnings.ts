/**
 * Warnings of the runtime, which it prints as plain text: they become entries of the log, alike ones together.
 *
 * @module
 */

import process from "node:process";
import type { Log } from "./log.ts";

/** For how long warnings like one before are counted before they are told, in milliseconds. */
export const COUNTED_MILLISECONDS = 60_000;

/** Kinds of warnings that are told apart in that time. */
export const TOLD_APART = 16;

/** Characters of a warning that are told. */
const TOLD_CHARACTERS = 1024;

/** What is needed to take warnings. */
export interface WarningOptions {
  readonly log: Log;
  /** Calls a function once, after so many milliseconds. */
  readonly after?: (milliseconds: number, run: () => void) => void;
}

/** Takes warnings: the first of a kind is told at once, and those that follow it within a minute by one entry together. */
export function createWarnings({ log, after = afterwards }: WarningOptions): (warning: Error) => void {
  const counts = new Map<string, { count: number; last: string }>();
  const flush = (): void => {
    for (const { count, last } of counts.values()) {
      if (count > 0) log("warn", "Warnings of the runtime", { detail: last, count });
    }
    counts.clear();
  };
  return ({ name, message }) => {
    const detail = `${name}: ${message}`.slice(0, TOLD_CHARACTERS);
    const key = counts.has(name) || counts.size < TOLD_APART ? name : "";
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

/** Takes the warnings of this process from now on; returns what gives them back to the runtime. */
export function redirectWarnings(log: Log, after?: WarningOptions["after"]): () => void {
  const before = process.listeners("warning");
  const take = createWarnings(after === undefined ? { log } : { log, after });
  process.removeAllListeners("warning");
  process.on("warning", take);
  return () => {
    process.off("warning", take);
    for (const listener of before) process.on("warning", listener as (warning: Error) => void);
  };
}

function afterwards(milliseconds: number, run: () => void): void {
  Deno.unrefTimer(setTimeout(run, milliseconds));
}
