/** Connections to a store's file. */

import { DatabaseSync, type StatementSync } from "node:sqlite";

import { fileReason } from "../file_reason.ts";
import { type StorageOptions, StoreError } from "../types.ts";
import { integer } from "../rows/columns.ts";
import { toStoreError } from "./errors.ts";
import { APPLICATION_ID, CREATE_TABLES, FORMAT_STEPS, FORMAT_VERSION, ROW_BYTES_MAXIMUM, schemaOf } from "./format.ts";

/** A connection with its prepared statements. */
export interface Connection {
  readonly path: string;
  readonly database: DatabaseSync;
  /** The statement of an SQL text, prepared once: preparing it for each call would cost two thirds of a point read. */
  readonly statement: (sql: string) => StatementSync;
}

/** Device, number and length of a file. */
export type FileIdentity = Pick<Deno.FileInfo, "dev" | "ino" | "size">;

/** The connection that writes, with the file that it has open. */
export interface WriterConnection extends Connection {
  /** The path with links resolved: SQLite keeps the log beside that file. */
  readonly realPath: string;
  /** The file at the path when SQLite opened it. */
  readonly identity: FileIdentity;
}

/** The storage options of a connection. */
export type ConnectionOptions = Pick<StorageOptions, "journal_mode" | "sync_mode" | "busy_timeout_ms">;

/**
 * The longest wait of SQLite itself for a lock, in milliseconds. It blocks the event loop, so it is short; the writer
 * and the readers retry for the rest of `busy_timeout_ms`.
 */
const BUSY_SLICE_MILLIS = 10;

/**
 * The page of a new file, in bytes; an existing file keeps its own. Each append changes a leaf of two indexes for its
 * run, so smaller pages make a commit of many runs smaller: measured with 64 runs, 460 kB in place of 620 with pages of
 * 4 KiB. Pages of 1 KiB made it 360 kB, and point reads of a cold file took 38 % more processor time.
 */
const PAGE_BYTES = 2048;

/**
 * Bytes in the write-ahead log before a commit also moves its pages into the database, and every caller of its batch
 * waits. A worker moves them earlier (log_mover.ts), so a log of this length has a worker that cannot keep up, or a
 * long reader.
 */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;

/** Characters of a name from a file that a message shows. */
const NAME_CHARACTERS = 64;

/** Options of every connection: the tables declare no foreign keys, and values are limited to the largest row. */
const DATABASE = { enableForeignKeyConstraints: false, limits: { length: ROW_BYTES_MAXIMUM } } as const;

/** Tables, indexes, views and triggers, without SQLite's own objects. */
const FIND_SCHEMA = `SELECT type, name, sql, (SELECT user_version FROM pragma_user_version) AS format
  FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY sql`;

/** Bytes of a page of a file. */
export function pageSize(connection: Connection): number {
  return Number(connection.statement("PRAGMA page_size").get()?.["page_size"]);
}

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
 * Opens the connection that writes, and creates a missing file: folder 0700, file 0600.
 *
 * @throws {StoreError} `corrupt` for an empty file or a file that is not a database, `version_unsupported` for another format or program,
 * `busy`, `io`
 */
export function openWriterConnection(path: string, options: ConnectionOptions): WriterConnection {
  try {
    if (!isThere(path)) createStore(path);
    // SQLite would also write to a device.
    refuseFor(path, otherAt(path));
    refuseEmpty(path);
    const { dev, ino, size } = Deno.statSync(path);
    const realPath = Deno.realPathSync(path);
    return { ...openForWriting(path, options), realPath, identity: { dev, ino, size } };
  } catch (error) {
    throw toStoreError(error, path, "open store");
  }
}

