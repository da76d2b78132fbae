/**
 * Keeps standard output for the protocol: text that the program or a library prints becomes a log entry.
 *
 * @module
 */

import type { Log, LogLevel } from "./log.ts";

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
export function redirectConsole(log: Log): () => void {
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
