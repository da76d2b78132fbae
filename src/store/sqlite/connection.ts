/**
 * One connection to a store's file, and how such a file is opened.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";

import { fileReason } from "../file_reason.ts";
import { type StorageOptions, StoreError } from "../types.ts";
import { toStoreError } from "./errors.ts";
import { APPLICATION_ID, CREATE_TABLES, FORMAT_VERSION, ROW_BYTES_MAXIMUM, schemaOf } from "./format.ts";

/** A connection with the statements that were prepared on it. */
export interface Connection {
  readonly path: string;
  readonly database: DatabaseSync;
  /** The statement of an SQL text, prepared when first asked for: preparing anew for each call would cost two thirds of a point read. */
  readonly statement: (sql: string) => StatementSync;
}

/** Device, number and length of a file. */
export type FileIdentity = Pick<Deno.FileInfo, "dev" | "ino" | "size">;

/** The connection that writes, with the file that it has open. */
export interface WriterConnection extends Connection {
  /** The path with links followed: SQLite keeps the log beside that file. */
  readonly realPath: string;
  /** The file that stood at the path when SQLite opened it. */
  readonly identity: FileIdentity;
}

/** What of the storage options a connection needs. */
export type ConnectionOptions = Pick<StorageOptions, "journal_mode" | "sync_mode" | "busy_timeout_ms">;

/**
 * The longest that SQLite itself waits for a lock. Its wait blocks the event loop, so it is kept short, and the writer and the readers do
 * the rest of `busy_timeout_ms` by coming back later.
 */
const BUSY_SLICE_MILLIS = 10;

/**
 * Pages in the write-ahead log before a commit also moves them into the database: 8 MiB. A longer log moves pages less
 * often, yet every caller of the batch that moves it waits: measured with 64 callers, 4 MiB cost 5 % of throughput for a
 * 99th percentile of 10 ms instead of 13, and 16 MiB gained 5 % more for 18 ms.
 */
const CHECKPOINT_PAGES = 2000;

/** Refuses a file without a byte in it: one that was cut short, or of which another process is about to make a store. */
export class EmptyFileError extends StoreError {
  /** Milliseconds since somebody made or cut it; null where that is not known. */
  readonly ageMillis: number | null;

  /** Builds the error for the file at a path. */
  constructor(path: string, ageMillis: number | null) {
    const why = "it is empty, which no store is: restore a backup, or remove it for a new one";
    super("corrupt", `Cannot open store "${path}": ${why}`);
    this.ageMillis = ageMillis;
  }
}

/** Characters of a name that stands in a file, as a message has it. */
const NAME_CHARACTERS = 64;

/** Options of every connection: no foreign keys are declared, and nothing is read that is larger than any row may be. */
const DATABASE = { enableForeignKeyConstraints: false, limits: { length: ROW_BYTES_MAXIMUM } } as const;

/** Tables, indexes, views and triggers; what SQLite makes for itself has no text, or a name of its own. */
const FIND_SCHEMA = `SELECT type, name, sql, (SELECT user_version FROM pragma_user_version) AS format
  FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY sql`;

/** Wraps an open database. */
function toConnection(database: DatabaseSync, path: string): Connection {
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const prepared = database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };
  return { path, database, statement };
}

/**
 * Opens the connection that writes, and makes the file where there is none: folder 0700, file 0600.
 *
 * @throws {StoreError} `corrupt` for a file that is empty or no database, `version_unsupported` for one of another format or program,
 * `busy`, `io`
 */
export function openWriterConnection(path: string, options: ConnectionOptions): WriterConnection {
  const isMade = createFile(path);
  try {
    if (isMade) refuseOrphanedLog(path);
    const { dev, ino, size } = Deno.statSync(path);
    const realPath = Deno.realPathSync(path);
    return { ...openToWrite(path, options), realPath, identity: { dev, ino, size } };
  } catch (error) {
    if (isMade && isEmptyFile(path)) Deno.removeSync(path);
    throw toStoreError(error, path, "open store");
  }
}

