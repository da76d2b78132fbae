/** Files of packs: bounded reads of plain files, and writes that are atomic. */

import { Buffer } from "node:buffer";
import { dirname } from "node:path";

import { removedUnlessDone } from "../../store/unfinished.ts";
import type { SourceFault } from "../format/types.ts";
import type { Written } from "./repository.ts";

const CHUNK_BYTES = 256 * 1024;

/** Prefix of the names of unfinished files. */
export const TEMPORARY_PREFIX = ".tmp-";

/** Whether a path is a plain file, not a link. */
export function plainFile(path: string): "file" | SourceFault {
  try {
    return Deno.lstatSync(path).isFile ? "file" : "unreadable";
  } catch (error) {
    return isMissing(error) ? "missing" : "unreadable";
  }
}

/** Whether a path is a folder, not a link to one. */
export function isPlainFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Whether an error means that a path does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** The bytes of a plain file in chunks: all of them, or one more than the limit. */
async function* readChunks(path: string, maximumBytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  let left = maximumBytes + 1;
  while (left > 0) {
    const buffer = new Uint8Array(Math.min(CHUNK_BYTES, left));
    const read = await file.read(buffer);
    if (read === null) return;
    left -= read;
    yield buffer.subarray(0, read);
  }
}

/** The bytes of a plain file: all of them, or one more than the limit. */
export async function readPlainFile(path: string, maximumBytes: number): Promise<Uint8Array | SourceFault> {
  const kind = plainFile(path);
  if (kind !== "file") return kind;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of readChunks(path, maximumBytes)) chunks.push(chunk);
    return joinBytes(chunks);
  } catch (error) {
    return isMissing(error) ? "missing" : "unreadable";
  }
}

/** Chunks as one. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Whether two byte strings are equal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Writes all bytes at the end of an open file. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(await file.write(rest));
}

/** Makes the entries of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no such call for folders: the journal of the volume makes a rename or link durable.
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(path);
  await folder.sync();
}

/**
 * Writes a new file, complete and durable, and overwrites nothing. Its entry is durable after the folder is synced.
 *
 * @param fill Writes the content
 * @returns `exists` where the path exists already
 */
export async function createFile(path: string, fill: (file: Deno.FsFile) => Promise<void>): Promise<Written> {
  return await throughTemporary(path, fill, async (temporary) => {
    try {
      // A link fails where a rename would overwrite.
      await Deno.link(temporary, path);
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists || plainFile(path) !== "missing") return "exists";
      // A file system without hard links, such as FAT. A concurrent writer writes the same bytes under the same name.
      await Deno.rename(temporary, path);
    }
    return "written";
  });
}

/**
 * Writes a file, and replaces an existing one. One of both is present and complete at every moment. The entry is
 * durable after the folder is synced.
 *
 * @param fill Writes the content
 */
export async function replaceFile(path: string, fill: (file: Deno.FsFile) => Promise<void>): Promise<void> {
  await throughTemporary(path, fill, (temporary) => Deno.rename(temporary, path));
}

async function throughTemporary<Result>(
  path: string,
  fill: (file: Deno.FsFile) => Promise<void>,
  place: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = `${dirname(path)}/${TEMPORARY_PREFIX}${crypto.randomUUID()}`;
  return await removedUnlessDone([temporary], async () => {
    {
      using file = await Deno.open(temporary, { createNew: true, write: true, mode: 0o644 });
      await fill(file);
      await file.sync();
    }
    const result = await place(temporary);
    // A rename has removed it.
    await Deno.remove(temporary).catch(() => {});
    return result;
  });
}
