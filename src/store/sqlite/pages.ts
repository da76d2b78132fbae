/** Reads the records of a run in slices, and verifies each record. */

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { recordProblems } from "../record_check.ts";
import { recordBytes } from "../size.ts";
import { archivedError } from "../rows/tombstones.ts";
import type { RunHead, StoredRecord } from "../types.ts";
import { findRun } from "./append.ts";
import { type Connection, rollback } from "./connection.ts";
import { corruptRecord, RECORD_COLUMNS, sealHolds, toRecord } from "../rows/records.ts";

const RECORDS = `SELECT ${RECORD_COLUMNS} FROM runs JOIN records AS r ON r.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ? AND r.revision > ? ORDER BY r.revision`;

/** Bytes of records between two turns of the event loop: about a millisecond of hashing and parsing. */
const SLICE_BYTES = 262144;

/** Records between two turns of the event loop. */
const SLICE_RECORDS = 64;

/** A page that is being read. */
export interface PageReading {
  readonly run_key: RunKey;
  /** The revision before the page. */
  readonly after: number;
  readonly limit: number;
  readonly maximumBytes: number;
  readonly records: StoredRecord[];
  bytes: number;
}

/**
 * Reads and verifies the next slice of a page.
 *
 * @returns Whether more slices follow
 * @throws {StoreError} `corrupt`, naming run and revision
 */
export function readSlice(connection: Connection, sha256: Sha256, page: PageReading): boolean {
  // One transaction: the rows and the head are of one moment.
  connection.statement("BEGIN").run();
  try {
    return readRows(connection, sha256, page);
  } finally {
    rollback(connection);
  }
}

function readRows(connection: Connection, sha256: Sha256, page: PageReading): boolean {
  const run = findRun(connection, sha256, page.run_key);
  if (run === null || page.records.length >= page.limit) return false;
  if (run.archived !== undefined) throw archivedError(page.run_key);
  const start = page.records.length;
  const sliceEnd = page.bytes + SLICE_BYTES;
  const rows = connection.statement(RECORDS)
    .iterate(page.run_key.namespace_id, page.run_key.run_id, page.after + start);
  for (const row of rows) {
    if (page.records.length >= page.limit) return false;
    if (page.records.length - start >= SLICE_RECORDS || page.bytes >= sliceEnd) return true;
    const record = toRecord(page.run_key, row);
    page.bytes += recordBytes(record);
    if (page.bytes > page.maximumBytes && page.records.length > 0) return false;
    if (!sealHolds(sha256, page.run_key, row)) {
      throw corruptRecord(page.run_key, record.revision, "its receipt differs from the written one");
    }
    verifyRecord(sha256, page, run, record);
    page.records.push(record);
  }
  const reached = page.after + page.records.length;
  if (reached < run.head.revision && page.records.length < page.limit) {
    throw corruptRecord(page.run_key, reached + 1, "the record is missing");
  }
  return false;
}

function verifyRecord(sha256: Sha256, page: PageReading, run: RunHead, record: StoredRecord): void {
  const revision = page.after + page.records.length + 1;
  const previous: Identity | null | undefined = revision === 1 ? null : page.records.at(-1)?.record_id;
  const problems = recordProblems(sha256, { run_key: page.run_key, revision, previous }, record);
  const { head } = run;
  if (revision > head.revision) problems.push(`record is beyond the head at ${head.revision}`);
  if (revision === head.revision && record.record_id !== head.record_id) problems.push("the head names another record");
  const [problem] = problems;
  if (problem !== undefined) throw corruptRecord(page.run_key, revision, problem);
}
