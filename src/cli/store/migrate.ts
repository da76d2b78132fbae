/** `gate store migrate`: brings the run store to the current format, and adds all of its runs to the index of runs. */

import { countOf } from "../../config/problems.ts";
import { loadConfig } from "../../config/load.ts";
import { sha256 } from "../run/fold_state.ts";
import { type ConfigFlags, writeAnswer, writeError } from "../terminal/output.ts";
import type { StorageOptions } from "../../store/types.ts";
import { requireDatabase, storeFile, withStoreErrors, withStoreFile } from "./files.ts";

/** The flags of `gate store migrate`. */
export interface StoreMigrateOptions extends ConfigFlags {
  readonly owner?: string;
  readonly serverRole?: string;
}

/** Runs `gate store migrate`. */
export async function runStoreMigrate(options: StoreMigrateOptions): Promise<number> {
  const config = await loadConfig(options);
  requireDatabase(config, "--owner", options.owner);
  requireDatabase(config, "--server-role", options.serverRole);
  if (config.run_state_store.type === "postgres") return await migratePostgres(config.run_state_store, options);
  const path = storeFile(config, "run_state_store");
  const showsProgress = options.json !== true && Deno.stderr.isTerminal();
  const runs = await withStoreFile(path, async () => {
    const { migrateStore } = await import("../../store/sqlite/open.ts");
    return await migrateStore(config.run_state_store, sha256, (runs) => {
      if (showsProgress) writeError(`\r${countOf(runs, "run")} `);
    });
  });
  if (showsProgress) writeError("\r\x1b[K");
  const text = `${path}: ${countOf(runs, "run")} added to the index of runs\n`;
  return writeAnswer("store migrate", options, { path, runs_added: runs }, text);
}

/** Creates the tables of a database as its owner, and grants the role of the servers what it needs. */
async function migratePostgres(storage: StorageOptions, options: StoreMigrateOptions): Promise<number> {
  const { migrateDatabase } = await import("../../store/postgres/open.ts");
  const owner = { ...storage, url: options.owner ?? storage.url, connections: 1 };
  const { database, from, version } = await withStoreErrors(() => migrateDatabase(owner, options.serverRole ?? null));
  const created = from === null;
  const done = created ? "created" : from === version ? "are there" : `made from version ${from}`;
  const text = `${database}: tables of version ${version} ${done}\n`;
  return writeAnswer("store migrate", options, { database, created, version }, text);
}
