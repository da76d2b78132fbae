/**
 * Compares the files that SQLite has open with the files at the path.
 *
 * SQLite continues with files that were removed or replaced: it commits into them without an error, and the next process that opens the
 * path does not see these commits. Two processes with different `-shm` files do not see each other's locks, and overwrite each other's
 * commits. So each commit, each turn of the event loop with reads or commits, and each readiness check compares device and inode of all
 * files, and the length of the write-ahead log.
 *
 * @module
 */

import { setImmediate } from "node:timers";

import { fileReason } from "../file_reason.ts";
import { type StorageOptions, StoreError } from "../types.ts";
import type { Connection, FileIdentity, WriterConnection } from "./connection.ts";
import { identityOf } from "./connection.ts";
import { integer } from "./rows.ts";

/** Compares the files of one store. Once a file differs, every later comparison fails: only a new process may open the path again. */
export interface FileGuard {
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
  /**
   * Compares before a transaction begins, unless {@link verifyThisTurn} did so in the turn of the event loop that ends with it. The
   * comparison after the commit finds what happened since.
   *
   * @throws {StoreError} As `verify`
   */
  readonly verifyBeforeCommit: () => void;
}

interface OpenedFile {
  /** Its name in messages. */
  readonly name: string;
  readonly path: string;
  readonly identity: FileIdentity | null;
  /** Whether it is the write-ahead log, whose length is compared too. */
  readonly isLog: boolean;
}

/** Bytes before the first frame of a write-ahead log, and before the page in each frame (https://www.sqlite.org/walformat.html). */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Reports how many frames of the log are valid, without moving any. */
const WAL_STATE = "PRAGMA wal_checkpoint(NOOP)";

/** Consecutive comparisons that must find the log too short: SQLite in another process may empty the log between two of them. */
const SHORT_FINDINGS = 3;

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
  const files = openedFiles(connection, journal_mode);
  const frameBytes = FRAME_HEADER_BYTES + pageSize(connection);
  let lost: StoreError | null = null;
  let isVerified = false;
  /** As `isVerified`, and until the writer has committed what was decided in the turn. */
  let isVerifiedForCommit = false;
  const expireForCommit = (): void => {
    isVerifiedForCommit = false;
  };
  const expire = (): void => {
    isVerified = false;
    setImmediate(expireForCommit);
  };
  const verify = (): void => {
    if (lost !== null) throw lost;
    const why = differenceOf(connection, files, frameBytes);
    if (why === null) return;
    lost = new StoreError("file_lost", `Cannot use store "${path}": ${why} while it was open`, { publicReason: why });
    throw lost;
  };
  const verifyThisTurn = (): void => {
    if (isVerified) return;
    verify();
    isVerified = true;
    isVerifiedForCommit = true;
    setImmediate(expire);
  };
  const verifyBeforeCommit = (): void => {
    if (lost !== null || !isVerifiedForCommit) verify();
  };
  verify();
  return { verify, verifyThisTurn, verifyBeforeCommit };
}

function openedFiles(connection: WriterConnection, mode: StorageOptions["journal_mode"]): readonly OpenedFile[] {
  const { path, realPath, identity } = connection;
  // While a connection is open, SQLite keeps the log and its index beside the target of a link.
  const beside = mode === "wal" ? ["-wal", "-shm"] : [];
  return [
    { name: "file", path, identity, isLog: false },
    ...beside.map((end) => ({
      name: `"${end}" file`,
      path: `${realPath}${end}`,
      identity: identityOf(`${realPath}${end}`),
      isLog: end === "-wal",
    })),
  ];
}

/** The first difference between the files at the paths and the opened ones; null where they are the same files. */
function differenceOf(connection: WriterConnection, files: readonly OpenedFile[], frameBytes: number): string | null {
  let logBytes: number | null = null;
  for (const { name, path, identity, isLog } of files) {
    const now = identityNow(path);
    if (now === null) return `its ${name} was removed or renamed`;
    if (now.dev !== identity?.dev || now.ino !== identity.ino) return `its ${name} was replaced by another`;
    if (isLog) logBytes = now.size;
  }
  if (logBytes === null || logBytes >= framesEnd(connection, frameBytes)) return null;
  return isCutShort(connection, frameBytes) ? 'its "-wal" file was cut short' : null;
}

function identityNow(path: string): FileIdentity | null {
  try {
    return identityOf(path);
  } catch (error) {
    const why = fileReason(error) ?? String(error);
    throw new StoreError("io", `Cannot use store: "${path}" cannot be compared: ${why}`, { cause: error });
  }
}

/** Whether the log is shorter than its valid frames. SQLite itself shortens a log only after it has declared its frames invalid. */
function isCutShort(connection: WriterConnection, frameBytes: number): boolean {
  for (let finding = 0; finding < SHORT_FINDINGS; finding++) {
    const end = framesEnd(connection, frameBytes);
    if ((identityNow(`${connection.realPath}-wal`)?.size ?? 0) >= end) return false;
  }
  return true;
}

/** The length of a log that holds all valid frames, in bytes; 0 without one. */
function framesEnd(connection: Connection, frameBytes: number): number {
  const row = connection.statement(WAL_STATE).get();
  const frames = row === undefined ? 0 : integer(row, "log");
  return frames <= 0 ? 0 : WAL_HEADER_BYTES + frames * frameBytes;
}

function pageSize(connection: Connection): number {
  const row = connection.statement("PRAGMA page_size").get();
  return row === undefined ? 0 : integer(row, "page_size");
}
