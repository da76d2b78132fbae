/**
 * `gate config check`: says everything that is wrong with a configuration.
 *
 * @module
 */

import { loadConfig } from "../../config/load.ts";
import { ConfigError, countOf, formatProblem } from "../../config/problems.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";

/** The flags of `gate config check`. */
export interface ConfigCheckOptions {
  readonly json?: boolean;
  readonly config?: string;
}

/** Runs `gate config check [FILE]`, or with `--config FILE`; 0 where a server could use it, 2 where it is wrong. */
export async function runConfigCheck(file: string | undefined, options: ConfigCheckOptions): Promise<number> {
  if (file !== undefined && options.config !== undefined) {
    throw new CliError("usage", "Cannot check two configurations at once", "give FILE or --config, not both");
  }
  const asJson = options.json === true;
  try {
    const { config_path } = await loadConfig({ config: file ?? options.config });
    if (asJson) writeResult("config check", { config_path, valid: true, problems: [] });
    else writeOut(`${config_path ?? "built-in defaults"}: valid\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { configPath: config_path, problems } = error;
    if (asJson) writeResult("config check", { config_path, valid: false, problems }, false);
    else {
      const heading = `${config_path}: ${countOf(problems.length, "problem")}`;
      writeOut([heading, ...problems.map(formatProblem)].map((line) => `${line}\n`).join(""));
    }
    return EXIT.usage;
  }
}
