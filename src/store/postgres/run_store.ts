/** The run store on PostgreSQL. */

import { setImmediate } from "node:timers";

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { storeArtifacts } from "../rows/artifacts.ts";
import { openGate } from "../gate.ts";
import { storeLaws } from "../rows/laws.ts";
import { recordProblems } from "../record_check.ts";
import { assertAppend } from "../shape.ts";
import { recordBytes } from "../size.ts";
import { SNAPSHOTS_KEPT } from "../rows/snapshots.ts";
import {
  corruptRecord,
  RECEIPT_COLUMNS,
  RECORD_COLUMNS,
  sealHolds,
  toRecord,
  toStoredReceipt,
} from "../rows/records.ts";
import { toVerifiedSnapshot } from "../rows/snapshots.ts";
import { archivedError, withArchived } from "../rows/tombstones.ts";
import { runOf } from "../rows/store_rows.ts";
import {
  type Append,
  type AppendResult,
  type RunHead,
  type RunStore,
  type Snapshot,
  type StoredRecord,
  StoreError,
} from "../types.ts";
import { findCreation, findHead, findHeads, findReceipt, nameOfRun } from "./append.ts";
import { archiveRun, findTombstone, putArchivedRun } from "./archive.ts";
import type { Database } from "./database.ts";
import { createPostgresOutbox, readFigures } from "./outbox.ts";
import { findRuns } from "./run_list.ts";
import { statementsOn } from "./statements.ts";
import { createWriter, type WriterOptions } from "./writer.ts";

const RECORD_BYTES = "(octet_length(record) + octet_length(material) + octet_length(result))";
/** Records that begin within the first $5 bytes, so at least one: large records are not sent only to be left out of a page. */
export const LIST_RECORDS = `SELECT ${RECORD_COLUMNS} FROM (
    SELECT *, sum(${RECORD_BYTES}) OVER (ORDER BY revision ROWS UNBOUNDED PRECEDING) - ${RECORD_BYTES} AS before
    FROM gate.records WHERE namespace_id = $1 AND run_id = $2 AND revision > $3 ORDER BY revision LIMIT $4) AS r
  WHERE before < $5 ORDER BY revision`;
const LIST_RECEIPTS = `SELECT ${RECEIPT_COLUMNS} FROM gate.records AS r
  WHERE namespace_id = $1 AND run_id = $2 AND revision > $3 ORDER BY revision LIMIT $4`;
// A snapshot beyond the head or without a run is not stored: its state was never accepted.
const PUT_SNAPSHOT = `INSERT INTO gate.snapshots (namespace_id, run_id, revision, state_identity, state)
  SELECT namespace_id, run_id, $3::int8, $4::text, $5::text FROM gate.runs
  WHERE namespace_id = $1 AND run_id = $2 AND revision >= $3 AND archived IS NULL
  ON CONFLICT (namespace_id, run_id, revision)
    DO UPDATE SET state_identity = excluded.state_identity, state = excluded.state`;
const DROP_SNAPSHOTS = `DELETE FROM gate.snapshots WHERE namespace_id = $1 AND run_id = $2 AND revision IN (
    SELECT revision FROM gate.snapshots WHERE namespace_id = $1 AND run_id = $2 ORDER BY revision DESC OFFSET $3)`;
const GET_SNAPSHOT = `SELECT revision, state_identity, state FROM gate.snapshots
  WHERE namespace_id = $1 AND run_id = $2 AND revision <= $3 ORDER BY revision DESC LIMIT 1`;
const LIST_RUNS = `SELECT namespace_id, run_id, scenario_id, law_identity, revision, head,
    runpack_identity, archived, state_identity, archive_seal FROM gate.runs
  WHERE (namespace_id, run_id) > ($1, $2) ORDER BY namespace_id, run_id LIMIT $3`;
const WRITE = `INSERT INTO gate.readiness (id, writes) VALUES (1, 1)
  ON CONFLICT (id) DO UPDATE SET writes = gate.readiness.writes + 1`;

