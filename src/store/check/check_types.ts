/** Options, counts and report of a check of a store. */

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import type { StoreRows } from "../rows/store_rows.ts";
import type { StoredRecord } from "../types.ts";

/** The content of a store, counted. */
export interface StoreCounts {
  laws: number;
  runs: number;
  /** Runs whose records are in a runpack. */
  archived_runs: number;
  records: number;
  /** Values and payloads kept with records. */
  material: number;
  artifacts: number;
  snapshots: number;
  schemas: number;
  /** Versions of typed providers. */
  typed_providers: number;
}

/** One problem and its position. */
export interface StoreProblem {
  readonly what: "file" | "law" | "run" | "record" | "snapshot" | "artifact" | "schema" | "typed_provider";
  readonly namespace_id: number | null;
  readonly run_id: string | null;
  readonly revision: number | null;
  readonly message: string;
}

/** The report of a check. */
export interface StoreCheckReport {
  /** The file, or the database without user and password. */
  readonly path: string;
  /** Whether the check found no problem. */
  readonly sound: boolean;
  readonly counts: StoreCounts;
  /** Whether the states of runs were rebuilt from their records and compared with their snapshots. */
  readonly states_rebuilt: boolean;
  readonly problems: readonly StoreProblem[];
}

/** The part of a record that a fold reads. */
export type FoldedRecord = Pick<StoredRecord, "revision" | "record_id" | "record">;

/**
 * Folds all records of a run from the first on, under the canonical text of its law. Returns the canonical text of the
 * state; may throw.
 */
export type FoldState = (law: string, records: readonly FoldedRecord[]) => string;

/** Options of a check. */
export interface CheckOptions {
  readonly sha256: Sha256;
  /** Rebuilds states; without it, snapshots are only hashed. */
  readonly fold?: FoldState;
  /** Why the records of an archived run cannot be read from its runpack, or null; without it, no runpack is read. */
  readonly runpackProblem?: (runpack: Identity) => Promise<string | null>;
  /** Called from time to time with the counts so far. */
  readonly onProgress?: (counts: Readonly<StoreCounts>) => void;
}

/** A running check. */
export interface Checking {
  readonly rows: StoreRows;
  readonly options: CheckOptions;
  readonly counts: StoreCounts;
  /** Records a problem. */
  readonly report: (
    what: StoreProblem["what"],
    message: string,
    position?: { readonly namespace_id: number; readonly run_id?: string; readonly revision?: number },
  ) => void;
  /** Reports progress and yields to the event loop. */
  readonly turn: () => Promise<void>;
}
