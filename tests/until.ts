/**
 * Waits for what another process or a timer brings about.
 *
 * @module
 */

import { setImmediate } from "node:timers";

/** Milliseconds between two looks. */
const LOOK = 25;

/** Waits until something holds. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!await holds()) {
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

/**
 * Waits for two phases of `setImmediate`: whatever was to happen in the one after this turn has happened. A timer may end
 * before the first of them.
 */
export async function nextTurns(): Promise<void> {
  for (let phase = 0; phase < 2; phase++) await new Promise<void>((resolve) => setImmediate(resolve));
}
