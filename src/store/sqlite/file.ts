/**
 * A store's file with its writer and its readers, shared by what lives in it.
 *
 * @module
 */

import { resolve } from "node:path";

import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, EmptyFileError, openWriterConnection, type WriterConnection } from "./connection.ts";
import { isBusy, toStoreError } from "./errors.ts";
import { createFileGuard, type FileGuard } from "./file_guard.ts";
import { createHeadCache, type HeadCache } from "./head_cache.ts";
import { findLoss, keepMark } from "./high_water_mark.ts";
import { createReaderPool, type ReaderPool } from "./readers.ts";
import { createWriter, type Writer } from "./writer.ts";

/** An open file. */
export interface StoreFile {
  readonly path: string;
  readonly writer: Writer;
  readonly readers: ReaderPool;
  readonly heads: HeadCache;
  readonly guard: FileGuard;
  /** One more user of the file. */
  readonly retain: () => void;
  /** One user less; the last one commits what is queued and closes, or abandons a file that is no longer the one at the path. */
  readonly release: () => Promise<void>;
}

/** Told something about a store that whoever runs it should know. */
export type Notice = (message: string) => void;

/** How long an opening that met a busy database stays away, milliseconds. */
const BUSY_PAUSE_MILLIS = 10;

/**
 * How long a file may be without a byte while somebody makes a store of it, milliseconds: between the two, the process that makes it
 * does nothing else. One that has been empty for longer is no store and becomes none.
 */
const EMPTY_MILLIS = 1000;

/**
 * Connections to files that were removed or replaced. To close one could write its log into a file that another process has open with a
 * log of its own, and so could their collection as garbage. They stay open until the process exits, which closes none of them.
 */
const ABANDONED: Connection[] = [];

/**
 * Opens a store's file, making it where there is none. Reads no more than the header and how much it holds.
 *
 * @param notice Told in a sentence where the store holds less than was once committed to it
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function openStoreFile(options: StorageOptions, notice: Notice = () => {}): Promise<StoreFile> {
  const path = storePath(options);
  return await openPatiently(path, options, () => {
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
  const { path } = connection;
  const guard = createFileGuard(connection, options);
  const mark = keepMark(connection);
  const loss = findLoss(connection);
  if (loss !== null) {
    notice(`Store "${path}" is not what it was: ${loss}. A backup was restored, or its files were changed`);
  }
  const writer = createWriter(connection, options, { verify: guard.verify, committed: mark.committed });
  const readers = createReaderPool(path, options, guard);
  let users = 1;
  const release = async (): Promise<void> => {
    users -= 1;
    if (users > 0) return;
    await writer.drain();
    const connections = [...await readers.end(), connection];
    const isLost = !isVerified(guard);
    mark.close(isLost);
    if (isLost) ABANDONED.push(...connections);
    else for (const { database } of connections) database.close();
  };
  const retain = (): void => void (users += 1);
  return { path, writer, readers, heads: createHeadCache(connection), guard, retain, release };
}

function isVerified(guard: FileGuard): boolean {
  try {
    guard.verify();
    return true;
  } catch {
    return false;
  }
}

/** The absolute path of a store's file, so that names that SQLite takes for something else are plain names. */
export function storePath(options: Pick<StorageOptions, "path">): string {
  if (options.path === null || options.path === "") {
    throw new StoreError("io", 'Cannot open a store of type "sqlite": there is no path');
  }
  return resolve(options.path);
}

async function openPatiently(path: string, options: StorageOptions, open: () => StoreFile): Promise<StoreFile> {
  const since = performance.now();
  for (;;) {
    try {
      return open();
    } catch (error) {
      const mayPass = isBusy(error) || error instanceof EmptyFileError;
      if (!mayPass) throw (await import("./access.ts")).explainAccess(error, path);
      const waited = performance.now() - since;
      if (waited >= options.busy_timeout_ms) throw error;
      if (error instanceof EmptyFileError && Math.max(waited, error.ageMillis ?? 0) >= EMPTY_MILLIS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MILLIS));
  }
}
