/**
 * How much of the service one process and one caller may use at a time.
 *
 * @module
 */

import type { LimitsConfig, RateLimitConfig, ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "./edge_error.ts";

/** Counts requests in work, and requests of a caller in a window. */
export interface Limits {
  /** {@link Limits.count}s a request and lets it {@link Limits.enter}, or says why not. */
  readonly admit: (caller: string) => EdgeError | null;
  /** Counts a request of a caller, or says why it comes too early. */
  readonly count: (caller: string) => EdgeError | null;
  /** Takes a request in, or says why not; one that was taken in must be {@link Limits.release}d once. */
  readonly enter: (caller: string) => EdgeError | null;
  /** Ends a request of a caller that was taken in. */
  readonly release: (caller: string) => void;
  /** Whether the next request would find no room, whoever sent it. */
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

/** What limits are made with, besides the configuration. */
export interface LimitsOptions {
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
  /** Whether some places are kept for callers who hold few. */
  readonly isShared?: boolean;
}

/** Of all places, this part is kept for callers who hold no more than that part. */
const KEPT_PART = 8;

/**
 * Limits as configured: at most `max_inflight` requests at one time, and fixed windows of `rate_limit.window_ms` with
 * `max_requests` each for every caller.
 */
export function createLimits(config: LimitsConfig, options: LimitsOptions = {}): Limits {
  const { now = (): number => performance.now(), isShared = false } = options;
  const { max_inflight: places, rate_limit: rate } = config;
  const callers = rate === null ? null : createWindows(rate, now);
  const strangers = rate === null ? null : createWindows(rate, now);
  const kept = isShared && places > 1 ? Math.max(1, Math.floor(places / KEPT_PART)) : 0;
  const held = new Map<string, number>();
  let inflight = 0;
  const count = (caller: string): EdgeError | null => callers?.(caller) ?? null;
  const enter = (caller: string): EdgeError | null => {
    const holds = held.get(caller) ?? 0;
    const free = places - inflight;
    if (free <= 0) return FULL;
    if (free <= kept && holds >= kept) return FULL_FOR_CALLER;
    held.set(caller, holds + 1);
    inflight++;
    return null;
  };
  return {
    count,
    enter,
    isFull: () => inflight >= places,
    inflight: () => inflight,
    release: (caller) => {
      const holds = held.get(caller) ?? 0;
      if (holds > 1) held.set(caller, holds - 1);
      else held.delete(caller);
      inflight--;
    },
    turnAway: (address) => strangers?.(address) ?? null,
    // Where there is no room nothing is counted.
    admit: (caller) => inflight >= places ? FULL : count(caller) ?? enter(caller),
  };
}

/** Whether callers of a server can be told apart, so that one could take the places of the others. */
export function hasSeveralCallers({ transport, auth }: Pick<ServerConfig, "transport" | "auth">): boolean {
  if (transport === "stdio" || auth === null) return false;
  return auth.mode === "mtls" || (auth.mode === "bearer_token" && auth.bearer_tokens.length > 1);
}

/** What is said where every place is taken. */
export const FULL: EdgeError = {
  kind: "inflight_limit",
  message: "Server overloaded: server.limits.max_inflight requests are in work",
};

const FULL_FOR_CALLER: EdgeError = {
  kind: "inflight_limit",
  message: "Server overloaded: the places that are left are kept for other callers",
};

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
