/**
 * Writes files: new ones, and others in place of those that a user wants to replace. A write that fails, on a full disk
 * for instance, leaves no part of a file and no change of an existing one.
 */

import { basename, dirname, join } from "node:path";

import { writeAll } from "../../runpack/host/files.ts";
import { fileReason } from "../../store/file_reason.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
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
  const { exists, hint, createNew = true, mode } = options;
  try {
    const found = createNew ? null : await Deno.lstat(path).catch(() => null);
    if (found === null) await create(path, text, mode);
    else if (found.isFile) await replace(path, text, found);
    // A link, a pipe or a device stays what it is.
    else await Deno.writeTextFile(path, text);
  } catch (error) {
    throw error instanceof Deno.errors.AlreadyExists ? existsAlready(path, hint, exists) : cannotWrite(path, error);
  }
}

/** Checks and creates in one step, so that no file created meanwhile is overwritten. */
async function create(path: string, text: string, mode?: number): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, ...mode === undefined ? {} : { mode } });
  await removedUnlessDone([path], () => writeAll(file, new TextEncoder().encode(text)));
}

/**
 * The new file has the mode and the owner of the old one. A file is written in place where it can be written, but not
 * replaced: it belongs to another user, its folder may not be written, or it is mounted.
 */
async function replace(path: string, text: string, { mode, uid, gid }: Deno.FileInfo): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  await removedUnlessDone([temporary], async () => {
    await create(temporary, text, 0o600);
    if (Deno.build.os !== "windows") {
      await Deno.chown(temporary, uid, gid);
      await Deno.chmod(temporary, (mode ?? 0o600) & 0o777);
    }
    await Deno.rename(temporary, path);
  }).catch(async (error) => {
    if (!(error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.Busy)) throw error;
    await Deno.writeTextFile(path, text);
  });
}

/** The error for a file that exists. */
export function existsAlready(path: string, hint: string | null = null, why = "it exists already"): CliError {
  return new CliError("file_exists", `Cannot write "${path}": ${why}`, hint);
}

/** Refuses the path of a new file where something is. */
export function requireNew(path: string): void {
  try {
    Deno.lstatSync(path);
  } catch {
    return;
  }
  throw existsAlready(path);
}

/** The error for an error of the file system; any other unchanged. */
export function cannotWrite(path: string, error: unknown): unknown {
  const reason = error instanceof Deno.errors.NotFound ? "its folder does not exist" : fileReason(error);
  return reason === null ? error : new CliError("usage", `Cannot write "${path}": ${reason}`);
}
