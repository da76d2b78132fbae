/** Opens stores on SQLite. */

import { words } from "../../canonical/words.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { SchemaLimits } from "../shape.ts";
import { type RunStore, type SchemaRegistry, type StorageOptions, StoreError } from "../types.ts";
import { type Notice, openStoreFile, type StoreFile, storePath } from "./file.ts";
import { addEntries, INDEX_BATCH, INDEXED_AT_START } from "./run_index.ts";
import { createSqliteRunStore } from "./run_store.ts";
import { createSqliteSchemaRegistry } from "./schema_registry.ts";
import { watchCommits } from "./commit_watch.ts";
import { openInMemory } from "./connection.ts";
import type { PathGuard } from "./file_guard.ts";
import { createHeadCache } from "./head_cache.ts";
import { createReaderPool } from "./readers.ts";
import { createWriter } from "./writer.ts";

const nothing = (): void => {};

/** There is no file that could be removed or replaced. */
const GUARD: PathGuard = { verify: nothing, verifyThisTurn: nothing };

/** Opens an empty store in memory for one user. Its content is lost at the release. */
export function openMemoryFile(options: StorageOptions): StoreFile {
  const connection = openInMemory();
  const { path, database } = connection;
  const writer = createWriter(connection, options, { verifyBefore: nothing, verify: nothing, committed: nothing });
  const readers = createReaderPool({ path, options, guard: GUARD, open: () => connection });
  const commits = watchCommits(connection);
  return {
    path,
    writer,
    readers,
    heads: createHeadCache(commits),
    commits,
    guard: GUARD,
    unindexed: 0,
    retain: nothing,
    release: async () => {
      await writer.drain();
      await readers.end();
      database.close();
    },
  };
}

type RunStorage = StorageOptions & { readonly max_versions: number | null };
type SchemaStorage = StorageOptions & SchemaLimits;

/** Opens a run store in a separate file, or in memory. */
export async function openSqliteRunStore(options: RunStorage, sha256: Sha256, notice?: Notice): Promise<RunStore> {
  const file = await openFile(options, notice);
  await indexAtStart(file, sha256, notice);
  return createSqliteRunStore(file, { max_versions: options.max_versions, sha256 });
}

async function openFile(options: StorageOptions, notice?: Notice): Promise<StoreFile> {
  return options.type === "memory" ? openMemoryFile(options) : await openStoreFile(options, notice);
}

/**
 * Adds the runs of an older store to the index of runs, where they are few. A run that cannot be added does not stop
 * the start: all calls but the list of runs work without the index.
 */
async function indexAtStart(file: StoreFile, sha256: Sha256, notice: Notice = () => {}): Promise<void> {
  if (file.unindexed === 0 || file.unindexed > INDEXED_AT_START) return;
  try {
    await indexRuns(file, sha256);
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

async function indexRuns(
  file: StoreFile,
  sha256: Sha256,
  onProgress: (runs: number) => void = () => {},
): Promise<number> {
  for (let runs = 0;;) {
    const added = await file.writer.submit(0, (connection) => addEntries(connection, sha256, INDEX_BATCH));
    runs += added;
    onProgress(runs);
    if (added < INDEX_BATCH) return runs;
  }
}

/**
 * Brings a store's file to the current format, and adds all runs of an older store to the index of runs. Other
 * processes may use the file meanwhile; a migration that was interrupted goes on where it stopped.
 *
 * @param onProgress Receives the number of runs that were added so far
 * @returns The number of runs that were added
 * @throws {StoreError} As {@link openStoreFile}; `corrupt` where a run has no creation
 */
export async function migrateStore(
  options: StorageOptions,
  sha256: Sha256,
  onProgress?: (runs: number) => void,
): Promise<number> {
  const file = await openStoreFile(options);
  try {
    return await indexRuns(file, sha256, onProgress);
  } finally {
    await file.release();
  }
}

/** Opens a schema registry in a separate file, or in memory. */
export async function openSqliteSchemaRegistry(
  options: SchemaStorage,
  sha256: Sha256,
  notice?: Notice,
): Promise<SchemaRegistry> {
  return createSqliteSchemaRegistry(await openFile(options, notice), options, sha256);
}

/**
 * Opens both stores. With one path they share connections, and their settings must be equal. Each store in memory is
 * separate.
 *
 * @throws {StoreError} `io` where the settings differ, else as {@link openStoreFile}
 */
export async function openSqliteStores(
  options: { readonly run: RunStorage; readonly schemas: SchemaStorage },
  sha256: Sha256,
  notice?: Notice,
): Promise<{ readonly runs: RunStore; readonly schemas: SchemaRegistry }> {
  const { run, schemas } = options;
  if (run.type === "sqlite" && schemas.type === "sqlite" && storePath(run) === storePath(schemas)) {
    const differing = SHARED_MEMBERS.find((member) => run[member] !== schemas[member]);
    if (differing !== undefined) {
      throw new StoreError("io", `Cannot open "${storePath(run)}" for runs and schemas: "${differing}" differs`);
    }
    const file = await openStoreFile(run, notice);
    file.retain();
    await indexAtStart(file, sha256, notice);
    return {
      runs: createSqliteRunStore(file, { max_versions: run.max_versions, sha256 }),
      schemas: createSqliteSchemaRegistry(file, schemas, sha256),
    };
  }
  const runs = await openSqliteRunStore(run, sha256, notice);
  try {
    return { runs, schemas: await openSqliteSchemaRegistry(schemas, sha256, notice) };
  } catch (error) {
    await runs.close();
    throw error;
  }
}

const SHARED_MEMBERS = words(
  "journal_mode sync_mode busy_timeout_ms batch_max_ops batch_max_bytes batch_max_wait_ms read_pool_size",
  "writer_queue_capacity",
);
