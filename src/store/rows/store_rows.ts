/** The rows of a store as they are stored and not verified: what a check reads, and what a copy is made of. */

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import type { RunEntry, RunHead, StoreError } from "../types.ts";
import { integer, type Row, text } from "./columns.ts";

/** The run of a row, without what its archiving left. */
export function runOf(row: Row): RunHead {
  return {
    run_key: { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") },
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "law_identity"),
    head: { record_id: text(row, "head"), revision: integer(row, "revision") },
  };
}

/** The instants of rows of open stages. */
export function toStages(rows: readonly Row[]): ReadonlyMap<string, number> {
  return new Map(rows.map((row) => [text(row, "stage_id"), integer(row, "opened")]));
}

/** The tables that are visited row by row. */
export type RowTable = "laws" | "artifacts" | "schemas" | "typed_providers";

/** A row that belongs to no run, or to a later revision than its run has. */
export interface Orphan {
  readonly what: "run" | "record" | "snapshot";
  readonly message: string;
  readonly run_key: RunKey | null;
}

/** Reads the rows of an open store, and changes nothing. All methods reject with errors of the engine or {@link StoreError}. */
export interface StoreRows {
  /** The file, or the database without user and password. */
  readonly name: string;
  /** Problems of the store as a whole: its pages, its tables, rows that were lost. */
  readonly faults: () => Promise<string[]>;
  /** The pages of a table; none where the store has no such table. A schema has its tenants as a JSON array, or null. */
  readonly pages: (table: RowTable) => AsyncGenerator<readonly Row[]>;
  /** The next run in (namespace_id, run_id) order; null at the end. */
  readonly nextRun: (after: RunKey) => Promise<Row | null>;
  /** The records of a run that follow a revision: the next ones, or none at the end. */
  readonly records: (run: Row, after: number) => Promise<readonly Row[]>;
  /** The snapshots of a run in ascending order. */
  readonly snapshots: (run: Row) => Promise<readonly Row[]>;
  /** The differences between the entry of a run in the index of runs and the one that follows from its records. */
  readonly entryProblems: (sha256: Sha256, run: Row, expected: RunEntry) => Promise<string[]>;
  /**
   * The stages of a run that are stored as open, with their instants; null in an older format, and where the run was
   * moved since.
   */
  readonly openStages: (run: Row) => Promise<ReadonlyMap<string, number> | null>;
  /** The entry of a run in the index of runs, with its seal; null where it has none. */
  readonly entry: (run: Row) => Promise<Row | null>;
  /** The tombstone of a run with its state; null for a run that is not archived. */
  readonly tombstone: (run: Row) => Promise<Row | null>;
  readonly law: (namespaceId: number, identity: string) => Promise<Row | null>;
  readonly artifact: (identity: string) => Promise<Row | null>;
  readonly orphans: () => AsyncGenerator<readonly Orphan[]>;
  /** Runs reads of one run: they see the run as it was at one moment, although others append to it. */
  readonly atOneMoment: <Result>(reads: () => Promise<Result>) => Promise<Result>;
  /** The store's error for an error of a method. */
  readonly toError: (error: unknown, part: string) => StoreError;
  readonly close: () => Promise<void>;
}