function openToWrite(path: string, options: ConnectionOptions): Connection {
  return opened(path, () => {
    const database = new DatabaseSync(path, { ...DATABASE, timeout: busySlice(options) });
    return guarded(database, () => {
      const connection = toConnection(database, path);
      const isNew = requireStore(connection) === "empty";
      setJournalMode(connection, options.journal_mode);
      database.exec(
        `PRAGMA synchronous = ${options.sync_mode === "full" ? "FULL" : "NORMAL"}; PRAGMA trusted_schema = OFF;` +
          `PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
      );
      if (isNew) createTables(connection);
      // After a change of the journal's mode SQLite makes the files beside the database at the first read.
      else readFormat(connection);
      return connection;
    });
  });
}

/**
 * Opens a connection that only reads.
 *
 * @throws {StoreError} As {@link openWriterConnection}
 */
export function openReaderConnection(path: string, options: Pick<StorageOptions, "busy_timeout_ms">): Connection {
  refuseEmpty(path);
  return opened(path, () => {
    const database = new DatabaseSync(path, { ...DATABASE, timeout: busySlice(options), readOnly: true });
    return guarded(database, () => {
      database.exec("PRAGMA trusted_schema = OFF");
      return toConnection(database, path);
    });
  });
}

/**
 * Makes a database that nobody uses one file that can be moved, without a log beside it.
 *
 * @throws {StoreError} As {@link openWriterConnection}
 */
export function makeSelfContained(path: string): void {
  opened(path, () => {
    const database = new DatabaseSync(path, DATABASE);
    return guarded(database, () => {
      const connection = toConnection(database, path);
      setJournalMode(connection, "delete");
      return connection;
    });
  }).database.close();
}

/**
 * What the header of a file says.
 *
 * @returns `current` for a store of a known format, `empty` for a database without anything in it
 * @throws {StoreError} `version_unsupported`
 */
export function readFormat(connection: Connection): "current" | "empty" {
  const row = connection.database.prepare(
    "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id, pragma_user_version",
  ).get();
  const application = Number(row?.["application_id"]);
  const version = Number(row?.["user_version"]);
  if (application === APPLICATION_ID && version >= 1 && version <= FORMAT_VERSION) return "current";
  if (application === 0 && version === 0 && Number(row?.["tables"]) === 0) return "empty";
  if (application !== APPLICATION_ID) {
    throw unsupported(connection.path, "it is a database of another program");
  }
  throw unsupported(
    connection.path,
    version > FORMAT_VERSION
      ? `its format version ${version} is newer than ${FORMAT_VERSION}, the newest that this program knows`
      : `its format version ${version} is older than 1, the oldest that this program knows`,
  );
}

/**
 * Refuses what is neither a store nor an empty database: what a start asks of a file.
 *
 * @returns As {@link readFormat}
 * @throws {StoreError} `version_unsupported`, `corrupt`
 */
export function requireStore(connection: Connection): "current" | "empty" {
  const format = readFormat(connection);
  const fault = format === "empty" ? null : schemaFault(connection);
  if (fault === null) return format;
  throw new StoreError("corrupt", `Cannot open store "${connection.path}": ${fault}`);
}

/**
 * What keeps the tables and indexes from being those of a store, null for nothing: a trigger, or a table without its
 * constraints, could undo what is written.
 */
export function schemaFault(connection: Connection): string | null {
  const found = connection.database.prepare(FIND_SCHEMA).all();
  const own = schemaOf(Number(found[0]?.["format"] ?? 1));
  const foreign = found.find((row) => !own.includes(String(row["sql"])));
  if (foreign !== undefined) {
    const object = `its ${String(foreign["type"])} ${quoteName(String(foreign["name"]))}`;
    const isOwn = own.some((text) => partsOf(text).name === foreign["name"]);
    return isOwn
      ? `${object} was changed: restore a backup`
      : `${object} is none of gate's: drop it or restore a backup`;
  }
  const missing = own.find((text) => !found.some((row) => row["sql"] === text));
  if (missing === undefined) return null;
  const { type, name } = partsOf(missing);
  return `its ${type} ${quoteName(name)} is missing: restore a backup`;
}

/** What the text of a table or index makes. */
function partsOf(text: string): { readonly type: string; readonly name: string } {
  const [, type = "", name = ""] = text.split(" ");
  return { type: type.toLowerCase(), name };
}

/** A name that stands in a file, short enough for a message. */
function quoteName(name: string): string {
  return JSON.stringify(name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS)}...` : name);
}

function unsupported(path: string, why: string): StoreError {
  return new StoreError("version_unsupported", `Cannot open store "${path}": ${why}`);
}

function busySlice(options: Pick<StorageOptions, "busy_timeout_ms">): number {
  return Math.min(options.busy_timeout_ms, BUSY_SLICE_MILLIS);
}

function opened(path: string, open: () => Connection): Connection {
  try {
    return open();
  } catch (error) {
    throw toStoreError(error, path, "open store");
  }
}

/** The file at a path; null where there is no file. */
export function identityOf(path: string): FileIdentity | null {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

/**
 * Why no store is made at a path: the log of one that is gone is beside it. SQLite would remove the log, and with it what only the log
 * holds. Null where there is no such log.
 */
export function orphanedLog(path: string): string | null {
  const log = `${path}-wal`;
  if ((identityOf(log)?.size ?? 0) === 0) return null;
  return `its file is gone and its log "${log}" is still there: put the file back, or move the log away`;
}

function refuseOrphanedLog(path: string): void {
  const why = orphanedLog(path);
  if (why !== null) throw new StoreError("io", `Cannot open store "${path}": ${why}`);
}

/** Closes the database when what follows its opening fails. */
function guarded(database: DatabaseSync, rest: () => Connection): Connection {
  try {
    return rest();
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Makes the file where there is none: SQLite would by the process's mask, and a store's file is its owner's alone. */
function createFile(path: string): boolean {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      refuseOther(path);
      refuseEmpty(path);
      return false;
    }
    if (!(error instanceof Deno.errors.NotFound)) throw toStoreError(error, path, "create store");
    const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")));
    if (folder === "" || isThere(folder)) {
      throw new StoreError("io", `Cannot create store "${path}": no file can be made there`, { cause: error });
    }
    createFolder(folder);
    return createFile(path);
  }
}

function createFolder(folder: string): void {
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw toStoreError(error, folder, "create folder");
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** SQLite would also write to what is no file, a device say. */
function refuseOther(path: string): void {
  const other = otherAt(path);
  if (other !== null) throw new StoreError("io", `Cannot open store "${path}": ${other}`);
}

/** What stands at a path that no store can be; null for a file, and for nothing. */
export function otherAt(path: string): string | null {
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    return isFile ? null : `it is ${isDirectory ? "a folder, expected" : "not"} a file`;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return fileReason(error) ?? String(error);
    return isThere(path) ? "it is a link to nothing" : null;
  }
}

/** Whether there is a file without a byte in it. SQLite takes it for a new database, and removes the log beside it. */
function isEmptyFile(path: string): boolean {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size === 0;
  } catch {
    return false;
  }
}

function ageOf(path: string): number | null {
  try {
    const changed = Deno.statSync(path).mtime;
    return changed === null ? null : Date.now() - changed.getTime();
  } catch {
    // Whoever made it has removed it again.
    return null;
  }
}

function refuseEmpty(path: string): void {
  if (isEmptyFile(path)) throw new EmptyFileError(path, ageOf(path));
}

function setJournalMode(connection: Connection, mode: StorageOptions["journal_mode"]): void {
  const row = connection.database.prepare(`PRAGMA journal_mode = ${mode}`).get();
  if (row?.["journal_mode"] === mode) return;
  throw new StoreError(
    "busy",
    `Cannot open store "${connection.path}": journal mode stays "${String(row?.["journal_mode"])}" while others use it`,
  );
}

/** Makes the tables, unless another process did so meanwhile. */
function createTables(connection: Connection): void {
  const { database } = connection;
  database.prepare("BEGIN IMMEDIATE").run();
  try {
    if (readFormat(connection) === "empty") database.exec(CREATE_TABLES);
    database.prepare("COMMIT").run();
  } catch (error) {
    rollback(connection);
    throw error;
  }
}

/** Rolls back if a transaction is still open; some failures have ended it already. */
export function rollback(connection: Connection): void {
  if (connection.database.isTransaction) connection.statement("ROLLBACK").run();
}
