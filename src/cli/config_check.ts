/**
 * `gate config check`: says everything that is wrong with a configuration.
 *
 * @module
 */

import { loadConfig } from "../config/load.ts";
import { CliError } from "./cli_error.ts";
import { EXIT } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";

/** The flags of `gate config check`. */
export interface ConfigCheckOptions {
  readonly json?: boolean;
  readonly config?: string;
}

/** Runs `gate config check [FILE]`, or with `--config FILE`; a wrong configuration is thrown as a `ConfigError`. */
export async function runConfigCheck(file: string | undefined, options: ConfigCheckOptions): Promise<number> {
  if (file !== undefined && options.config !== undefined) {
    throw new CliError("usage", "Cannot check two configurations at once", "give FILE or --config, not both");
  }
  const config = await loadConfig({ config: file ?? options.config });
  if (options.json === true) writeResult("config check", { config_path: config.config_path, valid: true });
  else writeOut(`${config.config_path ?? "built-in defaults"}: valid\n`);
  return EXIT.ok;
}
