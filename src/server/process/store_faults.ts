/**
 * Logs failures of the stores. Callers receive each failure; the log shows them to the operator.
 *
 * @module
 */

import type { ToolAnswer } from "../../tools/framework/types.ts";
import type { Log } from "./log.ts";

/** How long the same failure is not logged again, in milliseconds. */
export const REPEAT_MILLISECONDS = 60_000;

const FAULTS: ReadonlySet<string> = new Set(["store_full", "store_failed", "store_corrupt"]);

/**
 * Makes the function that logs failures in answers.
 *
 * @param now A clock in milliseconds that never goes back
 */
export function watchStoreFaults(log: Log, now = (): number => performance.now()): (answer: ToolAnswer) => void {
  const logged = new Map<string, number>();
  return (answer) => {
    if (answer.ok || !FAULTS.has(answer.error.code)) return;
    const { code, message } = answer.error;
    if (now() - (logged.get(code) ?? -Infinity) < REPEAT_MILLISECONDS) return;
    logged.set(code, now());
    log("error", message, { code });
  };
}
