/**
 * Bounded reads of files: never more bytes than the caller allows, and never out of the folder that the caller names.
 */

import { join } from "node:path";

/** The content of a file, or why it was not read; `size` is the size that the file system reported. */
export type FileReading =
  | { readonly bytes: Uint8Array }
  | { readonly fault: "too_large"; readonly size: number }
  | { readonly fault: "not_a_file" | "changed" };

/** Attempts to read a file while folders above it change. */
const ATTEMPTS = 4;

/** Milliseconds after which a change shows in a folder's time of change, which some file systems store in whole seconds. */
const CHANGE_SHOWS_MILLIS = 1020;

/**
 * The first bytes of a file of any kind, a named pipe too: at most one more than the limit, by which the caller detects
 * a file that is too large.
 */
export async function readAtMost(path: string, maximumBytes: number): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const buffer = new Uint8Array(maximumBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/**
 * As {@link readAtMost}, of a regular file alone. For files of a configuration: the opening of a named pipe waits for a
 * writer, and neither a signal nor a client ends that wait.
 *
 * @throws {Error} Where the path is no regular file
 */
export async function readFileAtMost(path: string, maximumBytes: number): Promise<Uint8Array> {
  if (!(await Deno.stat(path)).isFile) throw new Error("it is not a file");
  return await readAtMost(path, maximumBytes);
}

/**
 * The bytes of a regular file. Its size is checked first, and at most one more byte is read.
 *
 * @throws {Deno.errors.NotFound} And the runtime's other errors of a file that cannot be opened
 */
export async function readBounded(path: string, maximumBytes: number): Promise<FileReading> {
  // Checked before opening: opening a named pipe would wait for a writer.
  if (!(await Deno.stat(path)).isFile) return { fault: "not_a_file" };
  using file = await Deno.open(path);
  return readOpen(file, maximumBytes);
}

/**
 * The bytes of a regular file below a folder, as {@link readBounded}. No link below the folder is followed.
 *
 * The runtime opens files by path alone. A process that may write below the folder could therefore replace a file or
 * folder with a link between a check and the opening. Two checks prevent this:
 *
 * - The opened file has to be the file that the path names afterwards.
 * - No folder on the way may have been replaced meanwhile. A replacement shows in the time of change of the folder above
 *   it, which no process can set.
 *
 * A file directly in the folder is read at once. A file further down waits up to a second where a folder on its way
 * changed just now.
 *
 * @param root Absolute path of the folder, which no process replaces
 * @param path The way from there, parts joined by `/`, without `.` and `..`
 */
export async function readBelow(root: string, path: string, maximumBytes: number): Promise<FileReading> {
  for (let attempt = 1;; attempt++) {
    const before = observeFolders(root, path);
    const found = before.isStable ? await readWithoutLink(join(root, path), maximumBytes) : null;
    if (found !== null && observeFolders(root, path).stamp === before.stamp) return found;
    if (attempt === ATTEMPTS) return { fault: "changed" };
    await new Promise((resolve) => setTimeout(resolve, before.waitMillis));
  }
}

/** The state of the folders on a way at one moment. */
interface FolderState {
  /** All are folders, and a change from now on would show in the stamp. */
  readonly isStable: boolean;
  /** Differs once one of them was replaced. */
  readonly stamp: string;
  /** Milliseconds to wait before the next attempt. */
  readonly waitMillis: number;
}

function observeFolders(root: string, path: string): FolderState {
  const now = Date.now();
  let folder = root;
  let stamp = "";
  let isStable = true;
  let waitMillis = 1;
  for (const part of path.split("/").slice(0, -1)) {
    const { dev, ino, ctime, mtime } = Deno.lstatSync(folder);
    const changed = (ctime ?? mtime)?.getTime() ?? now;
    const age = Math.abs(now - changed);
    if (age < CHANGE_SHOWS_MILLIS) {
      isStable = false;
      waitMillis = Math.max(waitMillis, CHANGE_SHOWS_MILLIS - age);
    }
    stamp += `${dev} ${ino} ${changed}\n`;
    folder = join(folder, part);
    if (!Deno.lstatSync(folder).isDirectory) isStable = false;
  }
  return { isStable, stamp, waitMillis };
}

/** Reads the file at a path; null where the path is a link, or names another file by the end. */
async function readWithoutLink(path: string, maximumBytes: number): Promise<FileReading | null> {
  const before = Deno.lstatSync(path);
  if (!before.isFile) return before.isSymlink ? null : { fault: "not_a_file" };
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
  // The file grew meanwhile: the bytes read are no state of it.
  return { fault: "changed" };
}

/** The bytes of a text without the byte order mark that some editors write before it. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}
