/**
 * The stores that commands name: a SQLite file, the address of a PostgreSQL database or `env:NAME` of one, or a configuration.
 *
 * @module
 */

import { resolve } from "node:path";
import { STORAGE_DEFAULTS } from "../../config/defaults.ts";
import { loadConfig } from "../../config/load.ts";
import { describeUrl, parsePostgresAddress, variableOfUrl } from "../../config/postgres_address.ts";
import type { GateConfig } from "../../config/types.ts";
import type { StoreRows } from "../../store/store_rows.ts";
import type { StorageOptions } from "../../store/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { noFile, requireFile, withStoreErrors } from "./files.ts";

/** The run store and the schema registry that a name stands for; the same one where both are in one file or database. */
export interface NamedStore {
  readonly run: StorageOptions & { readonly max_versions?: number | null };
  readonly schemas: StorageOptions;
}

/**
 * The stores of a name.
 *
 * @throws {CliError} `usage` where the name is not that of a store
 */
export async function namedStore(name: string): Promise<NamedStore> {
  if (name.endsWith(".toml")) return configuredStore(await loadConfig({ config: name }));
  // An address with a misspelt scheme is no file: a store copied to it would not be where its owner expects it.
  const isUrl = variableOfUrl(name) !== null || /^postgres(?:ql)?:|:\/\//.test(name);
  const storage: StorageOptions = isUrl
    ? { ...STORAGE_DEFAULTS, type: "postgres", url: name }
    : { ...STORAGE_DEFAULTS, type: "sqlite", path: resolve(name) };
  if (isUrl && variableOfUrl(name) === null && parsePostgresAddress(name) === null) {
    throw new CliError(
      "usage",
      "Cannot use the address of the database: it has to be postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    );
  }
  return { run: storage, schemas: storage };
}

/** The stores of a configuration. */
export function configuredStore({ run_state_store, schema_registry }: GateConfig): NamedStore {
  return { run: run_state_store, schemas: schema_registry };
}

/** The name of a file, or of a database without user and password. */
export function nameOf({ path, url }: StorageOptions): string {
  return path ?? describeUrl(url ?? "");
}

/** The files and databases of a named store, each once; throws where both stores are in memory. */
export function storagesOf({ run, schemas }: NamedStore): readonly StorageOptions[] {
  const kept = [run, schemas].filter(({ type }) => type !== "memory");
  if (kept.length === 0) throw noFile("both stores are in memory");
  const [first, second] = kept;
  const isOne = second === undefined || (first?.path === second.path && first?.url === second.url);
  return isOne ? kept.slice(0, 1) : kept;
}

/** Runs an operation on the rows of a file or database, which is only read. Store errors become {@link CliError}. */
export async function withRows<Result>(
  storage: StorageOptions,
  operation: (rows: StoreRows) => Promise<Result>,
): Promise<Result> {
  return await withStoreErrors(async () => {
    if (storage.path !== null) await requireFile(storage.path);
    const { openRows } = await import("../../store/open.ts");
    const rows = await openRows(storage);
    try {
      return await operation(rows);
    } finally {
      await rows.close();
    }
  });
}
