/**
 * Opens stores on SQLite.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { SchemaLimits } from "../shape.ts";
import { type RunStore, type SchemaRegistry, type StorageOptions, StoreError } from "../types.ts";
import { type Notice, openStoreFile, storePath } from "./file.ts";
import { createSqliteRunStore } from "./run_store.ts";
import { createSqliteSchemaRegistry } from "./schema_registry.ts";

type RunStorage = StorageOptions & { readonly max_versions: number | null };
type SchemaStorage = StorageOptions & SchemaLimits;

/** Opens a run store in a separate file. */
export async function openSqliteRunStore(options: RunStorage, sha256: Sha256, notice?: Notice): Promise<RunStore> {
  return createSqliteRunStore(await openStoreFile(options, notice), { max_versions: options.max_versions, sha256 });
}

/** Opens a schema registry in a separate file. */
export async function openSqliteSchemaRegistry(
  options: SchemaStorage,
  sha256: Sha256,
  notice?: Notice,
): Promise<SchemaRegistry> {
  return createSqliteSchemaRegistry(await openStoreFile(options, notice), options, sha256);
}

/**
 * Opens both stores. With one path they share connections, and their settings must be equal.
 *
 * @throws {StoreError} `io` where the settings differ, else as {@link openStoreFile}
 */
export async function openSqliteStores(
  options: { readonly run: RunStorage; readonly schemas: SchemaStorage },
  sha256: Sha256,
  notice?: Notice,
): Promise<{ readonly runs: RunStore; readonly schemas: SchemaRegistry }> {
  const { run, schemas } = options;
  if (storePath(run) === storePath(schemas)) {
    const differing = SHARED_MEMBERS.find((member) => run[member] !== schemas[member]);
    if (differing !== undefined) {
      throw new StoreError("io", `Cannot open "${storePath(run)}" for runs and schemas: "${differing}" differs`);
    }
    const file = await openStoreFile(run, notice);
    file.retain();
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

const SHARED_MEMBERS = [
  "journal_mode",
  "sync_mode",
  "busy_timeout_ms",
  "batch_max_ops",
  "batch_max_bytes",
  "batch_max_wait_ms",
  "read_pool_size",
  "writer_queue_capacity",
] as const;
