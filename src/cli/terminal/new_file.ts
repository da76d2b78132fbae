/**
 * Writes files that must not exist.
 *
 * @module
 */

import { fileReason } from "../../store/file_reason.ts";
import { CliError } from "./cli_error.ts";

/** How to write a file, and what to say where it exists. */
export interface NewFileOptions extends Pick<Deno.WriteFileOptions, "mode"> {
  /** Whether a file that exists is an error, which is the default. */
  readonly createNew?: boolean;
  /** The reason of the error, and a hint. */
  readonly exists?: string;
  readonly hint?: string;
}

/**
 * Writes a text to a file.
 *
 * @throws {CliError} `file_exists`; `usage` if the folder does not exist or cannot be written
 */
export async function writeNewFile(path: string, text: string, options: NewFileOptions = {}): Promise<void> {
  const { exists, hint, ...rest } = options;
  try {
    // createNew checks and creates in one step, so that no file created meanwhile is overwritten.
    await Deno.writeTextFile(path, text, { createNew: true, ...rest });
  } catch (error) {
    throw error instanceof Deno.errors.AlreadyExists ? existsAlready(path, hint, exists) : cannotWrite(path, error);
  }
}

/** The error for a file that exists. */
export function existsAlready(path: string, hint: string | null = null, why = "it exists already"): CliError {
  return new CliError("file_exists", `Cannot write "${path}": ${why}`, hint);
}

/** The error for an error of the file system; any other unchanged. */
export function cannotWrite(path: string, error: unknown): unknown {
  const reason = error instanceof Deno.errors.NotFound ? "its folder does not exist" : fileReason(error);
  return reason === null ? error : new CliError("usage", `Cannot write "${path}": ${reason}`);
}
