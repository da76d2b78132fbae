/** The store files of a configuration, and the conversion of store errors to {@link CliError}. */

import { resolve } from "node:path";
import type { GateConfig } from "../../config/types.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { type RunStore, StoreError } from "../../store/types.ts";
import { sha256 } from "../run/fold_state.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";

/** The configuration sections of the stores. */
export const STORE_SECTIONS = ["run_state_store", "schema_registry"] as const;

/** One of {@link STORE_SECTIONS}. */
export type StoreSection = typeof STORE_SECTIONS[number];

/** The run store of `gate run` with a run key, where the configuration has none; in the working directory. */
export const PIPELINE_STORE = ".gate/gate.db";

/** The configuration with the store that `gate run --run-key` made in this folder, where it has no store of its own. */
export async function withPipelineStore(config: GateConfig): Promise<GateConfig> {
  const { run_state_store: store } = config;
  const path = resolve(PIPELINE_STORE);
  if (store.type !== "memory" || (await Deno.stat(path).catch(() => null))?.isFile !== true) return config;
  return { ...config, run_state_store: { ...store, type: "sqlite", path } };
}

/** The files of both stores, each once. */
export function storeFiles(config: GateConfig): readonly string[] {
  const paths = STORE_SECTIONS.map((section) => config[section].path).filter((path) => path !== null);
  return [...new Set(paths)];
}

/** The file of one store; throws for a store in memory. */
export function storeFile(config: GateConfig, section: StoreSection): string {
  const { path, type } = config[section];
  if (path === null) throw noFile(`${section}.type is "${type}"`);
  return path;
}

/** The error for a configuration whose stores have no file. */
export function noFile(why: string): CliError {
  return new CliError("usage", `Cannot find a store file: ${why}`, "name the configuration with --config");
}

/** Runs an operation on a store file, and converts store errors to {@link CliError}. */
export function withStoreFile<Result>(path: string, operation: () => Promise<Result>): Promise<Result> {
  return withStoreErrors(async () => {
    await requireFile(path);
    return await operation();
  });
}

/** Runs an operation on the run store of a configuration, which is closed behind it. Store errors become {@link CliError}. */
export async function withRunStore<Result>(
  config: GateConfig,
  operation: (runs: RunStore) => Promise<Result>,
): Promise<Result> {
  const { run_state_store: run, schema_registry: schemas } = config;
  const open = async (): Promise<Result> => {
    const { closeStores, openStores } = await import("../../store/open.ts");
    // The registry is opened with the runs only where both share a database.
    const registry = run.type === "postgres" ? schemas : { ...schemas, type: "memory", path: null } as const;
    const stores = await openStores({ run, schemas: registry }, sha256);
    try {
      return await operation(stores.runs);
    } finally {
      await closeStores(stores);
    }
  };
  return run.type === "postgres"
    ? await withStoreErrors(open)
    : await withStoreFile(storeFile(config, "run_state_store"), open);
}

/** Runs an operation, and converts store errors to {@link CliError}. */
export async function withStoreErrors<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === "misconfigured") throw new CliError("usage", error.message);
    if (error.code === "corrupt") throw new CliError("store_corrupt", error.message, null, EXIT.verificationFailed);
    throw unavailable(error.message);
  }
}

/** Rejects a flag that only a run store in a database takes. */
export function requireDatabase(config: GateConfig, flag: string, value: string | undefined): void {
  const { type } = config.run_state_store;
  if (value !== undefined && type !== "postgres") {
    throw new CliError("usage", `Cannot use ${flag}: run_state_store.type is "${type}"`);
  }
}

/** Requires that a store's file exists; throws {@link CliError} `store_unavailable`. */
export async function requireFile(path: string): Promise<void> {
  const info = await Deno.stat(path).catch((error) => {
    throw unavailable(`Cannot open store "${path}": ${reasonOf(error)}`);
  });
  if (!info.isFile) throw unavailable(`Cannot open store "${path}": it is not a file`);
}

function unavailable(message: string): CliError {
  return new CliError("store_unavailable", message, null, EXIT.unreachable);
}
