/**
 * The implementations that every case of the store suites runs over.
 *
 * @module
 */

import { closeStores, openStores, type Stores, type StoresOptions } from "../../src/store/open.ts";
import type { StorageOptions } from "../../src/store/types.ts";
import { sha256, STORAGE } from "./store_fixture.ts";

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

/** Creates an empty database for one case; set while the cases run over PostgreSQL alone. */
let createDatabase: (() => Promise<string>) | null = null;

/** Lets the suites that are imported from now on run over PostgreSQL alone, each case on a database of its own. */
export function runOverPostgres(create: () => Promise<string>): void {
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
  await withFolder(async (folder) => {
    const url = await createDatabase?.() ?? null;
    const stores = await openStores(storesOptions(folder, implementation, { ...changes, url }), sha256);
    try {
      await run(stores, folder);
    } finally {
      await closeStores(stores);
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
