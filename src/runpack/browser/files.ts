/**
 * A pack from the files that a user chose: a folder, or one archive. Files are read in pieces, as the verifier requests
 * them.
 */

import { isIdentity } from "../../canonical/identity.ts";
import {
  ARCHIVE_ENTRIES,
  MANIFEST_NAME,
  objectName,
  readArchiveIndex,
  readEntryName,
  strayName,
  verifiableEntries,
} from "../format/archive.ts";
import { MANIFEST_BYTES, type PackSource, SIGNATURE_BYTES, SIGNATURES } from "../format/types.ts";

const CHUNK_BYTES = 1024 * 1024;

/** A file of a folder, with its path within the folder. */
export interface PackFile {
  readonly path: string;
  readonly content: Blob;
}

/** A pack that was opened. */
export interface OpenedPack {
  readonly source: PackSource;
  /** Envelopes beside the pack, in key id order. */
  readonly signatures: readonly Uint8Array[];
}

async function bytesOf(content: Blob): Promise<Uint8Array> {
  return new Uint8Array(await content.arrayBuffer());
}

async function* chunksOf(content: Blob, maximumBytes: number): AsyncGenerator<Uint8Array> {
  const end = Math.min(content.size, maximumBytes + 1);
  for (let at = 0; at < end; at += CHUNK_BYTES) yield await bytesOf(content.slice(at, Math.min(end, at + CHUNK_BYTES)));
}

/** Opens a pack from the files of a folder. Unexpected files are listed by their paths. */
export async function openFiles(files: readonly PackFile[]): Promise<OpenedPack> {
  const byPath = new Map(files.map(({ path, content }) => [path, content]));
  const source: PackSource = {
    manifest: async () => {
      const content = byPath.get(MANIFEST_NAME);
      return content === undefined ? "missing" : await bytesOf(content.slice(0, MANIFEST_BYTES + 1));
    },
    object: (identity, maximumBytes) => {
      const content = isIdentity(identity) ? byPath.get(objectName(identity)) : undefined;
      return content === undefined ? "missing" : chunksOf(content, maximumBytes);
    },
    list: async function* (): AsyncGenerator<string> {
      for (const path of byPath.keys()) {
        const place = readEntryName(path);
        if (place === null) yield await Promise.resolve(strayName(path));
        else if (place.part === "object") yield path;
      }
    },
  };
  const envelopes = [...byPath].filter(([path, { size }]) =>
    readEntryName(path)?.part === "signature" && size <= SIGNATURE_BYTES
  );
  envelopes.sort(([a], [b]) => a < b ? -1 : 1);
  const signatures = await Promise.all(envelopes.slice(0, SIGNATURES).map(([, content]) => bytesOf(content)));
  return { source, signatures };
}

/**
 * Opens a pack from a single file.
 *
 * @param mostEntries Tests alone pass another limit than the format's
 * @throws {ArchiveError} If it holds no part of a pack
 */
export async function openSingleFile(archive: Blob, mostEntries: number = ARCHIVE_ENTRIES): Promise<OpenedPack> {
  const read = (offset: number, bytes: number): Promise<Uint8Array> => bytesOf(archive.slice(offset, offset + bytes));
  const index = await readArchiveIndex({ size: archive.size, read }, mostEntries);
  const files = [...verifiableEntries(index, null).values()].map(({ name, offset, bytes }) => ({
    path: name,
    content: archive.slice(offset, offset + bytes),
  }));
  const { source, signatures } = await openFiles(files);
  return { source: { ...source, ...index.fault === null ? {} : { departs: index.fault.offset } }, signatures };
}

/**
 * The path of a file within a chosen folder, without the name of the folder.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { withinFolder } from "@/runpack/browser/files.ts";
 *
 * assert.equal(withinFolder("release/objects/00/00ff"), "objects/00/00ff");
 * ```
 */
export function withinFolder(path: string): string {
  return path.slice(path.indexOf("/") + 1);
}