/** Records of one statement: about a millisecond of hashing and parsing. */
export const SLICE_RECORDS = 64;

/** Bytes of records after which one statement sends no further record. */
export const SLICE_BYTES = 1048576;

/** Options of a run store on PostgreSQL. */
export interface RunStoreOptions extends WriterOptions {
  readonly max_versions: number | null;
  readonly sha256: Sha256;
}

/** A run store on an open database. Closing the store calls `release`. */
export function createPostgresRunStore(
  database: Database,
  options: RunStoreOptions,
  release: () => Promise<void>,
): RunStore {
  const { sha256 } = options;
  const kept = options.max_versions ?? SNAPSHOTS_KEPT;
  const use = openGate(database.name);
  const { read, write } = statementsOn(database, use);
  const writer = createWriter(database, sha256, options);
  const heads = createHeadReader(database, sha256);
  const submit = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    appends.forEach(assertAppend);
    return await writer.submit(appends);
  };
  return {
    laws: storeLaws(sha256, read, write),
    artifacts: storeArtifacts(sha256, read, write),
    outbox: createPostgresOutbox(database, sha256, use),
    append: (append) => use(async () => (await submit([append]))[0] as AppendResult),
    appendTogether: (appends) => use(() => submit(appends)),
    getHead: (runKey) => use(() => heads(runKey)),
    listRecords: (runKey, after, limit, maximumBytes) =>
      use(() => listRecords(database, sha256, { runKey, after, limit, maximumBytes: maximumBytes ?? Infinity })),
    receipts: {
      get: (runKey, operation) => use(() => findReceipt(database, sha256, runKey, [operation])),
      ofCreation: (namespaceId, id) => use(() => findCreation(database, sha256, namespaceId, id)),
      list: (runKey, after, limit) =>
        use(async () => {
          const rows = await database.query(LIST_RECEIPTS, [runKey.namespace_id, runKey.run_id, after, limit]);
          return rows.map((row) => toStoredReceipt(sha256, runKey, row));
        }),
    },
    archives: {
      archive: (runKey, head, tombstone) => use(() => archiveRun(database, sha256, { runKey, head, tombstone })),
      put: (archived) => use(() => putArchivedRun(database, sha256, archived)),
      get: (runKey) => use(() => findTombstone(database, sha256, runKey)),
    },
    snapshots: {
      put: (runKey, snapshot) => use(() => putSnapshot(database, runKey, snapshot, kept)),
      get: (runKey, atMost) => use(() => getSnapshot(database, sha256, runKey, atMost)),
    },
    findRuns: (query, after, limit) => use(() => findRuns(database, sha256, { query, after, limit })),
    figures: () => use(() => readFigures(database)),
    listRuns: (after, limit) => use(() => listRuns(database, sha256, after, limit)),
    ready: () => use(() => ready(database)),
    load: () => writer.load(),
    close: () =>
      use.close(async () => {
        await writer.drain();
        await release();
      }),
  };
}

/** Proves that the database can be written. */
export async function ready(database: Database): Promise<void> {
  await database.query(WRITE);
}

/** Reads the heads that one turn of the event loop asks for in one statement. */
function createHeadReader(database: Database, sha256: Sha256): (runKey: RunKey) => Promise<RunHead | null> {
  let asked: Promise<ReadonlyMap<string, RunHead>> | null = null;
  const keys = new Map<string, RunKey>();
  const read = (): Promise<ReadonlyMap<string, RunHead>> =>
    new Promise((resolve, reject) => {
      setImmediate(() => {
        const batch = [...keys.values()];
        keys.clear();
        asked = null;
        findHeads(database, sha256, batch).then(resolve, reject);
      });
    });
  return async (runKey) => {
    const name = nameOfRun(runKey.namespace_id, runKey.run_id);
    keys.set(name, runKey);
    asked ??= read();
    const batch = asked;
    try {
      return (await batch).get(name) ?? null;
    } catch (error) {
      // A damaged run fails alone, not with the others of its turn.
      if (error instanceof StoreError && error.code === "corrupt") return await findHead(database, sha256, runKey);
      throw error;
    }
  };
}

