/**
 * Delays before a stream is opened again.
 *
 * @module
 */

/** The first and the longest delay, in milliseconds. */
const BACKOFF = { first: 1_000, longest: 60_000 } as const;

/**
 * The delay before the next attempt, in milliseconds: twice as long after each failure, up to a minute. It is shortened
 * by up to a half, so that many pages do not reconnect at one time.
 *
 * @param failures Failures in a row before the last one, from 0
 * @param chance From 0 up to 1
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reconnectDelay } from "@/console/backoff.ts";
 *
 * assert.deepEqual([0, 1, 100].map((failures) => reconnectDelay(failures, 0)), [500, 1000, 30_000]);
 * ```
 */
export function reconnectDelay(failures: number, chance: number): number {
  return Math.min(BACKOFF.first * 2 ** failures, BACKOFF.longest) * (0.5 + chance / 2);
}
