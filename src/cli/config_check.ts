/**
 * `gate config check`: says everything that is wrong with a configuration.
 *
 * @module
 */

import { loadConfig } from "../config/load.ts";
import { EXIT } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";

/** The flags of `gate config check`. */
export interface ConfigCheckOptions {
  readonly json?: boolean;
}

/** Runs `gate config check [FILE]`; a wrong configuration is thrown as a `ConfigError`. */
export async function runConfigCheck(file: string | undefined, options: ConfigCheckOptions): Promise<number> {
  const config = await loadConfig({ config: file });
  if (options.json === true) writeResult("config check", { config_path: config.config_path, valid: true });
  else writeOut(`${config.config_path ?? "built-in defaults"}: valid\n`);
  return EXIT.ok;
}
