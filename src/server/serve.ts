/**
 * Serving a configuration: what `gate serve` runs once it has read one.
 *
 * @module
 */

import type { GateConfig } from "../config/types.ts";
import { host } from "./host.ts";
import type { LogLevel } from "./log.ts";

/** What to serve, and how. */
export interface ServeOptions {
  readonly config: GateConfig;
  /** Absolute path of the folder for what is written beside the stores. */
  readonly dataDir: string;
  /** The least grave log entries that are written. */
  readonly logLevel: LogLevel;
  /** The file of the key that signs runpacks; null for none. */
  readonly signingKey: string | null;
}

/**
 * Serves until the client is gone or the process is told to stop.
 *
 * @returns The exit code: 0 after an orderly end, 1 when a store could not be opened
 * @throws {Error} When the configured transport is not one of this build's
 */
export async function serve(options: ServeOptions): Promise<number> {
  const { config, logLevel } = options;
  const { transport } = config.server;
  if (transport !== "stdio") throw new Error(`Cannot serve: transport "${transport}" is not in this build`);
  return await host({
    server: config.server,
    logLevel,
    // Everything beneath the tools loads behind the first answer.
    loadRuntime: async () => await (await import("../tools/runtime.ts")).openRuntime(config, options),
  });
}
