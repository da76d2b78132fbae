/**
 * The implementations that every case of the store suites runs over.
 *
 * @module
 */

import { closeStores, openStores, type Stores, type StoresOptions } from "../../../src/store/open.ts";
import type { StorageOptions } from "../../../src/store/types.ts";
import { sha256, STORAGE } from "./fixture.ts";

/** Settings that a case may change. */
export type Changes = Partial<StorageOptions> & {
  readonly max_versions?: number | null;
  readonly max_entries?: number | null;
  readonly max_schema_bytes?: number;
};

/** One way to keep things. */
export interface Implementation {
  readonly name: string;
  readonly changes: Partial<StorageOptions>;
}

/** SQLite as it is by default. */
export const WAL_FULL: Implementation = {
  name: "sqlite, wal, full",
  changes: { type: "sqlite", journal_mode: "wal", sync_mode: "full" },
};

/** Every implementation that needs nothing but Deno, with the settings that change how it works. */
const EMBEDDED: readonly Implementation[] = [
  { name: "memory", changes: { type: "memory" } },
  WAL_FULL,
  {
    name: "sqlite, delete, normal",
    changes: { type: "sqlite", journal_mode: "delete", sync_mode: "normal", read_pool_size: 1 },
  },
];

/** The addresses of one database. */
export interface DatabaseAddresses {
  /** As the role of the servers. */
  readonly server: string;
  /** As the role that owns the tables. */
  readonly owner: string;
}

/** Creates an empty database for one case; set while the cases run over PostgreSQL alone. */
let createDatabase: (() => Promise<DatabaseAddresses>) | null = null;

/** Lets the suites that are imported from now on run over PostgreSQL alone, each case on a database of its own. */
export function runOverPostgres(create: () => Promise<DatabaseAddresses>): void {
  createDatabase = create;
}

/** The implementations that the cases run over. */
export const IMPLEMENTATIONS: Iterable<Implementation> = {
  [Symbol.iterator]: () =>
    (createDatabase === null ? EMBEDDED : [{ name: "postgres", changes: { type: "postgres" } } as const])
      [Symbol.iterator](),
};

/** Options for both stores in one file of a folder. */
export function storesOptions(folder: string, implementation: Implementation, changes: Changes = {}): StoresOptions {
  const { max_versions = null, max_entries = null, max_schema_bytes = 1048576, ...storage } = changes;
  const all = { ...STORAGE, ...implementation.changes, ...storage };
  const path = all.type === "sqlite" ? `${folder}/gate.db` : null;
  return { run: { ...all, path, max_versions }, schemas: { ...all, path, max_entries, max_schema_bytes } };
}

/** Runs a case in a folder of its own, on stores that are closed behind it. */
export async function withStores(
  implementation: Implementation,
  changes: Changes,
  run: (stores: Stores, folder: string) => Promise<void>,
): Promise<void> {
  await withOwnedStores(implementation, changes, (stores, _open, folder) => run(stores, folder));
}

/**
 * Runs a case as {@link withStores}.
 *
 * @param run Its second argument opens the stores again, as the owner of the database; in memory it returns the same stores
 */
export async function withOwnedStores(
  implementation: Implementation,
  changes: Changes,
  run: (stores: Stores, openOwned: () => Promise<Stores>, folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const addresses = await createDatabase?.();
    const open = (url: string | null): Promise<Stores> =>
      openStores(storesOptions(folder, implementation, { ...changes, url }), sha256);
    const all = [await open(addresses?.server ?? null)];
    const [stores] = all as [Stores];
    const openOwned = async (): Promise<Stores> => {
      if (implementation.changes.type === "memory") return stores;
      const owned = await open(addresses?.owner ?? null);
      all.push(owned);
      return owned;
    };
    try {
      await run(stores, openOwned, folder);
    } finally {
      for (const opened of all) await closeStores(opened);
    }
  });
}

/** Runs a case in a folder of its own. */
export async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gate_store_" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
