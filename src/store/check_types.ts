/**
 * What a check of a store takes, finds and reports.
 *
 * @module
 */

import type { Sha256 } from "../canonical/identity.ts";
import type { Connection } from "./sqlite/connection.ts";
import type { StoredRecord } from "./types.ts";

/** What a store holds. */
export interface StoreCounts {
  laws: number;
  runs: number;
  records: number;
  /** Values and payloads kept with records. */
  material: number;
  artifacts: number;
  snapshots: number;
  schemas: number;
}

/** One thing that is wrong, and where. */
export interface StoreProblem {
  readonly what: "file" | "law" | "run" | "record" | "snapshot" | "artifact" | "schema";
  readonly namespace_id: number | null;
  readonly run_id: string | null;
  readonly revision: number | null;
  readonly message: string;
}

/** What a check found. */
export interface StoreCheckReport {
  readonly path: string;
  /** Whether nothing is wrong. */
  readonly sound: boolean;
  readonly counts: StoreCounts;
  /** Whether the states of runs were rebuilt from their records and compared with their snapshots. */
  readonly states_rebuilt: boolean;
  readonly problems: readonly StoreProblem[];
}

/** What of a record a fold reads. */
export type FoldedRecord = Pick<StoredRecord, "revision" | "record_id" | "record">;

/**
 * Folds the records of a run, all from the first, under the canonical text of its law; gives the canonical text of the state. May throw.
 */
export type FoldState = (law: string, records: readonly FoldedRecord[]) => string;

/** How a store is checked. */
export interface CheckOptions {
  readonly sha256: Sha256;
  /** Rebuilds states. Without it snapshots are only hashed. */
  readonly fold?: FoldState;
  /** Told now and then what is counted so far. */
  readonly onProgress?: (counts: Readonly<StoreCounts>) => void;
}

/** A check on its way. */
export interface Checking {
  readonly connection: Connection;
  readonly options: CheckOptions;
  readonly counts: StoreCounts;
  /** Writes down a problem. */
  readonly report: (
    what: StoreProblem["what"],
    message: string,
    place?: { readonly namespace_id: number; readonly run_id?: string; readonly revision?: number },
  ) => void;
  /** Lets the event loop turn and tells of the progress. */
  readonly turn: () => Promise<void>;
}
