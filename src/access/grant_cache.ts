/**
 * A cache of granted namespaces with a lifetime. Refusals are not cached.
 *
 * @module
 */

/** Grants by namespace. */
export interface GrantCache {
  readonly has: (id: number) => boolean;
  /** @param from Instant on the clock, in milliseconds, at which the lifetime begins */
  readonly add: (id: number, from: number) => void;
}

/**
 * A cache of grants; a full cache evicts the oldest grant.
 *
 * @param lifetime Milliseconds for which a grant is valid
 * @param maximum Grants at one time
 * @param now A clock in milliseconds that never goes back
 */
export function createGrantCache(lifetime: number, maximum: number, now: () => number): GrantCache {
  // Insertion order, oldest first.
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