interface PageRequest {
  readonly runKey: RunKey;
  readonly after: number;
  readonly limit: number;
  readonly maximumBytes: number;
}

/** Throws where a run was archived while its records were read. */
async function refuseArchived(database: Database, sha256: Sha256, runKey: RunKey): Promise<void> {
  if ((await findHead(database, sha256, runKey))?.archived !== undefined) throw archivedError(runKey);
}

/**
 * Reads a page in slices and verifies each record. Accepted records never change before the run is archived, so the
 * slices need no transaction.
 */
async function listRecords(database: Database, sha256: Sha256, request: PageRequest): Promise<StoredRecord[]> {
  const { runKey, after, limit, maximumBytes } = request;
  const run = await findHead(database, sha256, runKey);
  const records: StoredRecord[] = [];
  if (run === null) return records;
  if (run.archived !== undefined) throw archivedError(runKey);
  const most = Math.min(limit, run.head.revision - after);
  let bytes = 0;
  while (records.length < most) {
    const start = after + records.length;
    const count = Math.min(SLICE_RECORDS, most - records.length);
    const rows = await database.query(LIST_RECORDS, [
      ...[runKey.namespace_id, runKey.run_id, start, count],
      Math.max(1, Math.min(SLICE_BYTES, maximumBytes - bytes)),
    ]);
    for (const row of rows) {
      if (row["record"] === "") await refuseArchived(database, sha256, runKey);
      const record = toRecord(runKey, row);
      bytes += recordBytes(record);
      if (bytes > maximumBytes && records.length > 0) return records;
      if (!sealHolds(sha256, runKey, row)) {
        throw corruptRecord(runKey, record.revision, "its receipt differs from the written one");
      }
      verifyRecord(sha256, run, { record, revision: after + records.length + 1, previous: records.at(-1)?.record_id });
      records.push(record);
    }
    if (rows.length === 0) throw corruptRecord(runKey, start + 1, "the record is missing");
  }
  return records;
}

function verifyRecord(
  sha256: Sha256,
  run: RunHead,
  { record, revision, previous }: {
    readonly record: StoredRecord;
    readonly revision: number;
    readonly previous: Identity | undefined;
  },
): void {
  const { run_key, head } = run;
  const problems = recordProblems(sha256, { run_key, revision, previous: revision === 1 ? null : previous }, record);
  if (revision === head.revision && record.record_id !== head.record_id) problems.push("the head names another record");
  const [problem] = problems;
  if (problem !== undefined) throw corruptRecord(run_key, revision, problem);
}

async function putSnapshot(database: Database, runKey: RunKey, snapshot: Snapshot, kept: number): Promise<void> {
  const { namespace_id, run_id } = runKey;
  const { revision, state_identity, state } = snapshot;
  await database.query(PUT_SNAPSHOT, [namespace_id, run_id, revision, state_identity, state]);
  await database.query(DROP_SNAPSHOTS, [namespace_id, run_id, kept]);
}

async function getSnapshot(
  database: Database,
  sha256: Sha256,
  runKey: RunKey,
  atMost: number,
): Promise<Snapshot | null> {
  const [row] = await database.query(GET_SNAPSHOT, [runKey.namespace_id, runKey.run_id, atMost]);
  return toVerifiedSnapshot(sha256, runKey, row);
}

async function listRuns(database: Database, sha256: Sha256, after: RunKey | null, limit: number): Promise<RunHead[]> {
  const rows = await database.query(LIST_RUNS, [after?.namespace_id ?? 0, after?.run_id ?? "", limit]);
  return rows.map((row) => withArchived(sha256, runOf(row), row));
}
