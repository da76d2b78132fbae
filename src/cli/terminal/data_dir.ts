/**
 * The folder for what the service writes beside its stores.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import type { GateConfig } from "../../config/types.ts";

/** Where runpacks go: the folder named with `--data-dir`, else that of the run store, else `.gate` beside the configuration. */
export function dataDirOf(config: GateConfig, named: string | undefined): string {
  if (named !== undefined) return resolve(named);
  const store = config.run_state_store.path;
  return store === null ? join(config.base_dir, ".gate") : dirname(store);
}
