/** Opens the stores that a configuration names. */

import type { Sha256 } from "../canonical/identity.ts";
import type { SchemaLimits } from "./shape.ts";
import type { StoreRows } from "./rows/store_rows.ts";
import type { TypedProviderReads } from "./typed_provider_types.ts";
import { type RunStore, type SchemaRegistry, type StorageOptions, StoreError } from "./types.ts";

/** Settings of both stores. */
export interface StoresOptions {
  readonly run: StorageOptions & { readonly max_versions: number | null };
  readonly schemas: StorageOptions & SchemaLimits;
}

/** Both open stores. Each is closed separately. */
export interface Stores {
  readonly runs: RunStore;
  readonly schemas: SchemaRegistry;
}

/**
 * Opens the run store and the schema registry. Both may name one file; with equal settings they then share its
 * connections. Opening reads no data; data is verified when it is read.
 *
 * @param sha256 Verifies data that is read
 * @param notice Receives a sentence where a store holds less than was once committed to it, or once its worker has failed
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function openStores(
  options: StoresOptions,
  sha256: Sha256,
  notice?: (message: string) => void,
): Promise<Stores> {
  const { run, schemas } = options;
  // A configuration has both stores on one database, or neither.
  if (run.type === "postgres") {
    return await (await import("./postgres/open.ts")).openPostgresStores(run, schemas, sha256);
  }
  const sqlite = await import("./sqlite/open.ts");
  return await sqlite.openSqliteStores(options, sha256, notice);
}

/**
 * Opens the rows of a file or database, which is only read. They are not verified.
 *
 * @throws {StoreError} Where it cannot be read as a store at all: `corrupt`, `version_unsupported`, `busy`, `unavailable`, `io`
 */
export async function openRows(storage: StorageOptions): Promise<StoreRows> {
  if (storage.type === "postgres") return await (await import("./postgres/open.ts")).openPostgresRows(storage);
  if (storage.path === null) throw new StoreError("io", "Cannot read the store: it is in memory");
  return await (await import("./sqlite/store_rows.ts")).openSqliteRows(storage.path);
}

/** The typed providers of the stores, to be read until they are closed. */
export interface OpenTypedProviders {
  readonly reads: TypedProviderReads;
  readonly close: () => Promise<void>;
}

/**
 * Opens the typed providers of a schema registry for commands that change nothing. A file is only read, and stays as it
 * is. Null for a registry in memory, and for a file that does not exist or never had a typed provider.
 *
 * @throws {StoreError} As {@link openStores}
 */
export async function openTypedProviders(options: StoresOptions, sha256: Sha256): Promise<OpenTypedProviders | null> {
  const { type, path } = options.schemas;
  if (type === "postgres") {
    const stores = await openStores(options, sha256);
    return { reads: stores.schemas.typedProviders, close: () => closeStores(stores) };
  }
  if (type === "memory" || path === null) return null;
  const { openTypedProviderFile } = await import("./sqlite/typed_providers.ts");
  const { identityOf } = await import("./sqlite/connection.ts");
  const file = identityOf(path) === null ? null : openTypedProviderFile(path, sha256);
  return file === null ? null : { reads: file.reads, close: () => Promise.resolve(file.close()) };
}

/** Closes both stores, the second one also where the first one fails. */
export async function closeStores(stores: Stores): Promise<void> {
  const results = await Promise.allSettled([stores.runs.close(), stores.schemas.close()]);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    throw failed.reason instanceof Error ? failed.reason : new StoreError("io", String(failed.reason));
  }
}
