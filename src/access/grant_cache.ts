/**
 * Remembers for a short time what was granted; never what was refused.
 *
 * @module
 */

/** Grants by number. */
export interface GrantCache {
  readonly has: (id: number) => boolean;
  /** @param from Milliseconds of the clock from which the grant counts */
  readonly add: (id: number, from: number) => void;
}

/**
 * A cache of grants, the oldest of which makes room for a new one.
 *
 * @param lifetime Milliseconds that a grant counts
 * @param maximum Grants at one time
 * @param now A clock in milliseconds that never goes back
 */
export function createGrantCache(lifetime: number, maximum: number, now: () => number): GrantCache {
  // In the order in which they were added.
  const grants = new Map<number, number>();
  return {
    has: (id) => {
      const from = grants.get(id);
      if (from === undefined) return false;
      if (now() - from < lifetime) return true;
      grants.delete(id);
      return false;
    },
    add: (id, from) => {
      grants.delete(id);
      const oldest = grants.keys().next();
      if (grants.size >= maximum && !oldest.done) grants.delete(oldest.value);
      grants.set(id, from);
    },
  };
}
