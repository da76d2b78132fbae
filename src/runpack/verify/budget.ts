/**
 * The budget of a verification. It counts in terms of the format, so that every verifier counts alike, and it is
 * checked before anything is read.
 */

import { type Budget, BUDGET_MEMBERS, type BudgetLimits, type BudgetMember } from "./types.ts";

/** The limits of a request that sets none: far above the needs of a run that gate serves, and finite. */
const DEFAULT_LIMITS: Budget = {
  bytes_read: 64 * 1024 ** 3,
  canonical_work_bytes: 64 * 1024 ** 3,
  hashing_workers: 1,
  objects: 4_194_304,
  records: 16_777_216,
  tree_nodes: 65_536,
};

/** The cost of one step. */
export type Cost = { readonly [Member in BudgetMember]?: number };

/** Counts the consumption of a verification. */
export interface Meter {
  /** Whether a cost fits into every limit. */
  readonly allows: (cost: Cost) => boolean;
  /** Counts a cost if {@link Meter.allows} it; returns whether it did. */
  readonly charge: (cost: Cost) => boolean;
  readonly consumed: () => Budget;
  /** The limit in force. */
  readonly limit: (member: BudgetMember) => number;
}

/** Creates a meter at zero. */
export function createMeter(limits: BudgetLimits | null): Meter {
  const limit = (member: BudgetMember): number => limits?.[member] ?? DEFAULT_LIMITS[member];
  const consumed = {
    bytes_read: 0,
    canonical_work_bytes: 0,
    hashing_workers: 0,
    objects: 0,
    records: 0,
    tree_nodes: 0,
  };
  const allows = (cost: Cost): boolean =>
    BUDGET_MEMBERS.every((member) => consumed[member] + (cost[member] ?? 0) <= limit(member));
  return {
    allows,
    charge(cost): boolean {
      if (!allows(cost)) return false;
      for (const member of BUDGET_MEMBERS) consumed[member] += cost[member] ?? 0;
      return true;
    },
    consumed: () => ({ ...consumed }),
    limit,
  };
}
