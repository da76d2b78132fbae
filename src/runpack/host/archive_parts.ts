/** The single file of a pack in parts of equal size, read from a local repository without writing that file. */

import { join } from "node:path";
import { END_BYTES, entryHeader, paddingAfter } from "../format/archive.ts";
import { archiveEntries } from "./archive_file.ts";
import type { PackContents } from "./contents.ts";
import { joinBytes } from "./files.ts";
import { RepositoryError } from "./repository.ts";

/** Bytes of each part but the last. */
export const PART_BYTES = 512 * 1024;

/** A file of an archive, and where its header lies. */
interface PlacedEntry {
  readonly name: string;
  readonly at: number;
  readonly header: Uint8Array;
  readonly bytes: number;
  /** Its bytes; null for an object, which is read from its file. */
  readonly held: Uint8Array | null;
}

/** An archive that is not written: what lies where. */
export interface ArchiveLayout {
  readonly bytes: number;
  readonly entries: readonly PlacedEntry[];
}

/**
 * Places the files of a pack in its archive.
 *
 * @throws {RepositoryError} `unavailable`, `integrity_failure`
 * @throws {PackError} If the pack is not complete, or an archive cannot have as many files
 */
export async function layOutArchive(contents: PackContents): Promise<ArchiveLayout> {
  let at = 0;
  const entries = (await archiveEntries(contents.runpackIdentity, contents)).map(({ name, bytes, held }) => {
    const header = entryHeader(name, bytes);
    const placed = { name, at, header, bytes, held };
    at += header.length + bytes + paddingAfter(bytes);
    return placed;
  });
  return { bytes: at + END_BYTES, entries };
}

/**
 * Reads a part. Objects are not hashed here: the reader of all parts has to check the pack.
 *
 * @param root The folder of the local repository
 * @returns Null where the archive has no such part
 * @throws {RepositoryError} `integrity_failure` where an object is missing or too short, else `unavailable`
 */
export async function readPart(
  root: string,
  { bytes, entries }: ArchiveLayout,
  part: number,
): Promise<Uint8Array | null> {
  const from = part * PART_BYTES;
  if (from >= bytes) return null;
  // Paddings and the end of an archive are zeros, so only headers and contents are written.
  const buffer = new Uint8Array(Math.min(PART_BYTES, bytes - from));
  const put = (at: number, piece: Uint8Array): void => {
    const start = Math.max(from - at, 0);
    const end = Math.min(piece.length, from + buffer.length - at);
    if (start < end) buffer.set(piece.subarray(start, end), at + start - from);
  };
  for (const { name, at, header, bytes: size, held } of entries) {
    if (at >= from + buffer.length) break;
    put(at, header);
    const content = at + header.length;
    const start = Math.max(from - content, 0);
    const end = Math.min(size, from + buffer.length - content);
    if (start < end) put(content + start, held?.subarray(start, end) ?? await readRange(join(root, name), start, end));
  }
  return buffer;
}

async function readRange(path: string, start: number, end: number): Promise<Uint8Array> {
  try {
    using file = await Deno.open(path);
    await file.seek(start, Deno.SeekMode.Start);
    const chunks: Uint8Array[] = [];
    for (let left = end - start; left > 0;) {
      const chunk = new Uint8Array(left);
      const read = await file.read(chunk);
      if (read === null) break;
      chunks.push(chunk.subarray(0, read));
      left -= read;
    }
    const bytes = joinBytes(chunks);
    if (bytes.length === end - start) return bytes;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new RepositoryError("unavailable", `Cannot read "${path}" now`, { cause: error });
    }
  }
  throw new RepositoryError("integrity_failure", `Cannot read "${path}": it is missing or too short`);
}
