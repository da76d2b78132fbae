/**
 * Archived runs in SQL. One transaction marks the run, writes its state, empties the texts and the material of its
 * records, and removes its snapshots. The rows of the records stay: they are the receipts. A server's role has no right
 * to any of it.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { Head, RunKey } from "../../run/types.ts";
import { sealTombstone } from "../seal.ts";
import { toArchivedValues } from "../rows/records.ts";
import { tombstoneProblem, toTombstone } from "../rows/tombstones.ts";
import type { ArchivedRun, ArchiveResult, Tombstone } from "../types.ts";
import { addCounts, columnsOfEntry, findHead, INSERT_RECORDS, recordValues } from "./append.ts";
import type { Database, Transaction } from "./database.ts";
import { asOwnersCall } from "./errors.ts";

// The row is changed, not locked only: an append that waits for it compares its condition with the new row.
const MARK = `UPDATE gate.runs SET runpack_identity = $5, archived = $6, state_identity = $7, archive_seal = $8
  WHERE namespace_id = $1 AND run_id = $2 AND revision = $3 AND head = $4 AND status = 'complete' AND archived IS NULL
  RETURNING 1 AS marked`;
const PUT_STATE = "INSERT INTO gate.archives (namespace_id, run_id, state) VALUES ($1, $2, $3)";
const EMPTY_RECORDS = `UPDATE gate.records SET record = '', material = ''
  WHERE namespace_id = $1 AND run_id = $2 AND revision > $3 AND revision <= $4`;
const DROP_SNAPSHOTS = "DELETE FROM gate.snapshots WHERE namespace_id = $1 AND run_id = $2";
const PUT_RUN = `INSERT INTO gate.runs (namespace_id, run_id, scenario_id, law_identity, creation, revision, head,
    created, correlation, parameters, parameter_hashes, active_seal, complete_seal,
    runpack_identity, archived, state_identity, archive_seal, status)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, string_to_array($11, ' '), $12, $13, $14, $15, $16, $17, 'complete')
  ON CONFLICT DO NOTHING RETURNING 1 AS stored`;
const COUNT_RUN = addCounts("SELECT 1 AS runs, 1 AS complete");
const GET_TOMBSTONE = `SELECT u.runpack_identity, u.archived, u.state_identity, a.state FROM gate.runs AS u
  JOIN gate.archives AS a USING (namespace_id, run_id)
  WHERE u.namespace_id = $1 AND u.run_id = $2 AND u.archived IS NOT NULL`;

/** Records that one statement empties or writes, so that each ends well within its time limit. */
const RECORDS_AT_ONCE = 2000;

/** A complete run with the tombstone that replaces its records. */
export interface Archiving {
  readonly runKey: RunKey;
  readonly head: Head;
  readonly tombstone: Tombstone;
}

/**
 * Archives a run.
 *
 * @throws {StoreError} `corrupt` where the tombstone does not fit the head, `io` for a role that is not the owner
 */
export async function archiveRun(database: Database, sha256: Sha256, archiving: Archiving): Promise<ArchiveResult> {
  const { runKey, head, tombstone } = archiving;
  const problem = tombstoneProblem(sha256, runKey, head, tombstone);
  if (problem !== null) throw problem;
  const run = await findHead(database, sha256, runKey);
  if (run === null) return { outcome: "run_not_found" };
  const seal = sealTombstone(sha256, { ...run, head }, tombstone);
  if (await replaceRecords(database, archiving, seal)) return { outcome: "archived" };
  const now = await findHead(database, sha256, runKey);
  if (now === null) return { outcome: "run_not_found" };
  if (now.archived !== undefined) return { outcome: "already_archived", archived: now.archived };
  const isHead = now.head.revision === head.revision && now.head.record_id === head.record_id;
  return isHead ? { outcome: "run_active" } : { outcome: "stale", head: now.head };
}

function replaceRecords(database: Database, { runKey, head, tombstone }: Archiving, seal: string): Promise<boolean> {
  const run = [runKey.namespace_id, runKey.run_id];
  const { runpack_identity, archived_instant, state_identity, state } = tombstone;
  return asOwner(database, `archive run "${runKey.run_id}"`, async (query) => {
    const marks = [runpack_identity, archived_instant, state_identity, seal];
    const marked = await query(MARK, [...run, head.revision, head.record_id, ...marks]);
    if (marked.length === 0) return false;
    await query(PUT_STATE, [...run, state]);
    for (let after = 0; after < head.revision; after += RECORDS_AT_ONCE) {
      await query(EMPTY_RECORDS, [...run, after, after + RECORDS_AT_ONCE]);
    }
    await query(DROP_SNAPSHOTS, run);
    return true;
  });
}

/**
 * Stores an archived run.
 *
 * @throws {StoreError} `corrupt` where the tombstone does not fit the head, `io` for a role that is not the owner
 */
export function putArchivedRun(
  database: Database,
  sha256: Sha256,
  { run, entry, receipts, tombstone }: ArchivedRun,
): Promise<"stored" | "exists"> {
  const { run_key, head, scenario_id, scenario_law_identity } = run;
  const problem = tombstoneProblem(sha256, run_key, head, tombstone);
  if (problem !== null) return Promise.reject(problem);
  const names = [run_key.namespace_id, run_key.run_id];
  const { runpack_identity, archived_instant, state_identity, state } = tombstone;
  const values = [
    ...[...names, scenario_id, scenario_law_identity, receipts[0]?.receipt.operation.identity ?? ""],
    ...[head.revision, head.record_id, ...columnsOfEntry(sha256, entry)],
    ...[runpack_identity, archived_instant, state_identity, sealTombstone(sha256, run, tombstone)],
  ];
  const records = receipts.map((receipt) => toArchivedValues(sha256, run_key, receipt));
  return asOwner(database, `write archived run "${run_key.run_id}"`, async (query) => {
    if ((await query(PUT_RUN, values)).length === 0) return "exists";
    await query(COUNT_RUN);
    await query(PUT_STATE, [...names, state]);
    for (let start = 0; start < records.length; start += RECORDS_AT_ONCE) {
      await query(INSERT_RECORDS, recordValues(records.slice(start, start + RECORDS_AT_ONCE)));
    }
    return "stored";
  });
}

/** Runs a transaction for which the role of a server has no right. */
function asOwner<Result>(
  database: Database,
  what: string,
  work: (query: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(work).catch((error) => Promise.reject(asOwnersCall(error, database.name, what)));
}

/** The tombstone of an archived run; null for any other. */
export async function findTombstone(database: Database, sha256: Sha256, runKey: RunKey): Promise<Tombstone | null> {
  const run = await findHead(database, sha256, runKey);
  if (run?.archived === undefined) return null;
  const [row] = await database.query(GET_TOMBSTONE, [runKey.namespace_id, runKey.run_id]);
  return toTombstone(sha256, run, row ?? {});
}
