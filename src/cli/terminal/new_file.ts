/**
 * Writes files that must not exist.
 *
 * @module
 */

import { CliError } from "./cli_error.ts";

/**
 * Writes a text to a file.
 *
 * @param path The file, which must not exist
 * @throws {CliError} `file_exists`; `usage` if the folder does not exist or cannot be written
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CliError("file_exists", `Cannot write "${path}": it exists already`);
    }
    if (error instanceof Deno.errors.NotFound) {
      throw new CliError("usage", `Cannot write "${path}": its folder does not exist`);
    }
    if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
      throw new CliError("usage", `Cannot write "${path}": permission denied`);
    }
    throw error;
  }
}
