/**
 * Compares the files that SQLite has open with the files at the path.
 *
 * SQLite continues with files that were removed or replaced: it commits into them without an error, and the next
 * process that opens the path does not see these commits. Two processes with different `-shm` files do not see each
 * other's locks, and overwrite each other's commits. So device and inode of all files and the length of the write-ahead
 * log are compared. Each commit, each readiness check, and each turn of the event loop with reads or commits does so.
 *
 * The file itself gets a `stat` each time: another one may be mounted over it, and a link to it has another folder.
 * While the time of its folder stands still, neither the log nor its index was removed or replaced; an open handle has
 * the length of the log. Since Linux 6.13 a `stat` of the log would make the next write record a new time. The flush of
 * that write takes half as long again.
 */

import { dirname } from "node:path";
import { setImmediate } from "node:timers";

import { fileReason } from "../file_reason.ts";
import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, type FileIdentity, identityOf, pageSize, type WriterConnection } from "./connection.ts";
import { integer } from "../rows/columns.ts";

/**
 * Compares the files of one store. Once a file differs, every later comparison fails: only a new process may open the
 * path again.
 */
export interface PathGuard {
  /**
   * Compares now.
   *
   * @throws {StoreError} `file_lost` where a file differs, `io` where one cannot be compared
   */
  readonly verify: () => void;
  /**
   * Compares at the first call in a turn of the event loop; later calls in the turn repeat the result.
   *
   * @throws {StoreError} As `verify`
   */
  readonly verifyThisTurn: () => void;
}

/** A {@link PathGuard} with what the connection that writes needs. */
export interface FileGuard extends PathGuard {
  /**
   * Compares before a transaction begins, unless {@link verifyThisTurn} did so in the turn of the event loop that ends
   * with it. The comparison after the commit finds what happened since.
   *
   * @throws {StoreError} As `verify`
   */
  readonly verifyBeforeCommit: () => void;
  /** The write-ahead log at the last comparison; without pages where there is no log. */
  readonly log: () => LogState;
  /** Ends the comparisons; to be called before the connection is closed. */
  readonly close: () => void;
}

/** How long a write-ahead log is. */
export interface LogState {
  /** Valid frames: one for each page of each commit since the log began. */
  readonly pages: number;
  /** Those whose pages are in the database. */
  readonly moved: number;
}

interface OpenedFile {
  /** Its name in messages. */
  readonly name: string;
  readonly path: string;
  readonly identity: FileIdentity | null;
}

/** The write-ahead log, and the files beside the store, whose removal or replacement changes their folder. */
interface OpenedLog {
  readonly handle: Deno.FsFile;
  readonly folder: string;
  readonly files: readonly OpenedFile[];
  /** The folder when the files were last found in their places; null where a later change of the folder might not show. */
  unchanged: FolderState | null;
  state: LogState;
}

/** What a change of the names in a folder changes. */
type FolderState = Pick<Deno.FileInfo, "dev" | "ino" | "mtime" | "ctime">;

/**
 * How old the time of a folder is when every later change shows in it, in milliseconds. `seconds` is for times in whole
 * seconds, since FAT has steps of 2 s. `fractions` is for a time with a fraction, whose steps are at most the 10 ms of
 * a kernel's clock.
 */
const SETTLED_MILLIS = { seconds: 2_500, fractions: 100 };

/**
 * Bytes before the first frame of a write-ahead log, and before the page in each frame
 * (https://www.sqlite.org/walformat.html).
 */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Reports how many frames of the log are valid, without moving any. */
const WAL_STATE = "PRAGMA wal_checkpoint(NOOP)";

const NO_PAGES: LogState = { pages: 0, moved: 0 };

/**
 * Consecutive comparisons that must find the log too short: SQLite in another process may empty the log between two of
 * them.
 */
const SHORT_FINDINGS = 4;

/**
 * Creates a guard for the files of a connection that was just opened.
 *
 * @throws {StoreError} As {@link FileGuard.verify}
 */
export function createFileGuard(
  connection: WriterConnection,
  { journal_mode }: Pick<StorageOptions, "journal_mode">,
): FileGuard {
  const { path } = connection;
  const main = { name: "file", path, identity: connection.identity };
  const log = journal_mode === "wal" ? openLog(connection) : null;
  const frameBytes = FRAME_HEADER_BYTES + pageSize(connection);
  let lost: StoreError | null = null;
  let isVerified = false;
  /** As `isVerified`, and until the writer has committed what was decided in the turn. */
  let isVerifiedForCommit = false;
  let comparisons = 0;
  const expireForCommit = (comparison: number): void => {
    // A later turn may have compared before this one's commit ended.
    if (comparison === comparisons) isVerifiedForCommit = false;
  };
  const expire = (): void => {
    isVerified = false;
    setImmediate(expireForCommit, comparisons);
  };
  const verify = (): void => {
    if (lost !== null) throw lost;
    const why = differenceOf([main]) ?? (log === null ? null : logDifference(connection, log, frameBytes));
    if (why === null) return;
    lost = new StoreError("file_lost", `Cannot use store "${path}": ${why} while it was open`, { publicReason: why });
    throw lost;
  };
  const verifyThisTurn = (): void => {
    if (isVerified) return;
    verify();
    isVerified = true;
    isVerifiedForCommit = true;
    comparisons++;
    setImmediate(expire);
  };
  const verifyBeforeCommit = (): void => {
    if (lost !== null || !isVerifiedForCommit) verify();
  };
  const close = (): void => log?.handle.close();
  try {
    verify();
  } catch (error) {
    close();
    throw error;
  }
  return { verify, verifyThisTurn, verifyBeforeCommit, log: () => log?.state ?? NO_PAGES, close };
}

