/**
 * Bounds the lookups of names that run at one time. The runtime answers a lookup on one of its 32 threads for blocking
 * calls, which file operations need too. A name server that does not answer holds the thread for seconds after the
 * caller gave up, so unbounded lookups stop every file operation of the process.
 */

import { createLimiter } from "../canonical/limiter.ts";
import { untilAborted } from "./until_aborted.ts";

/**
 * Looks a host up, and gives all of its addresses.
 *
 * @throws The reason of the signal when it aborts
 */
export type HostLookup = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

interface SharedLookup {
  addresses: Promise<readonly string[]>;
  /** Callers that still wait. */
  callers: number;
}

/**
 * A resolver that runs at most `atOnce` lookups at one time. Concurrent callers of one host share a lookup, and a
 * lookup that no caller waits for does not begin.
 *
 * @param lookUp Looks a host up; never cancelled once it began
 */
export function shareLookups(lookUp: (host: string) => Promise<readonly string[]>, atOnce: number): HostLookup {
  const whenFree = createLimiter(atOnce);
  const pending = new Map<string, SharedLookup>();
  const begin = (host: string): SharedLookup => {
    const lookup: SharedLookup = { addresses: Promise.resolve([]), callers: 1 };
    pending.set(host, lookup);
    lookup.addresses = whenFree(async () => {
      try {
        return lookup.callers === 0 ? [] : await lookUp(host);
      } finally {
        // In the same turn as the decision above: a later caller begins a lookup of its own.
        pending.delete(host);
      }
    });
    return lookup;
  };
  return async (host, signal) => {
    const shared = pending.get(host);
    if (shared !== undefined) shared.callers++;
    const lookup = shared ?? begin(host);
    try {
      return await untilAborted(lookup.addresses, signal);
    } finally {
      lookup.callers--;
    }
  };
}
