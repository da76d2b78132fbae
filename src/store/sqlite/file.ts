/**
 * A store's file with its writer and its readers, shared by what lives in it.
 *
 * @module
 */

import { resolve } from "node:path";

import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, EmptyFileError, openWriterConnection } from "./connection.ts";
import { isBusy } from "./errors.ts";
import { createHeadCache, type HeadCache } from "./head_cache.ts";
import { createReaderPool, type ReaderPool } from "./readers.ts";
import { createWriter, type Writer } from "./writer.ts";

/** An open file. */
export interface StoreFile {
  readonly path: string;
  readonly writer: Writer;
  readonly readers: ReaderPool;
  readonly heads: HeadCache;
  /** One more user of the file. */
  readonly retain: () => void;
  /** One user less; the last one commits what is queued and closes. */
  readonly release: () => Promise<void>;
}

/** How long an opening that met a busy database stays away, milliseconds. */
const BUSY_PAUSE_MILLIS = 10;

/**
 * How long a file may be without a byte while somebody makes a store of it, milliseconds: between the two, the process that makes it
 * does nothing else. One that has been empty for longer is no store and becomes none.
 */
const EMPTY_MILLIS = 1000;

/**
 * Opens a store's file, making it where there is none. Reads no more than the header.
 *
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function openStoreFile(options: StorageOptions): Promise<StoreFile> {
  const path = storePath(options);
  const connection = await openPatiently(path, options);
  const writer = createWriter(connection, options);
  const readers = createReaderPool(path, options);
  let users = 1;
  const release = async (): Promise<void> => {
    users -= 1;
    if (users > 0) return;
    await writer.drain();
    await readers.close();
    connection.database.close();
  };
  return { path, writer, readers, heads: createHeadCache(connection), retain: () => void (users += 1), release };
}

/** The absolute path of a store's file, so that names that SQLite takes for something else are plain names. */
export function storePath(options: Pick<StorageOptions, "path">): string {
  if (options.path === null || options.path === "") {
    throw new StoreError("io", 'Cannot open a store of type "sqlite": there is no path');
  }
  return resolve(options.path);
}

async function openPatiently(path: string, options: StorageOptions): Promise<Connection> {
  const since = performance.now();
  for (;;) {
    try {
      return openWriterConnection(path, options);
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
