/** The single-file form of a pack on disk: reads it for a verifier, and writes it from a repository. */

import { dirname } from "node:path";

import { type Identity, isIdentity, type Sha256 } from "../../canonical/identity.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import {
  ARCHIVE_ENTRIES,
  type ArchiveBytes,
  type ArchiveEntry,
  ArchiveError,
  END_BYTES,
  entryHeader,
  MANIFEST_NAME,
  objectName,
  paddingAfter,
  readArchiveIndex,
  readEntryName,
  signatureName,
  verifiableEntries,
} from "../format/archive.ts";
import { type HashStream, MANIFEST_BYTES, type PackSource, SIGNATURE_BYTES, SIGNATURES } from "../format/types.ts";
import { PackError, type WalkedObject } from "../walk.ts";
import { type PackContents, sourceContents } from "./contents.ts";
import { createFile, plainFile, replaceFile, syncFolder, writeAll } from "./files.ts";
import { RepositoryError, type SignatureFile } from "./repository.ts";

const CHUNK_BYTES = 256 * 1024;

/** An archive on disk, open until it is closed. */
export interface OpenArchive {
  readonly source: PackSource;
  /** The fault behind its manifest; null where the archive is valid. */
  readonly fault: ArchiveError | null;
  /** The signatures in it, in key id order. */
  readonly signatures: () => Promise<readonly SignatureFile[]>;
  readonly close: () => void;
}

