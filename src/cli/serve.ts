/**
 * `gate serve`: answers MCP clients until its input ends or it is told to stop.
 *
 * @module
 */

import { loadConfig } from "../config/load.ts";
import type { GateConfig } from "../config/types.ts";
import type { LogLevel } from "../server/log.ts";
import { dataDirOf } from "./data_dir.ts";
import { writeError } from "./output.ts";
import { securityPosture } from "./posture.ts";
import { parseServeArguments } from "./serve_flags.ts";

/** Runs `gate serve` with the arguments after its name; returns the exit code. */
export async function runServe(argv: readonly string[]): Promise<number> {
  const flags = parseServeArguments(argv);
  // Loaded while the configuration is read; a wrong configuration is said before anything else.
  const loading = import("../server/serve.ts");
  loading.catch(() => {});
  const config = await loadConfig({ config: flags.config });
  const { serve } = await loading;
  announce(config, flags.logLevel);
  return await serve({ config, dataDir: dataDirOf(config, flags.dataDir), logLevel: flags.logLevel });
}

/** Says the posture; with `error` nothing, with `warn` its warnings alone. */
function announce(config: GateConfig, level: LogLevel): void {
  if (level === "error") return;
  for (const line of securityPosture(config)) {
    if (level !== "warn" || line.level === "warn") writeError(`gate ${line.level}: ${line.message}\n`);
  }
}
