/**
 * The stores that commands name: a SQLite file, the address of a PostgreSQL database or `env:NAME` of one, or a
 * configuration.
 */

import { dirname, resolve } from "node:path";
import { STORAGE_DEFAULTS } from "../../config/defaults.ts";
import { loadConfig } from "../../config/load.ts";
import { describeUrl, parsePostgresAddress, variableOfUrl } from "../../config/postgres_address.ts";
import type { GateConfig } from "../../config/types.ts";
import type { StoreRows } from "../../store/rows/store_rows.ts";
import type { StorageOptions } from "../../store/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { noFile, requireFile, withStoreErrors } from "./files.ts";

/** The run store and the schema registry that a name stands for; the same one where both are in one file or database. */
export interface NamedStore {
  readonly run: StorageOptions & { readonly max_versions?: number | null };
  readonly schemas: StorageOptions;
  /** The folder that holds the runpacks of archived runs, unless a flag names another one. */
  readonly dataDir: string;
  /** The object store that mirrors it; null where none is configured. */
  readonly runpackStorage: GateConfig["runpack_storage"];
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
  const dataDir = storage.path === null ? resolve(".gate") : dirname(storage.path);
  return { run: storage, schemas: storage, dataDir, runpackStorage: null };
}

/** The stores of a configuration. */
export function configuredStore(config: GateConfig): NamedStore {
  const { run_state_store: run, schema_registry: schemas, runpack_storage: runpackStorage } = config;
  return { run, schemas, dataDir: dataDirOf(config, undefined), runpackStorage };
}

/** The name of a file, or of a database without user and password. */
export function nameOf({ path, url }: StorageOptions): string {
  return path ?? describeUrl(url ?? "");
}

/** The files and databases of a named store, each once; throws where both stores are in memory. */
export function storagesOf({ run, schemas }: Pick<NamedStore, "run" | "schemas">): readonly StorageOptions[] {
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
