/**
 * How much of the service one process and one caller may use at a time.
 *
 * @module
 */

import type { LimitsConfig } from "../config/server_types.ts";
import type { EdgeError } from "./edge_error.ts";

/** Counts requests in work, and requests of a caller in a window. */
export interface Limits {
  /** Takes a request in, or says why not; one that was taken in must be {@link Limits.release}d once. */
  readonly admit: (caller: string) => EdgeError | null;
  /** Ends a request that was taken in. */
  readonly release: () => void;
  /** Whether the next request would find no room. */
  readonly isFull: () => boolean;
}

interface Window {
  readonly start: number;
  count: number;
}

/**
 * Limits as configured: at most `max_inflight` requests at one time, and fixed windows of `rate_limit.window_ms` with
 * `max_requests` each for every caller.
 *
 * @param config The limits
 * @param now A clock in milliseconds that never goes back
 */
export function createLimits(config: LimitsConfig, now: () => number = () => performance.now()): Limits {
  const windows = new Map<string, Window>();
  const rate = config.rate_limit;
  let inflight = 0;

  const windowOf = (caller: string, time: number, length: number): Window | null => {
    const known = windows.get(caller);
    if (known !== undefined && time - known.start < length) return known;
    windows.delete(caller);
    if (rate !== null && windows.size >= rate.max_entries) forgetIdle(windows, time - 2 * length);
    if (rate !== null && windows.size >= rate.max_entries) return null;
    const fresh = { start: time, count: 0 };
    windows.set(caller, fresh);
    return fresh;
  };

  return {
    isFull: () => inflight >= config.max_inflight,
    release: () => {
      inflight--;
    },
    admit: (caller) => {
      if (inflight >= config.max_inflight) {
        return {
          kind: "inflight_limit",
          message: "Server overloaded: server.limits.max_inflight requests are in work",
        };
      }
      if (rate !== null) {
        const time = now();
        const window = windowOf(caller, time, rate.window_ms);
        if (window === null) return { kind: "inflight_limit", message: "Server overloaded: too many callers" };
        if (window.count >= rate.max_requests) {
          const retryAfterMs = Math.max(1, Math.ceil(window.start + rate.window_ms - time));
          return { kind: "rate_limited", message: "Rate limit exceeded", retryAfterMs };
        }
        window.count++;
      }
      inflight++;
      return null;
    },
  };
}

/** Forgets callers whose window began before a time; windows stand in the order in which they began. */
function forgetIdle(windows: Map<string, Window>, before: number): void {
  for (const [caller, window] of windows) {
    if (window.start >= before) return;
    windows.delete(caller);
  }
}
