/** Parses the bytes of a configuration file into the configuration, or into all of its problems. */

import { dirname } from "node:path";
import { parse, TomlError } from "smol-toml";
import { checkUntrustedFile } from "./untrusted_file_rules.ts";
import { resolveSettings } from "./paths.ts";
import { ConfigError, problemCollector, type Report } from "./problems.ts";
import { dropForeignValues } from "./toml_tree.ts";
import { checkSettings } from "./schema.ts";
import type { GateConfig } from "./types.ts";

/**
 * The configuration of a file.
 *
 * @param bytes The content of the file, strict UTF-8 TOML
 * @param path The absolute path of the file; its folder is the base of relative paths in it
 * @param implicit Found in the working directory and not named by the user: such a file may contain fewer settings
 * @throws {ConfigError} With every problem of the file
 */
export async function parseConfig(bytes: Uint8Array, path: string, implicit: boolean): Promise<GateConfig> {
  const baseDir = dirname(path);
  const { report, problems } = problemCollector();
  const tree = readTree(bytes, path, report);
  const settings = await checkSettings(tree, report);
  if (implicit) await checkUntrustedFile(tree, baseDir, report);
  const found = problems();
  if (found.length > 0 || settings === null) throw new ConfigError(path, found);
  return { ...resolveSettings(settings, baseDir), config_path: path, base_dir: baseDir };
}

/**
 * The tree of a file that an operator writes.
 *
 * @throws {ConfigError} Where it is not UTF-8 or not TOML
 */
export function readTree(bytes: Uint8Array, path: string, report: Report): unknown {
  return dropForeignValues(parseToml(decode(bytes, path), path), report);
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(path, [{ path, message: "is not valid UTF-8" }]);
  }
}

function parseToml(text: string, path: string): unknown {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Only the first line is shown: the lines below it quote the file, which may hold secrets.
    const reason = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
    const message = `line ${error.line}, column ${error.column}: is not valid TOML: ${reason}`;
    throw new ConfigError(path, [{ path, message }]);
  }
}
