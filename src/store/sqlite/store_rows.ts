/** The rows of a store's file. The file is only read; it may have an older format, and other processes may use it. */

import type { Sha256 } from "../../canonical/identity.ts";
import { parameterText } from "../run_index.ts";
import { sealEntry } from "../seal.ts";
import { type RunEntry, StoreError } from "../types.ts";
import { type Orphan, type RowTable, type StoreRows, toStages } from "../rows/store_rows.ts";
import { type Connection, formatOf, openReaderConnection, readFormat, rollback, schemaFault } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { ARCHIVES_FORMAT, INDEX_FORMAT, OPEN_STAGES_FORMAT, TENANTS_FORMAT, TYPED_PROVIDERS_FORMAT } from "./format.ts";
import { findLoss } from "./high_water_mark.ts";
import { integer, type Row } from "../rows/columns.ts";
import { RECORD_COLUMNS } from "../rows/records.ts";
import { toEntry } from "../rows/entries.ts";
import { SCHEMA_COLUMNS } from "./schema_registry.ts";
import { ARCHIVED_COLUMNS } from "../rows/tombstones.ts";

/** The longest wait of SQLite for a lock, in milliseconds. */
const BUSY_MILLIS = 5000;

/** Rows of a page. */
const PAGE = 64;

const NEXT_RUN = "SELECT * FROM runs WHERE (namespace_id, run_id) > (?, ?) ORDER BY namespace_id, run_id LIMIT 1";
const RECORDS =
  `SELECT ${RECORD_COLUMNS} FROM records AS r WHERE r.run_row = ? AND r.revision > ? ORDER BY r.revision LIMIT ${PAGE}`;
const SNAPSHOTS = "SELECT revision, state_identity, state FROM snapshots WHERE run_row = ? ORDER BY revision";
const LAW = "SELECT * FROM laws WHERE namespace_id = ? AND identity = ?";
const STAGES = "SELECT stage_id, opened FROM open_stages WHERE run_row = ?";
const ENTRY = "SELECT * FROM run_index WHERE run_row = ?";
const TOMBSTONE = `SELECT ${ARCHIVED_COLUMNS}, a.state FROM archives AS a WHERE a.run_row = ?`;
const PARAMETER =
  "SELECT 1 FROM run_parameters WHERE namespace_id = ? AND parameter = ? AND created = ? AND run_id = ? AND run_row = ?";
const OLDEST_ENTRY = "SELECT coalesce(min(run_row), 9007199254740991) AS oldest FROM run_index";
const ARTIFACT = "SELECT * FROM artifacts WHERE identity = ?";

/** The first format that has a table, where it is not the first one of all. */
const FIRST_FORMATS: Readonly<Partial<Record<RowTable, number>>> = { typed_providers: TYPED_PROVIDERS_FORMAT };

/**
 * Opens the rows of a file.
 *
 * @throws {StoreError} Where the file cannot be read as a store at all: `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function openSqliteRows(path: string): Promise<StoreRows> {
  try {
    const connection = openReaderConnection(path, { busy_timeout_ms: BUSY_MILLIS });
    try {
      requireStoreFormat(connection);
      return rowsOf(connection);
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw (await import("./access.ts")).explainAccess(error, path);
  }
}

function requireStoreFormat(connection: Connection): void {
  let format: string;
  try {
    format = readFormat(connection);
  } catch (error) {
    throw toStoreError(error, connection.path, "read store");
  }
  if (format === "empty") {
    throw new StoreError("version_unsupported", `Cannot read store "${connection.path}": it is empty`);
  }
}

function rowsOf(connection: Connection): StoreRows {
  const { path, database, statement } = connection;
  const now = <Result>(read: () => Result): Promise<Result> => new Promise((resolve) => resolve(read()));
  return {
    name: path,
    faults: () => now(() => faultsOf(connection)),
    pages: (table) => pagesOf(connection, table),
    nextRun: (after) => now(() => statement(NEXT_RUN).get(after.namespace_id, after.run_id) ?? null),
    records: (run, after) => now(() => statement(RECORDS).all(integer(run, "run_row"), after)),
    snapshots: (run) => now(() => statement(SNAPSHOTS).all(integer(run, "run_row"))),
    entryProblems: (sha256, run, expected) => now(() => entryProblems(connection, sha256, run, expected)),
    openStages: (run) =>
      now(() => {
        if (formatOf(connection) < OPEN_STAGES_FORMAT) return null;
        return toStages(statement(STAGES).all(integer(run, "run_row")));
      }),
    entry: (run) => now(() => statement(ENTRY).get(integer(run, "run_row")) ?? null),
    tombstone: (run) =>
      now(() => {
        if (formatOf(connection) < ARCHIVES_FORMAT) return null;
        return statement(TOMBSTONE).get(integer(run, "run_row")) ?? null;
      }),
    law: (namespaceId, identity) => now(() => statement(LAW).get(namespaceId, identity) ?? null),
    artifact: (identity) => now(() => statement(ARTIFACT).get(identity) ?? null),
    orphans: () => orphansOf(connection),
    atOneMoment: async (reads) => {
      statement("BEGIN").run();
      try {
        return await reads();
      } finally {
        rollback(connection);
      }
    },
    toError: (error, part) => toStoreError(error, path, `read the ${part} of`),
    close: () => now(() => database.close()),
  };
}

/** SQLite's own check of pages, indexes and constraints, foreign tables, and the loss that the mark shows. */
function faultsOf(connection: Connection): string[] {
  const faults: string[] = [];
  const fault = schemaFault(connection);
  if (fault !== null) faults.push(`Cannot open store "${connection.path}": ${fault}`);
  for (const row of connection.database.prepare("PRAGMA integrity_check(10000)").all()) {
    const line = String(row["integrity_check"]);
    if (line !== "ok") faults.push(line);
  }
  const loss = findLoss(connection);
  if (loss !== null) faults.push(`Store "${connection.path}" lost data: ${loss}`);
  for (const [table, row] of [["laws", "law_row"], ["runs", "run_row"], ["records", "record_row"]] as const) {
    // Rows are numbered from 1 and never removed, so a gap shows what was deleted.
    const sql = `SELECT count(*) AS rows, coalesce(max(${row}), 0) AS last FROM ${table}`;
    const { rows = 0, last = 0 } = connection.database.prepare(sql).get() ?? {};
    if (Number(rows) < Number(last)) {
      faults.push(`Store "${connection.path}" lost data: ${rows} of ${last} rows of "${table}"`);
    }
  }
  return faults;
}

