import type { Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { storeArtifacts } from "../rows/artifacts.ts";
import { storeLaws } from "../rows/laws.ts";
import { assertAppend } from "../shape.ts";
import { appendBytes, archivedBytes, textBytes } from "../size.ts";
import { type Gate, openGate } from "../gate.ts";
import { SNAPSHOTS_KEPT, toVerifiedSnapshot } from "../rows/snapshots.ts";
import { runOf } from "../rows/store_rows.ts";
import type { Append, AppendResult, RunHead, RunStore, Snapshot, StoredRecord } from "../types.ts";
import { findCreation, findReceipt, findRun, prepareAppend } from "./append.ts";
import { prepareArchive, preparePutArchived, readReceipts, readTombstone } from "./archive.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { readFigures } from "./open_stages.ts";
import { type PageReading, readSlice } from "./pages.ts";
import { pageOf, readRuns, startReading } from "./run_list.ts";
import { statementsOn } from "./statements.ts";
import { ARCHIVED_COLUMNS, withArchived } from "../rows/tombstones.ts";
import { type Outbox, settledPlace } from "../outbox.ts";
import { toOutboxEntry } from "../rows/outbox.ts";
import { RECEIPT_COLUMNS } from "../rows/records.ts";
import { integer } from "../rows/columns.ts";

// A snapshot beyond the head or without a run is not stored: its state was never accepted. That of an archived run is
// its tombstone's.
const PUT_SNAPSHOT = `INSERT INTO snapshots (run_row, revision, state_identity, state)
  SELECT run_row, ?3, ?4, ?5 FROM runs WHERE namespace_id = ?1 AND run_id = ?2 AND revision >= ?3
    AND NOT EXISTS (SELECT 1 FROM archives AS a WHERE a.run_row = runs.run_row)
  ON CONFLICT DO UPDATE SET state_identity = excluded.state_identity, state = excluded.state RETURNING run_row`;
const PRUNE_SNAPSHOTS = `DELETE FROM snapshots WHERE run_row = ?1 AND revision <=
  (SELECT revision FROM snapshots WHERE run_row = ?1 ORDER BY revision DESC LIMIT 1 OFFSET ?2)`;
const GET_SNAPSHOT =
  `SELECT s.revision, s.state_identity, s.state FROM runs JOIN snapshots AS s ON s.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ? AND s.revision <= ? ORDER BY s.revision DESC LIMIT 1`;

/** Writes a snapshot and removes those beyond `kept`; to be called inside a transaction. */
function writeSnapshot(connection: Connection, runKey: RunKey, snapshot: Snapshot, kept: number): void {
  const { revision, state_identity, state } = snapshot;
  const row = connection.statement(PUT_SNAPSHOT)
    .get(runKey.namespace_id, runKey.run_id, revision, state_identity, state);
  if (row !== undefined) connection.statement(PRUNE_SNAPSHOTS).run(integer(row, "run_row"), kept);
}

/**
 * The newest snapshot at or below a revision, verified by its hash.
 *
 * @throws {StoreError} `corrupt`
 */
function readSnapshot(connection: Connection, sha256: Sha256, runKey: RunKey, atMost: number): Snapshot | null {
  const row = connection.statement(GET_SNAPSHOT).get(runKey.namespace_id, runKey.run_id, atMost);
  return toVerifiedSnapshot(sha256, runKey, row);
}

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const REGISTER = `INSERT INTO outbox_targets (target, settled, holder, expires)
  VALUES (?, (SELECT coalesce(max(record_row), 0) FROM records), '', 0) ON CONFLICT DO NOTHING`;
// A lease that ends later than a new one was taken before the clock was set back: its holder may be gone.
const LEASE = `UPDATE outbox_targets SET holder = ?2, expires = ${NOW} + ?3
  WHERE target = ?1 AND (holder = ?2 OR expires <= ${NOW} OR expires > ${NOW} + ?3)`;
const RELEASE = "UPDATE outbox_targets SET expires = 0 WHERE target = ? AND holder = ?";
const SETTLE = "UPDATE outbox_targets SET settled = max(settled, ?) WHERE target = ? AND holder = ?";
const PENDING =
  `SELECT r.record_row, runs.namespace_id, runs.run_id, runs.scenario_id, runs.law_identity, ${RECEIPT_COLUMNS}
  FROM records AS r JOIN runs ON runs.run_row = r.run_row
  WHERE r.record_row > coalesce(?, (SELECT settled FROM outbox_targets WHERE target = ?), 9223372036854775807)
  ORDER BY r.record_row LIMIT ?`;

/** The outbox of a file. */
function createSqliteOutbox(file: StoreFile, sha256: Sha256, use: Gate): Outbox {
  const write = (work: (connection: Connection) => boolean): Promise<boolean> => use(() => file.writer.submit(0, work));
  const change = (sql: string, ...values: readonly (string | number)[]): Promise<boolean> =>
    write((connection) => connection.statement(sql).run(...values).changes === 1);
  return {
    register: async (target) => void await change(REGISTER, target),
    lease: (target, holder, millis) => change(LEASE, target, holder, millis),
    release: async (target, holder) => void await change(RELEASE, target, holder),
    pending: (target, { after }, limit) =>
      use(() =>
        file.readers.point((connection) =>
          connection.statement(PENDING).all(after, target, limit).map((row) => toOutboxEntry(sha256, row, "record_row"))
        )
      ),
    settle: (target, holder, _done, progress) => change(SETTLE, settledPlace(progress), target, holder),
  };
}

const LIST_RUNS = `SELECT namespace_id, run_id, scenario_id, law_identity, revision, head, ${ARCHIVED_COLUMNS} FROM runs
  LEFT JOIN archives AS a ON a.run_row = runs.run_row
  WHERE (namespace_id, run_id) > (?, ?) ORDER BY namespace_id, run_id LIMIT ?`;

/** Options of a run store on SQLite. */
export interface RunStoreOptions {
  readonly max_versions: number | null;
  readonly sha256: Sha256;
}

/** A run store on an open file. Closing the store releases the file. */
export function createSqliteRunStore(file: StoreFile, options: RunStoreOptions): RunStore {
  const { sha256 } = options;
  const use = openGate(file.path);
  const point = <Result>(read: (connection: Connection) => Result): Promise<Result> =>
    use(() => file.readers.point(read));
  const { read, write } = statementsOn(file, use);
  const kept = options.max_versions ?? SNAPSHOTS_KEPT;
  return {
    laws: storeLaws(sha256, read, write),
    artifacts: storeArtifacts(sha256, read, write),
    outbox: createSqliteOutbox(file, sha256, use),
    append: (append) => use(async () => (await submitAppends(file, sha256, [append]))[0] as AppendResult),
    appendTogether: (appends) => use(() => submitAppends(file, sha256, appends)),
    getHead: (runKey) =>
      use(async () => {
        file.guard.verifyThisTurn();
        const known = file.heads.get(runKey);
        if (known !== undefined) return known;
        const head = await file.readers.point((connection) => findRun(connection, sha256, runKey));
        if (head !== null) file.heads.set(head);
        return head;
      }),
    listRecords: (runKey, after, limit, maximumBytes) =>
      use(() => readPage(file, sha256, { run_key: runKey, after, limit, maximumBytes: maximumBytes ?? Infinity })),
    receipts: {
      get: (runKey, operation) => point((connection) => findReceipt(connection, sha256, runKey, operation)),
      ofCreation: (namespaceId, id) => point((connection) => findCreation(connection, sha256, namespaceId, id)),
      list: (runKey, after, limit) => point((connection) => readReceipts(connection, sha256, { runKey, after, limit })),
    },
    archives: {
      archive: (runKey, head, tombstone) =>
        use(async () => {
          const work = prepareArchive(sha256, runKey, head, tombstone);
          const result = await file.writer.submit(textBytes(tombstone.state), work);
          file.heads.remove(runKey);
          return result;
        }),
      put: (archived) => use(() => file.writer.submit(archivedBytes(archived), preparePutArchived(sha256, archived))),
      get: (runKey) => point((connection) => readTombstone(connection, sha256, runKey)),
    },
    snapshots: {
      put: (runKey, snapshot) =>
        use(() =>
          file.writer.submit(
            textBytes(snapshot.state),
            (connection) => writeSnapshot(connection, runKey, snapshot, kept),
          )
        ),
      get: (runKey, atMost) => point((connection) => readSnapshot(connection, sha256, runKey, atMost)),
    },
    findRuns: (query, after, limit) =>
      use(async () => {
        const reading = startReading(sha256, query, after, limit);
        await file.readers.long((connection) => readRuns(connection, reading));
        return pageOf(reading);
      }),
    figures: () => point(readFigures),
    listRuns: (after, limit) => point((connection) => listRuns(connection, sha256, after, limit)),
    ready: () => use(() => ready(file)),
    load: () => file.writer.load(),
    close: () => use.close(() => file.release()),
  };
}

/** Proves that the store can write and read. */
export async function ready(file: StoreFile): Promise<void> {
  await file.writer.submit(0, () => undefined);
  await file.readers.point((connection) => connection.statement("SELECT max(run_row) FROM runs").get());
}

async function submitAppends(
  file: StoreFile,
  sha256: Sha256,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  appends.forEach(assertAppend);
  const prepared = appends.map((append) => prepareAppend(sha256, append));
  const bytes = appends.reduce((sum, append) => sum + appendBytes(append), 0);
  const results = await file.writer.submit(bytes, (connection) => prepared.map((apply) => apply(connection)));
  for (const [index, { run_key, scenario_id, scenario_law_identity, records }] of appends.entries()) {
    const last = records.at(-1);
    if (results[index]?.outcome !== "accepted" || last === undefined) continue;
    const head = { record_id: last.record_id, revision: last.revision };
    file.heads.set({ run_key, scenario_id, scenario_law_identity, head });
  }
  return results;
}

async function readPage(
  file: StoreFile,
  sha256: Sha256,
  request: Omit<PageReading, "records" | "bytes">,
): Promise<StoredRecord[]> {
  const page: PageReading = { ...request, records: [], bytes: 0 };
  await file.readers.long((connection) => readSlice(connection, sha256, page));
  return page.records;
}

function listRuns(connection: Connection, sha256: Sha256, after: RunKey | null, limit: number): RunHead[] {
  return connection.statement(LIST_RUNS).all(after?.namespace_id ?? 0, after?.run_id ?? "", limit)
    .map((row) => withArchived(sha256, runOf(row), row));
}
