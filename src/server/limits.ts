/**
 * How much of the service one process and one caller may use at a time.
 *
 * @module
 */

import type { LimitsConfig, RateLimitConfig } from "../config/server_types.ts";
import type { EdgeError } from "./edge_error.ts";

/** Counts requests in work, and requests of a caller in a window. */
export interface Limits {
  /** Takes a request in, or says why not; one that was taken in must be {@link Limits.release}d once. */
  readonly admit: (caller: string) => EdgeError | null;
  /** Ends a request that was taken in. */
  readonly release: () => void;
  /** Whether the next request would find no room. */
  readonly isFull: () => boolean;
  /**
   * Counts a request that nobody vouches for against the address it came from, or says why even its refusal must wait.
   * Such addresses have a table of their own: filling it shuts out no caller who is known.
   */
  readonly turnAway: (address: string) => EdgeError | null;
  /** Requests in work. */
  readonly inflight: () => number;
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
  const rate = config.rate_limit;
  const callers = rate === null ? null : createWindows(rate, now);
  const strangers = rate === null ? null : createWindows(rate, now);
  let inflight = 0;
  return {
    isFull: () => inflight >= config.max_inflight,
    inflight: () => inflight,
    release: () => {
      inflight--;
    },
    turnAway: (address) => strangers?.(address) ?? null,
    admit: (caller) => {
      if (inflight >= config.max_inflight) {
        return {
          kind: "inflight_limit",
          message: "Server overloaded: server.limits.max_inflight requests are in work",
        };
      }
      const refusal = callers?.(caller) ?? null;
      if (refusal === null) inflight++;
      return refusal;
    },
  };
}

/** Makes a table of windows; the function counts one request of a key, or says why it cannot be taken. */
function createWindows(rate: RateLimitConfig, now: () => number): (key: string) => EdgeError | null {
  const windows = new Map<string, Window>();
  const windowOf = (key: string, time: number): Window | null => {
    const known = windows.get(key);
    if (known !== undefined && time - known.start < rate.window_ms) return known;
    windows.delete(key);
    if (windows.size >= rate.max_entries) forgetIdle(windows, time - 2 * rate.window_ms);
    if (windows.size >= rate.max_entries) return null;
    const fresh = { start: time, count: 0 };
    windows.set(key, fresh);
    return fresh;
  };
  return (key) => {
    const time = now();
    const window = windowOf(key, time);
    if (window === null) return { kind: "inflight_limit", message: "Server overloaded: too many callers" };
    if (window.count >= rate.max_requests) {
      const retryAfterMs = Math.max(1, Math.ceil(window.start + rate.window_ms - time));
      return { kind: "rate_limited", message: "Rate limit exceeded", retryAfterMs };
    }
    window.count++;
    return null;
  };
}

/** Forgets callers whose window began before a time; windows stand in the order in which they began. */
function forgetIdle(windows: Map<string, Window>, before: number): void {
  for (const [caller, window] of windows) {
    if (window.start >= before) return;
    windows.delete(caller);
  }
}