function openForWriting(path: string, options: ConnectionOptions): Connection {
  return opened(path, () => {
    const database = new DatabaseSync(path, { ...DATABASE, timeout: busySlice(options) });
    return guarded(database, () => {
      const connection = toConnection(database, path);
      const isNew = requireStore(connection) === "empty";
      setJournalMode(connection, options.journal_mode);
      database.exec(
        `PRAGMA synchronous = ${options.sync_mode === "full" ? "FULL" : "NORMAL"}; PRAGMA trusted_schema = OFF;` +
          `PRAGMA wal_autocheckpoint = ${Math.floor(CHECKPOINT_BYTES / pageSize(connection))}`,
      );
      // After a change of the journal mode, SQLite creates the files beside the database at the first read.
      if (isNew || formatOf(connection) < FORMAT_VERSION) createTables(connection);
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

/** Opens an empty store in memory. Large sorts stay there too: SQLite would put them into a temporary file. */
export function openInMemory(): Connection {
  const database = new DatabaseSync(":memory:", DATABASE);
  database.exec("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
  const connection = toConnection(database, ":memory:");
  createTables(connection);
  return connection;
}

/**
 * Turns an unused database into one movable file, without a log beside it.
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
 * The format in the header of a file.
 *
 * @returns `current` for a store of a supported format, `empty` for an empty database
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
      ? `its format version ${version} is newer than ${FORMAT_VERSION}, the newest that this program supports`
      : `its format version ${version} is older than 1, the oldest that this program supports`,
  );
}

/**
 * Requires a store or an empty database.
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
 * The first difference between the tables and indexes and those of a store, or null. A trigger, or a table without its
 * constraints, could undo writes.
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
      : `${object} is not part of a gate store: drop it or restore a backup`;
  }
  const missing = own.find((text) => !found.some((row) => row["sql"] === text));
  if (missing === undefined) return null;
  const { type, name } = partsOf(missing);
  return `its ${type} ${quoteName(name)} is missing: restore a backup`;
}

/** The type and name in the SQL text of a table or index. */
function partsOf(text: string): { readonly type: string; readonly name: string } {
  const [, type = "", name = ""] = text.split(" ");
  return { type: type.toLowerCase(), name };
}

/** A name from a file, cut for a message. */
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
 * The reason against creating a store at a path: the log of a missing store is beside it. SQLite would remove the log,
 * and the commits in it. Null without such a log.
 */
export function orphanedLog(path: string): string | null {
  const log = `${path}-wal`;
  if ((identityOf(log)?.size ?? 0) === 0) return null;
  return `its file is missing, but its log "${log}" exists: restore the file, or move the log away`;
}

function refuseFor(path: string, why: string | null): void {
  if (why !== null) throw new StoreError("io", `Cannot open store "${path}": ${why}`);
}

/** Closes the database where a later step of opening fails. */
function guarded(database: DatabaseSync, rest: () => Connection): Connection {
  try {
    return rest();
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates a missing store, readable by its owner only. It is made under another name, so a process that is killed
 * meanwhile leaves no part of a store at the path. Another process may create it too: the first one that is whole
 * stays. A process that may write the files of the store alone, and no other in its folder, makes it at the path.
 */
function createStore(path: string): void {
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")));
  const partial = `${folder}/.${crypto.randomUUID()}.partial`;
  const isAlone = Deno.permissions.querySync({ name: "write", path: partial }).state !== "granted";
  const made = isAlone ? path : partial;
  createEmpty(made, path, folder);
  try {
    refuseFor(path, orphanedLog(path));
    fillStore(made);
    if (!isAlone) publishStore(partial, path);
  } finally {
    if (!isAlone && isThere(partial)) Deno.removeSync(partial);
  }
}

/** Creates an empty file in a folder, and the folder where it is missing. SQLite would use the umask of the process. */
function createEmpty(made: string, path: string, folder: string, isRepeated = false): void {
  try {
    Deno.openSync(made, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw toStoreError(error, path, "create store");
    if (folder === "" || isRepeated) {
      throw new StoreError("io", `Cannot create store "${path}": no file can be created there`, { cause: error });
    }
    if (!isThere(folder)) createFolder(folder);
    createEmpty(made, path, folder, true);
  }
}

function fillStore(path: string): void {
  opened(path, () => {
    const database = new DatabaseSync(path, DATABASE);
    return guarded(database, () => {
      const connection = toConnection(database, path);
      database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = FULL`);
      createTables(connection);
      return connection;
    });
  }).database.close();
}

/** A link never replaces an existing file, as a rename would; some file systems have no links. */
function publishStore(partial: string, path: string): void {
  try {
    Deno.linkSync(partial, path);
  } catch (error) {
    if (isThere(path)) return;
    if (error instanceof Deno.errors.NotFound) throw error;
    Deno.renameSync(partial, path);
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

/** The reason why the path cannot be a store; null for a file, and for a path that does not exist. */
export function otherAt(path: string): string | null {
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    return isFile ? null : `it is ${isDirectory ? "a folder, expected" : "not"} a file`;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return fileReason(error) ?? String(error);
    return isThere(path) ? "it is a link to a missing file" : null;
  }
}

/** Whether the file exists and is empty. SQLite treats such a file as a new database, and removes the log beside it. */
function isEmptyFile(path: string): boolean {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size === 0;
  } catch {
    return false;
  }
}

function refuseEmpty(path: string): void {
  if (!isEmptyFile(path)) return;
  const why = "it is empty: restore a backup, or remove it to create a new store";
  throw new StoreError("corrupt", `Cannot open store "${path}": ${why}`);
}

function setJournalMode(connection: Connection, mode: StorageOptions["journal_mode"]): void {
  const row = connection.database.prepare(`PRAGMA journal_mode = ${mode}`).get();
  if (row?.["journal_mode"] === mode) return;
  throw new StoreError(
    "busy",
    `Cannot open store "${connection.path}": journal mode stays "${
      String(row?.["journal_mode"])
    }" while other processes use it`,
  );
}

/** Creates the tables that a new or older file does not have, unless another process did so meanwhile. */
function createTables(connection: Connection): void {
  const { database } = connection;
  database.prepare("BEGIN IMMEDIATE").run();
  try {
    if (readFormat(connection) === "empty") database.exec(CREATE_TABLES);
    raiseFormat(connection);
    database.prepare("COMMIT").run();
  } catch (error) {
    rollback(connection);
    throw error;
  }
}

/** The format of the file now. */
export function formatOf(connection: Connection): number {
  const row = connection.statement("SELECT user_version AS format FROM pragma_user_version").get();
  return row === undefined ? 0 : integer(row, "format");
}

/** Takes the steps to the newest format that the file does not have yet; to be called inside a transaction. */
function raiseFormat(connection: Connection): void {
  for (let next = formatOf(connection) + 1; next <= FORMAT_VERSION; next++) {
    connection.database.exec(`${FORMAT_STEPS[next]?.join(";")}; PRAGMA user_version = ${next}`);
  }
}

/** Rolls back if a transaction is still open; some failures have ended it already. */
export function rollback(connection: Connection): void {
  if (connection.database.isTransaction) connection.statement("ROLLBACK").run();
}
