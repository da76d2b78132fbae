/**
 * Finds, reads and checks the configuration.
 *
 * @module
 */

import { resolve } from "node:path";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { ConfigError } from "./problems.ts";
import type { GateConfig } from "./types.ts";

/** Bytes of a configuration file. */
export const MAXIMUM_CONFIG_BYTES = 1048576;

/** The file that is read when nobody names one. */
export const DEFAULT_CONFIG_FILE = "gate.toml";

/** Where a configuration may come from. */
export interface LoadOptions {
  /** The path given with `--config`. */
  readonly config?: string | undefined;
  /** The value of `GATE_CONFIG`; empty counts as unset. Default: read from the environment. */
  readonly environment?: string | undefined;
  /** The working directory. Default: that of the process. */
  readonly workingDirectory?: string | undefined;
}

/** A configuration file that was found. */
interface ConfigFile {
  readonly path: string;
  /** Found in the working directory, not named by anyone. */
  readonly implicit: boolean;
}

/**
 * The configuration in force: of `--config`, else of `GATE_CONFIG`, else of `./gate.toml`, else the built-in defaults.
 *
 * @throws {ConfigError} if the file cannot be read or anything in it is wrong; it holds every problem.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig } from "@/config/load.ts";
 *
 * const folder = await Deno.makeTempDir();
 * await Deno.writeTextFile(`${folder}/gate.toml`, "[server.limits]\nmax_inflight = 8\n");
 * const config = await loadConfig({ environment: "", workingDirectory: folder });
 * assert.equal(config.server.limits.max_inflight, 8);
 * assert.equal(config.server.max_body_bytes, 1048576);
 * ```
 */
export async function loadConfig(options: LoadOptions = {}): Promise<GateConfig> {
  const workingDirectory = resolve(options.workingDirectory ?? Deno.cwd());
  const file = findConfig(options, workingDirectory);
  const bytes = await readBounded(file);
  if (bytes === null) return { ...DEFAULT_SETTINGS, config_path: null, base_dir: workingDirectory };
  const { parseConfig } = await import("./parse.ts");
  return await parseConfig(bytes, file.path, file.implicit);
}

/** The file to read, by precedence. */
function findConfig(options: LoadOptions, workingDirectory: string): ConfigFile {
  const named = options.config ?? ((options.environment ?? Deno.env.get("GATE_CONFIG")) || undefined);
  return { path: resolve(workingDirectory, named ?? DEFAULT_CONFIG_FILE), implicit: named === undefined };
}

/** The bytes of the file; null where an implicit one does not exist. Never reads more than the limit and one byte. */
async function readBounded(found: ConfigFile): Promise<Uint8Array | null> {
  try {
    // Asked before opening: opening a named pipe would wait for a writer.
    const { isFile, size } = await Deno.stat(found.path);
    if (!isFile) throw problem(found.path, "is not a file");
    if (size > MAXIMUM_CONFIG_BYTES) throw tooLarge(found.path, size);
    using file = await Deno.open(found.path, { read: true });
    return await readUpTo(file, found.path, size);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Deno.errors.NotFound) {
      if (found.implicit) return null;
      throw problem(found.path, "does not exist");
    }
    throw problem(found.path, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads a file of a known size, refusing one that grew past the limit meanwhile. */
async function readUpTo(file: Deno.FsFile, path: string, size: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.min(size, MAXIMUM_CONFIG_BYTES) + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) return buffer.subarray(0, length);
    length += count;
  }
  throw problem(path, "changed while it was read");
}

function tooLarge(path: string, size: number): ConfigError {
  return problem(path, `must have at most ${MAXIMUM_CONFIG_BYTES} bytes, got ${size}`);
}

function problem(path: string, message: string): ConfigError {
  return new ConfigError(path, [{ path, message }]);
}
