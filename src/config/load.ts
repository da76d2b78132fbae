/** Finds, reads and checks the configuration. */

import { join, resolve } from "node:path";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { readBounded } from "./files.ts";
import { KEYS_FOLDER } from "./paths.ts";
import { ConfigError } from "./problems.ts";
import type { GateConfig } from "./types.ts";

/** Bytes of a configuration file. */
export const MAXIMUM_CONFIG_BYTES = 1048576;

/** The file in the working directory that is read when no other is named. */
export const DEFAULT_CONFIG_FILE = "gate.toml";

/** The sources of a configuration. */
export interface LoadOptions {
  /** The path given with `--config`. */
  readonly config?: string | undefined;
  /** The value of `GATE_CONFIG`; empty counts as unset. Default: read from the environment. */
  readonly environment?: string | undefined;
  /** The path given with `--data-dir`: without any file, the starter configuration applies there. */
  readonly dataDir?: string | undefined;
  /** The working directory. Default: that of the process. */
  readonly workingDirectory?: string | undefined;
}

/** A configuration file that was found. */
interface ConfigFile {
  readonly path: string;
  /** Found in the working directory, not named by the user. */
  readonly implicit: boolean;
}

/**
 * The configuration from `--config`, else `GATE_CONFIG`, else `./gate.toml`, else the starter configuration in
 * `--data-dir`, else the built-in defaults.
 *
 * @throws {ConfigError} Where the file cannot be read or is invalid; the error holds every problem
 */
export async function loadConfig(options: LoadOptions = {}): Promise<GateConfig> {
  const workingDirectory = resolve(options.workingDirectory ?? Deno.cwd());
  const file = findConfig(options, workingDirectory);
  const bytes = await readFile(file);
  if (bytes === null && options.dataDir !== undefined) {
    const { starterIn } = await import("./sections/starter.ts");
    return await withDefaultKeys(await starterIn(resolve(workingDirectory, options.dataDir)));
  }
  if (bytes === null) return { ...DEFAULT_SETTINGS, config_path: null, base_dir: workingDirectory };
  const { parseConfig } = await import("./parse.ts");
  return await withDefaultKeys(await parseConfig(bytes, file.path, file.implicit));
}

/** The path of {@link KEYS_FOLDER}. */
export function defaultKeysFolder({ base_dir }: Pick<GateConfig, "base_dir">): string {
  return join(base_dir, KEYS_FOLDER);
}

/** A folder of the keys of people, with the flag or the member that names it. */
export interface KeysFolder {
  readonly path: string;
  readonly setting: "--evidence-keys" | "trust.evidence_keys";
}

/** The folder of the keys of people: of the flag, else of the configuration; null where there is none. */
export function keysFolder({ trust }: Pick<GateConfig, "trust">, flag: string | null = null): KeysFolder | null {
  if (flag !== null) return { path: flag, setting: "--evidence-keys" };
  return trust.evidence_keys === null ? null : { path: trust.evidence_keys, setting: "trust.evidence_keys" };
}

/** {@link keysFolder} as it is now: the default one beside a file may come or go while a process runs. */
export async function keysFolderNow(config: GateConfig, flag: string | null = null): Promise<KeysFolder | null> {
  if (config.config_path === null) return keysFolder(config, flag);
  const isDefault = config.trust.evidence_keys === defaultKeysFolder(config);
  const trust = { ...config.trust, ...isDefault ? { evidence_keys: null } : {} };
  return keysFolder(await withDefaultKeys({ ...config, trust }), flag);
}

/** The configuration with {@link defaultKeysFolder}, where that is a folder that this process can see. */
async function withDefaultKeys(config: GateConfig): Promise<GateConfig> {
  const { trust } = config;
  if (trust.evidence_keys !== null) return config;
  const evidence_keys = defaultKeysFolder(config);
  const isFolder = (await Deno.stat(evidence_keys).catch(() => null))?.isDirectory === true;
  return isFolder ? { ...config, trust: { ...trust, evidence_keys } } : config;
}

/** The file to read, by precedence. */
function findConfig(options: LoadOptions, workingDirectory: string): ConfigFile {
  const named = options.config ?? ((options.environment ?? Deno.env.get("GATE_CONFIG")) || undefined);
  return { path: resolve(workingDirectory, named ?? DEFAULT_CONFIG_FILE), implicit: named === undefined };
}

/** The bytes of the file; null where an implicit one does not exist. */
async function readFile({ path, implicit }: ConfigFile): Promise<Uint8Array | null> {
  try {
    const reading = await readBounded(path, MAXIMUM_CONFIG_BYTES);
    if (!("fault" in reading)) return reading.bytes;
    if (reading.fault === "too_large") {
      throw problem(path, `must have at most ${MAXIMUM_CONFIG_BYTES} bytes, got ${reading.size}`);
    }
    throw problem(path, reading.fault === "changed" ? "changed while it was read" : "is not a file");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Deno.errors.NotFound) {
      if (implicit) return null;
      throw problem(path, "does not exist");
    }
    if (error instanceof Deno.errors.NotCapable) {
      throw problem(path, "cannot be read: gate has no permission to read it");
    }
    throw problem(path, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function problem(path: string, message: string): ConfigError {
  return new ConfigError(path, [{ path, message }]);
}
