/**
 * Tells the log of the process that the stores fail: callers are told each time, who runs the service would not be.
 *
 * @module
 */

import type { ToolAnswer } from "../../tools/framework/types.ts";
import type { Log } from "./log.ts";

/** For how long a failure is not told again, in milliseconds. */
export const TOLD_MILLISECONDS = 60_000;

const FAULTS: ReadonlySet<string> = new Set(["store_full", "store_failed", "store_corrupt"]);

/**
 * Makes what looks through answers.
 *
 * @param now A clock in milliseconds that never goes back
 */
export function watchStoreFaults(log: Log, now = (): number => performance.now()): (answer: ToolAnswer) => void {
  const told = new Map<string, number>();
  return (answer) => {
    if (answer.ok || !FAULTS.has(answer.error.code)) return;
    const { code, message } = answer.error;
    if (now() - (told.get(code) ?? -Infinity) < TOLD_MILLISECONDS) return;
    told.set(code, now());
    log("error", message, { code });
  };
}
