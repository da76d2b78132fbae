/**
 * The index of runs in SQL.
 *
 * An entry is written with the creation of its run, and changes once: when the run becomes complete. A store of an
 * older program gets its entries from the records, from the newest run to the oldest. So the index is whole if it has
 * the oldest run.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { RunKey } from "../../run/types.ts";
import { completesRun, entryOfCreation, parameterText } from "../run_index.ts";
import { correlationText, toEntry } from "../rows/entries.ts";
import type { Append, RunEntry } from "../types.ts";
import { sealEntry } from "../seal.ts";
import type { Connection } from "./connection.ts";
import { integer, type Row, text } from "../rows/columns.ts";

/** Runs that the start of a store adds to the index; a store with more needs `gate store migrate`. */
export const INDEXED_AT_START = 10_000;

/** Runs that one transaction adds to the index. */
export const INDEX_BATCH = 500;

const INSERT_ENTRY = `INSERT INTO run_index
  (run_row, namespace_id, created, run_id, scenario_id, law_identity, status, correlation, parameters, seal)
  VALUES ((SELECT run_row FROM runs WHERE namespace_id = ?1 AND run_id = ?3), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`;
const INSERT_PARAMETER = `INSERT INTO run_parameters (namespace_id, parameter, created, run_id, run_row)
  VALUES (?1, ?2, ?3, ?4, (SELECT run_row FROM runs WHERE namespace_id = ?1 AND run_id = ?4))`;
const GET_ENTRY = `SELECT * FROM run_index
  WHERE run_row = (SELECT run_row FROM runs WHERE namespace_id = ? AND run_id = ?)`;
const SET_STATUS = `UPDATE run_index SET status = ?, seal = ?
  WHERE run_row = (SELECT run_row FROM runs WHERE namespace_id = ? AND run_id = ?)`;
const IS_WHOLE = `SELECT coalesce((SELECT min(run_row) FROM runs), 0) AS oldest,
  coalesce((SELECT min(run_row) FROM run_index), 0) AS indexed`;
const COUNT_MISSING = `SELECT count(*) AS runs FROM
  (SELECT 1 FROM runs WHERE run_row < coalesce((SELECT min(run_row) FROM run_index), 9007199254740991) LIMIT ?)`;
const NEXT_MISSING = `SELECT run_row, namespace_id, run_id, scenario_id, law_identity FROM runs
  WHERE run_row < coalesce((SELECT min(run_row) FROM run_index), 9007199254740991) ORDER BY run_row DESC LIMIT ?`;
const FIRST_RECORD = "SELECT record FROM records WHERE run_row = ? AND revision = 1";
const RECORDS_BACKWARDS = "SELECT record FROM records WHERE run_row = ? ORDER BY revision DESC";

/** An entry with its seal, computed before it waits for the writer. */
export interface PreparedEntry {
  readonly entry: RunEntry;
  readonly seal: string;
  /** Hashes of the parameters. */
  readonly parameters: readonly string[];
}

/** The entry of a run that an append creates; null for an append to an existing run. */
export function prepareEntry(sha256: Sha256, append: Append): PreparedEntry | null {
  const [first] = append.records;
  if (append.expected_head !== null || first === undefined) return null;
  return sealed(sha256, withStatus(entryOfCreation(append, first.record), append.records));
}

function withStatus(entry: RunEntry, records: readonly { readonly record: string }[]): RunEntry {
  return records.some(({ record }) => completesRun(record)) ? { ...entry, status: "complete" } : entry;
}

/** An entry with its seal. */
export function sealed(sha256: Sha256, entry: RunEntry): PreparedEntry {
  const parameters = entry.parameters.map((one) => sha256(parameterText(one)));
  return { entry, seal: sealEntry(sha256, entry), parameters };
}

/** Writes the entry of a run whose row exists; to be called inside a transaction. */
export function writeEntry(connection: Connection, { entry, seal, parameters }: PreparedEntry): void {
  const { run_key: { namespace_id, run_id }, created_instant: created } = entry;
  connection.statement(INSERT_ENTRY).run(
    namespace_id,
    created,
    run_id,
    entry.scenario_id,
    entry.scenario_law_identity,
    entry.status,
    correlationText(entry.correlation),
    canonicalize(entry.parameters as JsonValue),
    seal,
  );
  const insert = connection.statement(INSERT_PARAMETER);
  for (const parameter of parameters) insert.run(namespace_id, parameter, created, run_id);
}

/**
 * Marks a run as complete; to be called inside a transaction. A run that is not in the index yet gets its status with
 * its entry.
 */
export function completeEntry(connection: Connection, sha256: Sha256, { namespace_id, run_id }: RunKey): void {
  const row = connection.statement(GET_ENTRY).get(namespace_id, run_id);
  if (row === undefined) return;
  const entry: RunEntry = { ...toEntry(sha256, row), status: "complete" };
  connection.statement(SET_STATUS).run(entry.status, sealEntry(sha256, entry), namespace_id, run_id);
}

/** Whether every run of the store has an entry. */
export function isIndexed(connection: Connection): boolean {
  const row = connection.statement(IS_WHOLE).get();
  return row !== undefined && row["oldest"] === row["indexed"];
}

/** How many runs have no entry, at most `limit`. */
export function countMissing(connection: Connection, limit: number): number {
  const row = connection.statement(COUNT_MISSING).get(limit);
  return row === undefined ? 0 : integer(row, "runs");
}

/**
 * Adds entries of the newest runs without one; to be called inside a transaction.
 *
 * @returns How many entries were added; fewer than `limit` at the end
 * @throws {StoreError} `corrupt` where a run has no creation
 */
export function addEntries(connection: Connection, sha256: Sha256, limit: number): number {
  const rows = connection.statement(NEXT_MISSING).all(limit);
  for (const row of rows) writeEntry(connection, sealed(sha256, entryOfRecords(connection, row)));
  return rows.length;
}

/** The entry of a run as its records have it. */
function entryOfRecords(connection: Connection, row: Row): RunEntry {
  const runRow = integer(row, "run_row");
  const first = connection.statement(FIRST_RECORD).get(runRow);
  const entry = entryOfCreation({
    run_key: { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") },
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "law_identity"),
  }, first === undefined ? "" : text(first, "record"));
  for (const stored of connection.statement(RECORDS_BACKWARDS).iterate(runRow)) {
    const record = text(stored, "record");
    if (completesRun(record)) return { ...entry, status: "complete" };
    // A complete run accepts submissions only, so any other record after the last evaluation shows that it is active.
    if (!record.includes('"record_kind":"artifact_submitted"')) break;
  }
  return entry;
}