/** Each page is a read of its own, so that no read stays open across turns of the event loop. */
async function* pagesOf(connection: Connection, table: RowTable): AsyncGenerator<readonly Row[]> {
  const format = formatOf(connection);
  if (format < (FIRST_FORMATS[table] ?? 1)) return;
  const ofSchema = format < TENANTS_FORMAT ? "s.*, NULL AS tenants" : SCHEMA_COLUMNS;
  const columns = table === "schemas" ? ofSchema : "s.*";
  const page = connection.statement(
    `SELECT s.rowid AS position, ${columns} FROM ${table} AS s WHERE s.rowid > ? ORDER BY s.rowid LIMIT ${PAGE}`,
  );
  for (let position = -1;;) {
    const rows: Row[] = page.all(position);
    const last = rows.at(-1);
    if (last !== undefined) position = integer(last, "position");
    yield rows;
    if (rows.length < PAGE) return;
  }
}

/** Older runs may have no entry: `gate store migrate` adds them, from the newest to the oldest. */
function entryProblems(connection: Connection, sha256: Sha256, run: Row, expected: RunEntry): string[] {
  if (formatOf(connection) < INDEX_FORMAT) return [];
  const runRow = integer(run, "run_row");
  const row = connection.statement(ENTRY).get(runRow);
  if (row === undefined) {
    const oldest = connection.statement(OLDEST_ENTRY).get();
    const isMissing = oldest !== undefined && runRow > integer(oldest, "oldest");
    return isMissing ? ["it is not in the index of runs"] : [];
  }
  try {
    const { run_key: { namespace_id, run_id }, created_instant } = expected;
    const isFound = connection.statement(PARAMETER);
    const isSame = sealEntry(sha256, toEntry(sha256, row)) === sealEntry(sha256, expected) &&
      expected.parameters.every((one) =>
        isFound.get(namespace_id, sha256(parameterText(one)), created_instant, run_id, runRow) !== undefined
      );
    return isSame ? [] : ["its entry in the index of runs differs from its records"];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

async function* orphansOf(connection: Connection): AsyncGenerator<readonly Orphan[]> {
  const indexed = formatOf(connection) < INDEX_FORMAT ? [] : [["run_index", "run"], ["run_parameters", "run"]] as const;
  const archives = formatOf(connection) < ARCHIVES_FORMAT ? [] : [["archives", "run"]] as const;
  const opened = formatOf(connection) < OPEN_STAGES_FORMAT ? [] : [["open_stages", "run"]] as const;
  const tables = [["records", "record"], ["snapshots", "snapshot"], ...indexed, ...archives, ...opened] as const;
  for (const [table, what] of tables) {
    const found = connection.database.prepare(
      `SELECT run_row, count(*) AS rows FROM ${table} WHERE run_row NOT IN (SELECT run_row FROM runs) GROUP BY run_row`,
    ).all();
    yield found.map((row) => ({
      what,
      message: `${integer(row, "rows")} rows of "${table}" belong to no run`,
      run_key: null,
    }));
  }
}
