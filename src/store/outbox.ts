/**
 * The outbox: the accepted records that were not announced to a target yet. A record is in it from its commit on,
 * because it is derived from the records; so a commit can neither lose nor invent an announcement.
 */

import type { Identity } from "../canonical/identity.ts";
import type { OperationFamily, RunKey } from "../run/types.ts";

/** One accepted record, with what an announcement of it needs. */
export interface OutboxEntry {
  /** Its place in the order of the outbox. */
  readonly place: number;
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly revision: number;
  readonly record_id: Identity;
  readonly family: OperationFamily;
  /** JSON text of the result in the receipt of the record, which an archived run keeps too. */
  readonly result: string;
  /** Why the receipt cannot be believed, with its run and revision; absent where its seal holds. */
  readonly fault?: string;
}

/** The places that a sender has read. */
export interface OutboxProgress {
  /** The highest place that it read; null before its first read. */
  readonly after: number | null;
  /** Places that it read and that are not settled. */
  readonly open: readonly number[];
}

/** Records that wait for announcement. A target is named by a text of at most 64 characters. */
export interface Outbox {
  /** Registers a target: records that are accepted from then on wait for it. A known target keeps its place. */
  register(target: string): Promise<void>;
  /**
   * Takes or renews the lease of a registered target, by the clock of the store.
   *
   * @returns Whether the holder has the lease for the next `millis` milliseconds
   */
  lease(target: string, holder: string, millis: number): Promise<boolean>;
  /** Ends the lease of a holder, so that another one can take it at once. */
  release(target: string, holder: string): Promise<void>;
  /** Records that wait and were not read, in the order of the outbox, at most `limit`. */
  pending(target: string, progress: OutboxProgress, limit: number): Promise<OutboxEntry[]>;
  /**
   * Records that the places `done` are settled. Places above the first open one may be read again by the next holder.
   *
   * @returns False where the holder has lost its lease: nothing was changed
   */
  settle(target: string, holder: string, done: readonly number[], progress: OutboxProgress): Promise<boolean>;
}

/** The place up to which everything is settled. */
export function settledPlace({ after, open }: OutboxProgress): number {
  return open.length === 0 ? after ?? 0 : Math.min(...open) - 1;
}
