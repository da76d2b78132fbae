/** The data folder of the service, which holds its runpacks. */

import { dirname, join, resolve } from "node:path";
import { loadConfig, type LoadOptions } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";

/** The folder of `--data-dir`, else that of the run store, else `.gate` beside the configuration. */
export function dataDirOf(config: GateConfig, named: string | undefined): string {
  if (named !== undefined) return resolve(named);
  const store = config.run_state_store.path;
  return store === null ? join(config.base_dir, ".gate") : dirname(store);
}

/**
 * The configuration of a command that writes runs. A data folder that no configuration describes is made, with the
 * folder that the provider `json` needs.
 */
export async function loadConfigToWrite(flags: LoadOptions): Promise<GateConfig> {
  const config = await loadConfig(flags);
  if (config.config_path !== null || flags.dataDir === undefined) return config;
  const { STARTER_EVIDENCE_FOLDER } = await import("../../config/sections/starter.ts");
  const folder = join(config.base_dir, STARTER_EVIDENCE_FOLDER);
  if ((await Deno.stat(folder).catch(() => null))?.isDirectory === true) return config;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 }).catch(async (error) => {
    throw (await import("./new_file.ts")).cannotWrite(folder, error);
  });
  return config;
}