/** While a connection is open, SQLite keeps the log and its index beside the target of a link. */
function fileBeside(realPath: string, end: "-wal" | "-shm"): OpenedFile {
  const path = `${realPath}${end}`;
  return { name: `"${end}" file`, path, identity: identityOf(path) };
}

/** Opens the log by its path; whether it is the log of the connection shows when it is compared. */
function openLog({ realPath }: WriterConnection): OpenedLog {
  const log = fileBeside(realPath, "-wal");
  try {
    return {
      handle: Deno.openSync(log.path),
      folder: dirname(realPath),
      files: [log, fileBeside(realPath, "-shm")],
      unchanged: null,
      state: NO_PAGES,
    };
  } catch (error) {
    throw notCompared(log.path, error);
  }
}

/** The first difference between the files at the paths and the opened ones; null where they are the same files. */
function differenceOf(files: readonly OpenedFile[]): string | null {
  for (const { name, path, identity } of files) {
    const now = identityNow(path);
    if (now === null) return `its ${name} was removed or renamed`;
    if (now.dev !== identity?.dev || now.ino !== identity.ino) return `its ${name} was replaced by another`;
  }
  return null;
}

function logDifference(connection: WriterConnection, log: OpenedLog, frameBytes: number): string | null {
  const folder = folderNow(log.folder);
  if (folder === null || !isSame(folder, log.unchanged)) {
    const why = differenceOf(log.files);
    if (why !== null) return why;
    log.unchanged = folder;
  }
  return isCutShort(connection, log, frameBytes) ? 'its "-wal" file was cut short' : null;
}

/** A folder now; null where a change of it might not show, since its time is young or unknown. */
function folderNow(path: string): FolderState | null {
  const now = Date.now();
  const folder = folderState(path);
  return folder.mtime !== null && isSettled(folder.mtime.getTime(), now) ? folder : null;
}

/** Whether a folder that was changed at a time, in Unix milliseconds, gets another time with every later change. */
function isSettled(changed: number, now: number): boolean {
  return now - changed > SETTLED_MILLIS[changed % 1000 === 0 ? "seconds" : "fractions"];
}

function folderState(path: string): FolderState {
  try {
    return Deno.statSync(path);
  } catch (error) {
    // The comparison of the files finds that they are missing.
    if (error instanceof Deno.errors.NotFound) return { dev: 0, ino: null, mtime: null, ctime: null };
    throw notCompared(path, error);
  }
}

function isSame(folder: FolderState, before: FolderState | null): boolean {
  return folder.dev === before?.dev && folder.ino === before.ino &&
    folder.mtime?.getTime() === before.mtime?.getTime() && folder.ctime?.getTime() === before.ctime?.getTime();
}

function identityNow(path: string): FileIdentity | null {
  try {
    return identityOf(path);
  } catch (error) {
    throw notCompared(path, error);
  }
}

function notCompared(path: string, error: unknown): StoreError {
  const why = fileReason(error) ?? String(error);
  return new StoreError("io", `Cannot use store: "${path}" cannot be compared: ${why}`, { cause: error });
}

/**
 * Whether the log is shorter than its valid frames. SQLite itself shortens a log only after it has declared its frames
 * invalid. The index of the log is read each time: a log that has its earlier length may have been cut since another
 * process made it longer.
 */
function isCutShort(connection: WriterConnection, log: OpenedLog, frameBytes: number): boolean {
  for (let finding = 0; finding < SHORT_FINDINGS; finding++) {
    log.state = logState(connection);
    const { pages } = log.state;
    const end = pages === 0 ? 0 : WAL_HEADER_BYTES + pages * frameBytes;
    if (log.handle.seekSync(0, Deno.SeekMode.End) >= end) return false;
  }
  return true;
}

function logState(connection: Connection): LogState {
  const row = connection.statement(WAL_STATE).get();
  if (row === undefined) return NO_PAGES;
  return { pages: Math.max(0, integer(row, "log")), moved: Math.max(0, integer(row, "checkpointed")) };
}
