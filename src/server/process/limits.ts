/** Limits requests in work and the rate of requests, per caller and in total. */

import type { LimitsConfig, RateLimitConfig, ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "./edge_error.ts";

/** Counts requests in work, and requests of each caller in a time window. */
export interface Limits {
  /** {@link Limits.count}s a request and lets it {@link Limits.enter}; returns an error or null. */
  readonly admit: (caller: string) => EdgeError | null;
  /** Counts a request of a caller against its rate; returns an error or null. */
  readonly count: (caller: string) => EdgeError | null;
  /** Adds a request to those in work; returns an error or null. After null it must be {@link Limits.release}d once. */
  readonly enter: (caller: string) => EdgeError | null;
  /** Ends a request in work. */
  readonly release: (caller: string) => void;
  /** Whether no caller could enter another request. */
  readonly isFull: () => boolean;
  /**
   * Counts an unauthenticated request against the rate of its address; returns an error or null. Addresses have their
   * own table, so that they cannot exhaust the table of known callers.
   */
  readonly turnAway: (address: string) => EdgeError | null;
  /** Requests in work. */
  readonly inflight: () => number;
}

interface Window {
  readonly start: number;
  count: number;
}

/** The options of limits, besides the configuration. */
export interface LimitsOptions {
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
  /** Whether some places are reserved for callers with few requests in work. */
  readonly isShared?: boolean;
}

/** One eighth of the places is reserved for callers with at most that many requests in work. */
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
    // A full server does not count the request against the rate.
    admit: (caller) => inflight >= places ? FULL : count(caller) ?? enter(caller),
  };
}

/** Whether a server distinguishes several callers, so that one could take the places of others. */
export function hasSeveralCallers({ transport, auth }: Pick<ServerConfig, "transport" | "auth">): boolean {
  if (transport === "stdio" || auth === null) return false;
  return auth.oauth === true || auth.mode === "mtls" || (auth.mode === "bearer_token" && auth.bearer_tokens.length > 1);
}

/** The error of a full server. */
export const FULL: EdgeError = {
  kind: "inflight_limit",
  message: "Server overloaded: server.limits.max_inflight requests are in work",
};

const FULL_FOR_CALLER: EdgeError = {
  kind: "inflight_limit",
  message: "Server overloaded: the places that are left are kept for other callers",
};

/** Makes a table of windows; the function counts one request of a key and returns an error or null. */
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

/** Forgets callers whose window began before a time. Windows are ordered by their beginning. */
function forgetIdle(windows: Map<string, Window>, before: number): void {
  for (const [caller, window] of windows) {
    if (window.start >= before) return;
    windows.delete(caller);
  }
}
