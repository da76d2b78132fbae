/**
 * Measures the delay of the event loop that serves requests: a timer that fires late shows how long requests wait.
 *
 * @module
 */

import type { Metrics } from "./metrics.ts";

/** The interval of measurements, in milliseconds. */
const INTERVAL = 20;

/** The options of the measurement. */
export interface LoopDelayOptions {
  readonly metrics: Pick<Metrics, "loopDelayed">;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** Makes the function of one measurement. A delay also counts for each measurement that it prevented. */
export function createLoopDelay({ metrics, now = (): number => performance.now() }: LoopDelayOptions): () => void {
  let due = now() + INTERVAL;
  return () => {
    const late = Math.max(0, now() - due);
    for (let left = late; left >= 0; left -= INTERVAL) metrics.loopDelayed(left);
    due += late + INTERVAL;
  };
}

/** Measures until it is closed. The timer does not keep the process alive. */
export function watchLoop(metrics: LoopDelayOptions["metrics"]): { readonly close: () => void } {
  const timer = setInterval(createLoopDelay({ metrics }), INTERVAL);
  Deno.unrefTimer(timer);
  return { close: () => clearInterval(timer) };
}
