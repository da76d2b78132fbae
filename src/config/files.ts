/**
 * Reading files whose content is of others: never more bytes than were agreed on, and never out of the folder that they are
 * looked for in.
 *
 * @module
 */

import { join } from "node:path";

/** What a file holds, or why it is not taken; `size` is what it was said to be before it was read. */
export type FileReading =
  | { readonly bytes: Uint8Array }
  | { readonly fault: "too_large"; readonly size: number }
  | { readonly fault: "not_a_file" | "changed" };

/** Looks at a folder that was changed just now, until it lies still or does not. */
const ATTEMPTS = 4;

/** Milliseconds after which a change shows in the time of change of a folder, which is told in whole seconds. */
const CHANGE_SHOWS_MILLIS = 1020;

/**
 * The bytes of a regular file. Its size is looked at first, and no more than that and one byte is read.
 *
 * @throws {Deno.errors.NotFound} And what else the runtime says of a file that cannot be opened
 */
export async function readBounded(path: string, maximumBytes: number): Promise<FileReading> {
  // Asked before opening: opening a named pipe would wait for a writer.
  if (!(await Deno.stat(path)).isFile) return { fault: "not_a_file" };
  using file = await Deno.open(path);
  return readOpen(file, maximumBytes);
}

/**
 * The bytes of a regular file below a folder, as {@link readBounded}; no link is followed from the folder on.
 *
 * The runtime opens files by path alone, so whoever may write below the folder could put a link in the place of a file or a
 * folder between a look at it and the opening. So what was opened has to be the very file that the path names afterwards, and
 * where that goes through further folders, none of those may have been replaced from before the look until after it: it would show
 * in the time of change of the folder around, which nobody can set. A file straight in the folder is read at once; one further
 * down waits for up to a second where a folder on its way was made just now.
 *
 * @param root Absolute path of the folder, which nobody replaces
 * @param path The way from there, parts joined by `/`, without `.` and `..`
 */
export async function readBelow(root: string, path: string, maximumBytes: number): Promise<FileReading> {
  for (let attempt = 1;; attempt++) {
    const before = lookAtFolders(root, path);
    const found = before.still ? await readPlain(join(root, path), maximumBytes) : null;
    if (found !== null && lookAtFolders(root, path).stamp === before.stamp) return found;
    if (attempt === ATTEMPTS) return { fault: "changed" };
    await new Promise((resolve) => setTimeout(resolve, before.waitMillis));
  }
}

/** The folders on a way as they are now. */
interface Folders {
  /** Whether all are folders, and a change of one from now on would show in the stamp. */
  readonly still: boolean;
  /** Differs once one of them was replaced. */
  readonly stamp: string;
  /** Milliseconds until a look is worth while again. */
  readonly waitMillis: number;
}

function lookAtFolders(root: string, path: string): Folders {
  const inner = path.split("/").slice(0, -1);
  const now = Date.now();
  let [folder, stamp, still, waitMillis] = [root, "", true, 1];
  for (const part of inner) {
    const { dev, ino, ctime, mtime } = Deno.lstatSync(folder);
    const changed = (ctime ?? mtime)?.getTime() ?? now;
    const age = Math.abs(now - changed);
    if (age < CHANGE_SHOWS_MILLIS) [still, waitMillis] = [false, Math.max(waitMillis, CHANGE_SHOWS_MILLIS - age)];
    stamp += `${dev} ${ino} ${changed}\n`;
    folder = join(folder, part);
    if (!Deno.lstatSync(folder).isDirectory) still = false;
  }
  return { still, stamp, waitMillis };
}

/** Reads what lies at a path, unless that is a link, or another file by then. */
async function readPlain(path: string, maximumBytes: number): Promise<FileReading | null> {
  const there = Deno.lstatSync(path);
  if (!there.isFile) return there.isSymlink ? null : { fault: "not_a_file" };
  using file = await Deno.open(path);
  const { dev, ino } = file.statSync();
  const reading = readOpen(file, maximumBytes);
  const after = Deno.lstatSync(path);
  return after.isFile && after.dev === dev && after.ino === ino ? reading : null;
}

function readOpen(file: Deno.FsFile, maximumBytes: number): FileReading {
  const { isFile, size } = file.statSync();
  if (!isFile) return { fault: "not_a_file" };
  if (size > maximumBytes) return { fault: "too_large", size };
  const buffer = new Uint8Array(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = file.readSync(buffer.subarray(length));
    if (count === null) return { bytes: buffer.subarray(0, length) };
    length += count;
  }
  // It grew meanwhile: what was read is no state of it.
  return { fault: "changed" };
}
