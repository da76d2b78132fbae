/**
 * `gate store migrate`: brings the run store to the current format, and adds all of its runs to the index of runs.
 *
 * @module
 */

import { countOf } from "../../config/problems.ts";
import { loadConfig } from "../../config/load.ts";
import { sha256 } from "../run/fold_state.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";
import { storeFile, withStoreFile } from "./files.ts";

/** The flags of `gate store migrate`. */
export interface StoreMigrateOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Runs `gate store migrate`. */
export async function runStoreMigrate(options: StoreMigrateOptions): Promise<number> {
  const config = await loadConfig({ config: options.config });
  const path = storeFile(config, "run_state_store");
  const showsProgress = options.json !== true && Deno.stderr.isTerminal();
  const runs = await withStoreFile(path, async () => {
    const { migrateStore } = await import("../../store/sqlite/open.ts");
    return await migrateStore(config.run_state_store, sha256, (runs) => {
      if (showsProgress) writeError(`\r${countOf(runs, "run")} `);
    });
  });
  if (showsProgress) writeError("\r\x1b[K");
  if (options.json === true) writeResult("store migrate", { path, runs_added: runs });
  else writeOut(`${path}: ${countOf(runs, "run")} added to the index of runs\n`);
  return EXIT.ok;
}
