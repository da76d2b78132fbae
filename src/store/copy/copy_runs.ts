/**
 * Copies runs. The records of a small run are appended in one transaction; those of a long run follow in pieces, after
 * all of them were verified. An append names the head that it follows, so it cannot write over a run that differs.
 */

import type { Head } from "../../run/types.ts";
import { type CheckedRun, checkRuns } from "../check/check_runs.ts";
import { shareWith } from "./copy_shared.ts";
import { type Copying, reporting } from "./copying.ts";
import { corruptRecord, toArchivedReceipt, toRecord } from "../rows/records.ts";
import type { ArchivedReceipt, ArchivedRun, RunHead, StoredReceipt, StoredRecord } from "../types.ts";
import { isDeepStrictEqual } from "node:util";
import { integer, type Row } from "../rows/columns.ts";
import { toEntry } from "../rows/entries.ts";
import { toTombstone } from "../rows/tombstones.ts";

/** Copies an archived run without problems. */
function copyArchived(copying: Copying, run: RunHead, row: Row): Promise<void> {
  const { target: { runs }, written } = copying;
  return reporting(copying, "run", run.run_key, async () => {
    const missing = await shareWith(copying, { run, artifacts: new Set() });
    if (missing !== null) return missing;
    const archived = await readArchived(copying, run, row);
    if (await runs.getHead(run.run_key) === null && await runs.archives.put(archived) === "stored") {
      written.runs += 1;
      written.archived_runs += 1;
    }
    if (await runs.getHead(run.run_key) === null) return "its creation request created another run at the target";
    const difference = await differenceOf(copying, run, archived.receipts, true);
    if (difference !== null) return difference;
    const other = await runs.archives.get(run.run_key);
    if (other === null || isDeepStrictEqual(other, archived.tombstone)) return null;
    const { runpack_identity } = archived.tombstone;
    return `it is archived in runpack "${runpack_identity}" at the source and "${other.runpack_identity}" at the target`;
  });
}

async function readArchived({ checking }: Copying, run: RunHead, row: Row): Promise<ArchivedRun> {
  const { rows, options: { sha256 } } = checking;
  const [entry, tombstone] = [await rows.entry(row), await rows.tombstone(row)];
  if (entry === null || tombstone === null) {
    throw corruptRecord(run.run_key, run.head.revision, "its tombstone is missing");
  }
  const receipts: ArchivedReceipt[] = [];
  for (let after = 0; after < run.head.revision;) {
    const page = await rows.records(row, after);
    const last = page.at(-1);
    if (last === undefined) throw corruptRecord(run.run_key, after + 1, "its receipt is missing");
    receipts.push(...page.map((one) => toArchivedReceipt(sha256, run.run_key, one)));
    after = integer(last, "revision");
  }
  return { run, entry: toEntry(sha256, entry), receipts, tombstone: toTombstone(sha256, run, tombstone) };
}

/** UTF-8 bytes of the records of a run that is read once and appended in one transaction. */
const SMALL_RUN_BYTES = 1048576;

/** Runs that are written at one time, so that their commits are grouped. */
const BATCH_RUNS = 32;

/** UTF-8 bytes of the records of these runs. */
const BATCH_BYTES = 8388608;

/** Copies every run without problems. */
export async function copyRuns(copying: Copying): Promise<void> {
  let batch: CheckedRun[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const taken = batch;
    batch = [];
    bytes = 0;
    await Promise.all(taken.map((run) => copyRun(copying, run)));
  };
  const use = (checked: CheckedRun): Promise<void> =>
    reporting(copying, "run", checked.run.run_key, async () => {
      const missing = await shareWith(copying, checked);
      if (missing !== null) return missing;
      batch.push(checked);
      bytes += checked.bytes;
      if (batch.length >= BATCH_RUNS || bytes >= BATCH_BYTES) await flush();
      return null;
    });
  await checkRuns(copying.checking, {
    keepBytes: SMALL_RUN_BYTES,
    use,
    useArchived: (run, row) => copyArchived(copying, run, row),
  });
  await flush();
}

function copyRun(copying: Copying, checked: CheckedRun): Promise<void> {
  const { run, records } = checked;
  return reporting(copying, "run", run.run_key, async () => {
    const there = await copying.target.runs.getHead(run.run_key);
    const pieces = records === null ? piecesOf(copying, checked) : [records];
    let after: Head | null = null;
    for await (const piece of pieces) {
      const problem = await copyPiece(copying, { run, there, after, piece });
      if (problem !== null) return problem;
      const last: StoredRecord | undefined = piece.at(-1);
      if (last !== undefined) after = { record_id: last.record_id, revision: last.revision };
    }
    if (there === null) copying.written.runs += 1;
    if (there?.archived === undefined) await copySnapshot(copying, checked);
    return null;
  });
}

