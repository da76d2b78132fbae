/**
 * How late the thread that serves comes to what is due: a timer that is due every few milliseconds is called late where
 * something computes meanwhile, and so is every request.
 *
 * @module
 */

import type { Metrics } from "./metrics.ts";

/** How often it is looked, in milliseconds. */
const INTERVAL = 20;

/** What times are told to, and what time it is. */
export interface LoopDelayOptions {
  readonly metrics: Pick<Metrics, "loopDelayed">;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** Makes what is called at each look. A delay counts for each look that it kept from being taken, and not only once. */
export function createLoopDelay({ metrics, now = (): number => performance.now() }: LoopDelayOptions): () => void {
  let due = now() + INTERVAL;
  return () => {
    const late = Math.max(0, now() - due);
    for (let left = late; left >= 0; left -= INTERVAL) metrics.loopDelayed(left);
    due += late + INTERVAL;
  };
}

/** Looks from now on, until it is ended; keeps no process from ending. */
export function watchLoop(metrics: LoopDelayOptions["metrics"]): { readonly close: () => void } {
  const timer = setInterval(createLoopDelay({ metrics }), INTERVAL);
  Deno.unrefTimer(timer);
  return { close: () => clearInterval(timer) };
}
