/**
 * The run store on SQLite.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { storeArtifacts } from "../rows/artifacts.ts";
import { storeLaws } from "../rows/laws.ts";
import { assertAppend } from "../shape.ts";
import { appendBytes, archivedBytes, textBytes } from "../size.ts";
import { openGate } from "../gate.ts";
import { SNAPSHOTS_KEPT } from "../rows/snapshots.ts";
import { runOf } from "../rows/store_rows.ts";
import type { Append, AppendResult, RunHead, RunStore, StoredRecord } from "../types.ts";
import { findCreation, findReceipt, findRun, prepareAppend } from "./append.ts";
import { prepareArchive, preparePutArchived, readReceipts, readTombstone } from "./archive.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { readFigures } from "./open_stages.ts";
import { createSqliteOutbox } from "./outbox.ts";
import { type PageReading, readSlice } from "./pages.ts";
import { pageOf, readRuns, startReading } from "./run_list.ts";
import { statementsOn } from "./statements.ts";
import { readSnapshot, writeSnapshot } from "./snapshots.ts";
import { ARCHIVED_COLUMNS, withArchived } from "../rows/tombstones.ts";

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
    append: (append) => use(() => submitAppend(file, sha256, append)),
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

async function submitAppend(file: StoreFile, sha256: Sha256, append: Append): Promise<AppendResult> {
  assertAppend(append);
  const result = await file.writer.submit(appendBytes(append), prepareAppend(sha256, append));
  const last = append.records.at(-1);
  if (result.outcome === "accepted" && last !== undefined) {
    const { run_key, scenario_id, scenario_law_identity } = append;
    const head = { record_id: last.record_id, revision: last.revision };
    file.heads.set({ run_key, scenario_id, scenario_law_identity, head });
  }
  return result;
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