/** The records of a long run up to its head. They were verified before, and are again when they are read back. */
async function* piecesOf({ checking: { rows } }: Copying, { run, row }: CheckedRun): AsyncGenerator<StoredRecord[]> {
  for (let after = 0; after < run.head.revision;) {
    const read = (await rows.records(row, after)).map((one) => toRecord(run.run_key, one));
    const piece = read.filter(({ revision }) => revision <= run.head.revision);
    const last = piece.at(-1);
    if (last === undefined) throw corruptRecord(run.run_key, after + 1, "the record is missing");
    yield piece;
    after = last.revision;
  }
}

interface Piece {
  readonly run: RunHead;
  /** The run at the target before the copy. */
  readonly there: RunHead | null;
  /** The head that the piece follows. */
  readonly after: Head | null;
  readonly piece: readonly StoredRecord[];
}

/** Compares the records that the target has, appends the others, and compares them too; returns the first difference. */
async function copyPiece(copying: Copying, { run, there, after, piece }: Piece): Promise<string | null> {
  const { target, written } = copying;
  const existing = piece.filter(({ revision }) => revision <= (there?.head.revision ?? 0));
  const missing = piece.slice(existing.length);
  const isArchived = there?.archived !== undefined;
  const difference = await differenceOf(copying, run, existing, isArchived);
  if (difference !== null || missing.length === 0) return difference;
  const last = existing.at(-1);
  const expected_head = last === undefined ? after : { record_id: last.record_id, revision: last.revision };
  const { run_key, scenario_id, scenario_law_identity } = run;
  const names = { run_key, scenario_id, scenario_law_identity };
  const result = await target.runs.append({ ...names, expected_head, records: missing, artifacts: [] });
  if (result.outcome === "accepted") written.records += missing.length;
  if (result.outcome === "operation_exists" && result.receipt.run_key.run_id !== run_key.run_id) {
    return `its creation request created run "${result.receipt.run_key.run_id}" at the target`;
  }
  // Another copy may have appended the same records; if they differ, the comparison finds it.
  return await differenceOf(copying, run, missing, isArchived);
}

/** Copies the newest snapshot, so that the target does not fold a long run again. */
async function copySnapshot({ target, written }: Copying, { run, snapshots }: CheckedRun): Promise<void> {
  const newest = snapshots.at(-1);
  if (newest === undefined) return;
  const found = await target.runs.snapshots.get(run.run_key, newest.revision);
  if (found?.revision === newest.revision) return;
  await target.runs.snapshots.put(run.run_key, newest);
  written.snapshots += 1;
}

/**
 * The first difference between records and those of the target, which are hashed again when they are read; null where
 * they are equal.
 *
 * @param receiptsOnly Compares receipts, since one of the runs is archived
 */
async function differenceOf(
  { target: { runs } }: Copying,
  run: Omit<RunHead, "archived">,
  records: readonly (StoredRecord | StoredReceipt)[],
  receiptsOnly: boolean,
): Promise<string | null> {
  const [first] = records;
  if (first === undefined) return null;
  const [after, count] = [first.revision - 1, records.length];
  const found = receiptsOnly
    ? await runs.receipts.list(run.run_key, after, count)
    : await runs.listRecords(run.run_key, after, count);
  for (const [index, record] of records.entries()) {
    const other = found[index];
    if (isDeepStrictEqual(other, receiptsOnly ? receiptOf(record) : record)) continue;
    const head = (await runs.getHead(run.run_key))?.head ?? null;
    const heads = `the head is ${nameOf(run.head)} at the source and ${nameOf(head)} at the target`;
    const what = other?.record_id === record.record_id
      ? "has another receipt or material at the target"
      : `is "${record.record_id}" at the source and ${quoted(other?.record_id)} at the target`;
    return `the run differs: record ${record.revision} ${what}; ${heads}`;
  }
  return null;
}

function receiptOf({ revision, record_id, receipt }: StoredReceipt): StoredReceipt {
  return { revision, record_id, receipt };
}

function quoted(name: string | undefined): string {
  return name === undefined ? "absent" : `"${name}"`;
}

function nameOf(head: Head | null): string {
  return head === null ? "absent" : `"${head.record_id}" at revision ${head.revision}`;
}