async function readAt(file: Deno.FsFile, offset: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(bytes);
  let filled = 0;
  await file.seek(offset, Deno.SeekMode.Start);
  while (filled < bytes) {
    const read = await file.read(buffer.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** Serialises reads: a file has one position. */
function archiveBytes(file: Deno.FsFile, size: number): ArchiveBytes {
  let last: Promise<unknown> = Promise.resolve();
  return {
    size,
    read(offset, bytes): Promise<Uint8Array> {
      const reading = last.then(() => readAt(file, offset, bytes));
      last = reading.catch(() => {});
      return reading;
    },
  };
}

async function* readEntry(
  archive: ArchiveBytes,
  entry: ArchiveEntry,
  maximumBytes: number,
): AsyncGenerator<Uint8Array> {
  const end = Math.min(entry.bytes, maximumBytes + 1);
  for (let at = 0; at < end; at += CHUNK_BYTES) {
    const chunk = await archive.read(entry.offset + at, Math.min(CHUNK_BYTES, end - at));
    if (chunk.length === 0) return;
    yield chunk;
  }
}

/**
 * Opens an archive and reads its index, not its files. An archive that is damaged behind its manifest is opened too;
 * its source reports the fault.
 *
 * @throws {ArchiveError} If it holds no part of a pack
 */
export async function openArchive(path: string): Promise<OpenArchive> {
  if (plainFile(path) !== "file") throw new ArchiveError(0, "it is no file", path);
  const file = await Deno.open(path);
  try {
    const archive = archiveBytes(file, (await file.stat()).size);
    const index = await readArchiveIndex(archive);
    const entries = verifiableEntries(index, path);
    return {
      source: { ...sourceOf(archive, entries), ...index.fault === null ? {} : { departs: index.fault.offset } },
      fault: index.fault === null ? null : new ArchiveError(index.fault.offset, index.fault.why, path),
      signatures: () => signaturesOf(archive, entries),
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

function sourceOf(archive: ArchiveBytes, index: ReadonlyMap<string, ArchiveEntry>): PackSource {
  return {
    manifest: async () => {
      const entry = index.get(MANIFEST_NAME);
      return entry === undefined
        ? "missing"
        : await archive.read(entry.offset, Math.min(entry.bytes, MANIFEST_BYTES + 1));
    },
    object: (identity, maximumBytes) => {
      const entry = isIdentity(identity) ? index.get(objectName(identity)) : undefined;
      return entry === undefined ? "missing" : readEntry(archive, entry, maximumBytes);
    },
    list: async function* (): AsyncGenerator<string> {
      for (const name of index.keys()) {
        if (readEntryName(name)?.part === "object") yield await Promise.resolve(name);
      }
    },
  };
}

async function signaturesOf(
  archive: ArchiveBytes,
  index: ReadonlyMap<string, ArchiveEntry>,
): Promise<readonly SignatureFile[]> {
  const found: SignatureFile[] = [];
  for (const entry of index.values()) {
    const place = readEntryName(entry.name);
    if (place?.part !== "signature" || entry.bytes > SIGNATURE_BYTES || found.length === SIGNATURES) continue;
    found.push({ keyId: place.keyId, bytes: await archive.read(entry.offset, entry.bytes) });
  }
  return found;
}

/** A file of an archive that is about to be written. */
interface ContentEntry {
  readonly name: string;
  readonly bytes: number;
  /** Its bytes; null for an object, which {@link read} reads. */
  readonly held: Uint8Array | null;
  readonly read: () => Promise<Uint8Array>;
}

/**
 * The files of the archive of a pack in their order. Objects are not read: headers hold sizes and precede contents.
 *
 * @param path The archive, for messages
 * @throws {PackError} If an archive cannot have as many files
 */
export async function archiveEntries(path: string, contents: PackContents): Promise<readonly ContentEntry[]> {
  const objects: WalkedObject[] = [];
  for await (const object of contents.objects()) objects.push(object);
  if (objects.length + contents.signatures.length >= ARCHIVE_ENTRIES) {
    throw new PackError(
      `Cannot write archive "${path}": it would have more than ${ARCHIVE_ENTRIES} files; a folder may`,
    );
  }
  objects.sort((a, b) => compareCodePoints(a.reference.object, b.reference.object));
  const holding = (name: string, held: Uint8Array): ContentEntry => ({
    name,
    bytes: held.length,
    held,
    read: () => Promise.resolve(held),
  });
  return [
    holding(MANIFEST_NAME, contents.manifest),
    ...objects.map(({ reference: { object, bytes }, bytes: read }) => ({
      name: objectName(object),
      bytes,
      held: null,
      read,
    })),
    ...contents.signatures.map(({ keyId, bytes }) => holding(signatureName(keyId), bytes)),
  ];
}

/**
 * The bytes of the single file of a pack, in pieces.
 *
 * @param path The file, for messages
 * @param onObject Called after each object
 * @throws {PackError} If an archive cannot have as many files
 */
async function* archivePieces(
  path: string,
  contents: PackContents,
  onObject: () => void = () => {},
): AsyncGenerator<Uint8Array> {
  for (const { name, bytes, held, read } of await archiveEntries(path, contents)) {
    yield entryHeader(name, bytes);
    yield await read();
    yield new Uint8Array(paddingAfter(bytes));
    if (held === null) onObject();
  }
  yield new Uint8Array(END_BYTES);
}

async function fillArchive(
  file: Deno.FsFile,
  path: string,
  contents: PackContents,
  onObject: () => void = () => {},
): Promise<void> {
  for await (const piece of archivePieces(path, contents, onObject)) await writeAll(file, piece);
}

/**
 * Writes a pack to a new file. The file appears complete or not at all.
 *
 * @param onObject Called after each object
 * @returns The runpack identity
 * @throws {RepositoryError} `unavailable` where something is at the path
 */
export async function writeArchive(
  path: string,
  contents: PackContents,
  onObject: () => void = () => {},
): Promise<Identity> {
  const written = await createFile(path, (file) => fillArchive(file, path, contents, onObject));
  if (written === "exists") throw new RepositoryError("unavailable", `Cannot write archive "${path}": it exists`);
  await syncFolder(dirname(path));
  return contents.runpackIdentity;
}

/**
 * Writes a pack to a file, which it replaces. The file is complete at every moment.
 *
 * @returns The runpack identity
 */
export async function replaceArchive(path: string, contents: PackContents): Promise<Identity> {
  await replaceFile(path, (file) => fillArchive(file, path, contents));
  await syncFolder(dirname(path));
  return contents.runpackIdentity;
}

/**
 * The plain SHA-256 of the single file of a pack, in hex: that of the file which {@link writeArchive} writes.
 *
 * @param path The name of the pack, for messages
 * @throws {PackError} If the pack is not complete
 */
export async function archiveDigest(path: string, contents: PackContents, hash: HashStream): Promise<string> {
  for await (const piece of archivePieces(path, contents)) hash.update(piece);
  return hash.digest();
}

/** A pack with a signature, which replaces the one of the same key. */
export function withSignature(contents: PackContents, added: SignatureFile): PackContents {
  const kept = contents.signatures.filter(({ keyId }) => keyId !== added.keyId);
  return { ...contents, signatures: [...kept, added].sort((a, b) => compareCodePoints(a.keyId, b.keyId)) };
}

/**
 * Rewrites an archive with a signature, which replaces the one of the same key. The file is complete at every moment.
 *
 * @param sign Signs the pack; its result is kept only if the pack is complete
 * @returns The runpack identity
 * @throws {ArchiveError} If it is not the archive of a pack
 * @throws {PackError} If the pack is not complete
 */
export async function addArchiveSignature(
  sha256: Sha256,
  path: string,
  sign: (contents: PackContents) => SignatureFile,
): Promise<Identity> {
  const archive = await openArchive(path);
  try {
    if (archive.fault !== null) throw archive.fault;
    const contents = await sourceContents(sha256, archive.source, await archive.signatures());
    return await replaceArchive(path, withSignature(contents, sign(contents)));
  } finally {
    archive.close();
  }
}
