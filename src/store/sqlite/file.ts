/** A store's file with its writer and its readers, which the stores in the file share. */

import { resolve } from "node:path";

import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, openReaderConnection, openWriterConnection, type WriterConnection } from "./connection.ts";
import { isBusy, toStoreError } from "./errors.ts";
import { createFileGuard, type FileGuard, type PathGuard } from "./file_guard.ts";
import { type CommitWatch, watchCommits } from "./commit_watch.ts";
import { createHeadCache, type HeadCache } from "./head_cache.ts";
import { findLoss, keepMark } from "./high_water_mark.ts";
import { createLogMover } from "./log/log_mover.ts";
import { countMissing, INDEXED_AT_START } from "./run_index.ts";
import { createReaderPool, type ReaderPool } from "./readers.ts";
import { createWriter, type Writer } from "./writer.ts";

/** An open file. */
export interface StoreFile {
  readonly path: string;
  readonly writer: Writer;
  readonly readers: ReaderPool;
  readonly heads: HeadCache;
  readonly commits: CommitWatch;
  readonly guard: PathGuard;
  /** Runs without an entry in the index when the file was opened, at most one more than {@link INDEXED_AT_START}. */
  readonly unindexed: number;
  /** Adds a user of the file. */
  readonly retain: () => void;
  /**
   * Removes a user. The last one commits queued operations and closes the file, or abandons a file that was removed or
   * replaced.
   */
  readonly release: () => Promise<void>;
}

/** Receives a message for the operator of the store. */
export type Notice = (message: string) => void;

/** The pause before another attempt to open a busy database, in milliseconds. */
const BUSY_PAUSE_MILLIS = 10;

/**
 * Connections to files that were removed or replaced. Closing or garbage-collecting one could write its log into a file
 * that another process has open with a log of its own. They stay open until the process exits, and the exit closes none
 * of them.
 */
const ABANDONED: Connection[] = [];

/**
 * Opens a store's file, or creates it. Reads only the header and the number of rows.
 *
 * @param notice Receives a sentence where the store holds less than was once committed to it, or once its worker has failed
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function openStoreFile(options: StorageOptions, notice: Notice = () => {}): Promise<StoreFile> {
  const path = storePath(options);
  return await openWithRetries(path, options, () => {
    const connection = openWriterConnection(path, options);
    try {
      return useConnection(connection, options, notice);
    } catch (error) {
      const known = toStoreError(error, path, "open store");
      if (known.code === "file_lost") ABANDONED.push(connection);
      else connection.database.close();
      throw known;
    }
  });
}

function useConnection(connection: WriterConnection, options: StorageOptions, notice: Notice): StoreFile {
  const guard = createFileGuard(connection, options);
  try {
    return useGuarded(connection, guard, options, notice);
  } catch (error) {
    guard.close();
    throw error;
  }
}

function useGuarded(
  connection: WriterConnection,
  guard: FileGuard,
  options: StorageOptions,
  notice: Notice,
): StoreFile {
  const { path } = connection;
  const mark = keepMark(connection);
  const loss = findLoss(connection);
  if (loss !== null) {
    notice(`Store "${path}" lost data: ${loss}. A backup was restored, or its files were changed`);
  }
  const { verify, verifyBeforeCommit: verifyBefore } = guard;
  const mover = createLogMover(connection, guard, notice);
  const committed = (): void => {
    mark.committed();
    mover.committed();
  };
  const writer = createWriter(connection, options, { verifyBefore, verify, committed });
  const readers = createReaderPool({ path, options, guard, open: () => openReaderConnection(path, options) });
  let users = 1;
  const release = async (): Promise<void> => {
    users -= 1;
    if (users > 0) return;
    await writer.drain();
    const connections = [...await readers.end(), connection];
    await mover.close();
    const isLost = !isVerified(guard);
    mark.close(isLost);
    guard.close();
    if (isLost) ABANDONED.push(...connections);
    else for (const { database } of connections) database.close();
  };
  const retain = (): void => void (users += 1);
  const unindexed = countMissing(connection, INDEXED_AT_START + 1);
  const commits = watchCommits(connection);
  return { path, writer, readers, heads: createHeadCache(commits), commits, guard, unindexed, retain, release };
}

function isVerified(guard: FileGuard): boolean {
  try {
    guard.verify();
    return true;
  } catch {
    return false;
  }
}

/** The absolute path of a store's file, because SQLite gives some relative names a special meaning. */
export function storePath(options: Pick<StorageOptions, "path">): string {
  if (options.path === null || options.path === "") {
    throw new StoreError("io", 'Cannot open a store of type "sqlite": no path is configured');
  }
  return resolve(options.path);
}

async function openWithRetries(path: string, options: StorageOptions, open: () => StoreFile): Promise<StoreFile> {
  const since = performance.now();
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error)) throw (await import("./access.ts")).explainAccess(error, path);
      if (performance.now() - since >= options.busy_timeout_ms) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MILLIS));
  }
}
