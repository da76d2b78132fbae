/**
 * Archived runs in SQL. One transaction writes the tombstone, empties the texts and the material of all records of the
 * run, and removes its snapshots. The rows of the records stay: they are the receipts.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { Head, RunKey } from "../../run/types.ts";
import { sealTombstone } from "../seal.ts";
import { ARCHIVED_COLUMNS, tombstoneProblem, toTombstone } from "../rows/tombstones.ts";
import type { ArchivedRun, ArchiveResult, StoredReceipt, Tombstone } from "../types.ts";
import { CREATE_RUN, findRun, INSERT_RECORD } from "./append.ts";
import type { Connection } from "./connection.ts";
import { integer } from "../rows/columns.ts";
import { RECEIPT_COLUMNS, toArchivedValues, toStoredReceipt } from "../rows/records.ts";
import { sealed, writeEntry } from "./run_index.ts";

const FIND_ROW = "SELECT run_row FROM runs WHERE namespace_id = ? AND run_id = ?";
const FIND_STATUS = "SELECT status FROM run_index WHERE run_row = ?";
const PUT_TOMBSTONE = `INSERT INTO archives (run_row, runpack_identity, archived, state_identity, archive_seal, state)
  VALUES (?, ?, ?, ?, ?, ?)`;
const EMPTY_RECORDS = "UPDATE records SET record = '', material = '' WHERE run_row = ?";
const DROP_SNAPSHOTS = "DELETE FROM snapshots WHERE run_row = ?";
const GET_TOMBSTONE = `SELECT ${ARCHIVED_COLUMNS}, a.state FROM runs JOIN archives AS a ON a.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ?`;
const RECEIPTS = `SELECT ${RECEIPT_COLUMNS} FROM runs JOIN records AS r ON r.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ? AND r.revision > ? ORDER BY r.revision LIMIT ?`;

/**
 * Computes what archiving needs except comparing and writing; the returned work is to be called inside a transaction.
 *
 * @throws {StoreError} `corrupt` where the tombstone does not fit the head
 */
export function prepareArchive(
  sha256: Sha256,
  runKey: RunKey,
  head: Head,
  tombstone: Tombstone,
): (connection: Connection) => ArchiveResult {
  const problem = tombstoneProblem(sha256, runKey, head, tombstone);
  if (problem !== null) throw problem;
  return (connection) => {
    const run = findRun(connection, sha256, runKey);
    const row = connection.statement(FIND_ROW).get(runKey.namespace_id, runKey.run_id);
    if (run === null || row === undefined) return { outcome: "run_not_found" };
    if (run.archived !== undefined) return { outcome: "already_archived", archived: run.archived };
    const isHead = run.head.revision === head.revision && run.head.record_id === head.record_id;
    if (!isHead) return { outcome: "stale", head: run.head };
    const runRow = integer(row, "run_row");
    if (connection.statement(FIND_STATUS).get(runRow)?.["status"] !== "complete") return { outcome: "run_active" };
    const { runpack_identity, archived_instant, state_identity, state } = tombstone;
    const seal = sealTombstone(sha256, run, tombstone);
    connection.statement(PUT_TOMBSTONE).run(runRow, runpack_identity, archived_instant, state_identity, seal, state);
    connection.statement(EMPTY_RECORDS).run(runRow);
    connection.statement(DROP_SNAPSHOTS).run(runRow);
    return { outcome: "archived" };
  };
}

/**
 * Computes what storing an archived run needs except comparing and writing; the returned work is to be called inside a
 * transaction.
 *
 * @throws {StoreError} `corrupt` where the tombstone does not fit the head
 */
export function preparePutArchived(
  sha256: Sha256,
  { run, entry, receipts, tombstone }: ArchivedRun,
): (connection: Connection) => "stored" | "exists" {
  const { run_key, head, scenario_id, scenario_law_identity } = run;
  const problem = tombstoneProblem(sha256, run_key, head, tombstone);
  if (problem !== null) throw problem;
  const prepared = sealed(sha256, entry);
  const rows = receipts.map((receipt) => toArchivedValues(sha256, run_key, receipt));
  const seal = sealTombstone(sha256, run, tombstone);
  const names = [run_key.namespace_id, run_key.run_id, scenario_id, scenario_law_identity];
  const creation = receipts[0]?.receipt.operation.identity ?? "";
  return (connection) => {
    const { changes } = connection.statement(CREATE_RUN).run(head.revision, head.record_id, ...names, creation);
    if (changes !== 1) return "exists";
    writeEntry(connection, prepared);
    for (const values of rows) connection.statement(INSERT_RECORD).run(...values);
    const row = connection.statement(FIND_ROW).get(run_key.namespace_id, run_key.run_id) ?? {};
    const { runpack_identity, archived_instant, state_identity, state } = tombstone;
    connection.statement(PUT_TOMBSTONE)
      .run(integer(row, "run_row"), runpack_identity, archived_instant, state_identity, seal, state);
    return "stored";
  };
}

/**
 * The tombstone of a run, verified by its seal and its hash.
 *
 * @throws {StoreError} `corrupt`
 */
export function readTombstone(connection: Connection, sha256: Sha256, runKey: RunKey): Tombstone | null {
  const row = connection.statement(GET_TOMBSTONE).get(runKey.namespace_id, runKey.run_id);
  return row === undefined ? null : toTombstone(sha256, findRun(connection, sha256, runKey), row);
}

/** Receipts of a run in the order of its records. */
export function readReceipts(
  connection: Connection,
  sha256: Sha256,
  { runKey, after, limit }: { readonly runKey: RunKey; readonly after: number; readonly limit: number },
): StoredReceipt[] {
  return connection.statement(RECEIPTS).all(runKey.namespace_id, runKey.run_id, after, limit)
    .map((row) => toStoredReceipt(sha256, runKey, row));
}
