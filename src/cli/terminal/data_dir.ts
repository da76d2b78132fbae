/**
 * The data folder of the service, which holds its runpacks.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import type { GateConfig } from "../../config/types.ts";

/** The folder of `--data-dir`, else that of the run store, else `.gate` beside the configuration. */
export function dataDirOf(config: GateConfig, named: string | undefined): string {
  if (named !== undefined) return resolve(named);
  const store = config.run_state_store.path;
  return store === null ? join(config.base_dir, ".gate") : dirname(store);
}
