/**
 * The single-file form of a pack: exactly one ustar archive for a folder, so every byte of a header follows from a
 * name and a size (docs/format/runpack.md "Single file").
 */

import { compareCodePoints } from "../../canonical/order.ts";

/** Bytes of a header; file contents are padded to a multiple of it. */
const BLOCK_BYTES = 512;
/** Zero bytes after the last entry. */
export const END_BYTES = 2 * BLOCK_BYTES;
/** Entries of one archive; a reader holds no more of them in memory. */
export const ARCHIVE_ENTRIES = 1_000_000;

/** Where the manifest lies in a folder or archive. */
export const MANIFEST_NAME = "manifest.json";

const NAME = /^(?:manifest\.json|objects\/([0-9a-f]{2})\/([0-9a-f]{64})|signatures\/([0-9a-f]{64})\.json)$/;

/** The meaning of a name within a folder or archive. */
export type PackEntryName =
  | { readonly part: "manifest" }
  | { readonly part: "object"; readonly identity: string }
  | { readonly part: "signature"; readonly keyId: string };

/** The path of an object in every form of a pack. */
export function objectName(identity: string): string {
  return `objects/${identity.slice(0, 2)}/${identity}`;
}

/** The path of a signature in a folder or archive. */
export function signatureName(keyId: string): string {
  return `signatures/${keyId}.json`;
}

/** Reads a name; null where a pack has no file of that name. */
export function readEntryName(name: string): PackEntryName | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  const [, folder, identity, keyId] = match;
  if (keyId !== undefined) return { part: "signature", keyId };
  if (identity === undefined) return { part: "manifest" };
  return identity.startsWith(folder ?? "") ? { part: "object", identity } : null;
}

const FOLDER = /^(?:objects(?:\/[0-9a-f]{2})?|signatures)$/;

/** Whether a pack may contain a folder. */
export function isPackFolder(path: string): boolean {
  return FOLDER.test(path);
}

/**
 * The name under which an unexpected path is reported: its outermost unexpected folder, otherwise the file itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { strayName } from "@/runpack/format/archive.ts";
 *
 * assert.equal(strayName("notes/today/a.txt"), "notes");
 * assert.equal(strayName("objects/README"), "objects/README");
 * ```
 */
export function strayName(path: string): string {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    if (!isPackFolder(path.slice(0, end))) return path.slice(0, end);
  }
  return path;
}

const encoder = new TextEncoder();

function writeText(header: Uint8Array, offset: number, text: string): void {
  header.set(encoder.encode(text), offset);
}

/** The header of an entry: 512 bytes that follow from its name and size alone. */
export function entryHeader(name: string, bytes: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(BLOCK_BYTES);
  writeText(header, 0, name);
  writeText(header, 100, "0000644");
  writeText(header, 108, "0000000");
  writeText(header, 116, "0000000");
  writeText(header, 124, bytes.toString(8).padStart(11, "0"));
  writeText(header, 136, "00000000000");
  writeText(header, 148, "        ");
  writeText(header, 156, "0");
  writeText(header, 257, "ustar\x0000");
  writeText(header, 329, "0000000");
  writeText(header, 337, "0000000");
  const sum = header.reduce((total, byte) => total + byte, 0);
  writeText(header, 148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return header;
}

/** Zero bytes between a file of so many bytes and the next header. */
export function paddingAfter(bytes: number): number {
  return (BLOCK_BYTES - bytes % BLOCK_BYTES) % BLOCK_BYTES;
}

/** An entry of an archive, and where its bytes lie. */
export interface ArchiveEntry {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
}

/** An archive that can be read at any offset. */
export interface ArchiveBytes {
  readonly size: number;
  /** Reads bytes from an offset; fewer where the archive ends. */
  readonly read: (offset: number, bytes: number) => Promise<Uint8Array>;
}

/** An archive that does not hold a pack. */
export class ArchiveError extends Error {
  /** The first byte that departs from the form. */
  readonly offset: number;
  /** The reason. */
  readonly why: string;

  /** An error with the reason and the offset; the message names the file where its name is known. */
  constructor(offset: number, why: string, path: string | null = null) {
    super(`Cannot read archive${path === null ? "" : ` "${path}"`} at byte ${offset}: ${why}`);
    this.name = "ArchiveError";
    this.offset = offset;
    this.why = why;
  }
}

/** What an archive holds, up to its end or up to where it departs from its form. */
export interface ArchiveIndex {
  readonly entries: ReadonlyMap<string, ArchiveEntry>;
  /** Null where the archive is valid to its end. */
  readonly fault: ArchiveFault | null;
}

/** The offset at which an archive departs from its form, and the reason. */
export interface ArchiveFault {
  /** The first invalid byte of the header, padding or end. */
  readonly offset: number;
  readonly why: string;
}

/** Rejects an archive without a manifest. Any later fault is reported by the verification. */
export function verifiableEntries({ entries, fault }: ArchiveIndex, path: string | null): ArchiveIndex["entries"] {
  if (fault === null || entries.has(MANIFEST_NAME)) return entries;
  throw new ArchiveError(fault.offset, fault.why, path);
}

function refuseArchive(offset: number, why: string): never {
  throw new ArchiveError(offset, why);
}

/** Name and size that a header states, not checked yet. */
function claimed(header: Uint8Array): { readonly name: string; readonly bytes: number } {
  const text = String.fromCharCode(...header.subarray(0, 136));
  return { name: text.slice(0, 100).replace(/\0+$/, ""), bytes: Number.parseInt(text.slice(124, 135), 8) };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function readHeader(header: Uint8Array, offset: number, archive: ArchiveBytes, last: string): ArchiveEntry {
  const { name, bytes } = claimed(header);
  if (readEntryName(name) === null) return refuseArchive(offset, `"${printable(name)}" has no place in a runpack`);
  if (!Number.isSafeInteger(bytes) || !sameBytes(header, entryHeader(name, bytes))) {
    return refuseArchive(offset, `the header of "${name}" is not the one it has to be`);
  }
  if (compareCodePoints(last, name) >= 0) return refuseArchive(offset, `"${name}" does not come after "${last}"`);
  const start = offset + BLOCK_BYTES;
  if (start + bytes + paddingAfter(bytes) > archive.size) return refuseArchive(offset, `"${name}" is cut short`);
  return { name, offset: start, bytes };
}

function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, "?");
}

/**
 * Reads the index of an archive, without the contents of its files. Only the one archive of a folder is accepted: names
 * in order and unique, no links, no path out of the folder, and no bytes between or behind entries.
 *
 * @param mostEntries Tests alone pass another limit than the format's
 */
export async function readArchiveIndex(
  archive: ArchiveBytes,
  mostEntries: number = ARCHIVE_ENTRIES,
): Promise<ArchiveIndex> {
  const entries = new Map<string, ArchiveEntry>();
  try {
    await readEntries(archive, mostEntries, entries);
    return { entries, fault: null };
  } catch (error) {
    if (error instanceof ArchiveError) return { entries, fault: { offset: error.offset, why: error.why } };
    throw error;
  }
}

async function readEntries(
  archive: ArchiveBytes,
  mostEntries: number,
  entries: Map<string, ArchiveEntry>,
): Promise<void> {
  let offset = 0;
  let last = "";
  for (;;) {
    const header = await archive.read(offset, BLOCK_BYTES);
    if (header.length < BLOCK_BYTES) return refuseArchive(offset, "it ends in the middle");
    if (isZero(header)) break;
    const entry = readHeader(header, offset, archive, last);
    if (entries.size === mostEntries) return refuseArchive(offset, `it has more than ${mostEntries} entries`);
    entries.set(entry.name, entry);
    const end = entry.offset + entry.bytes;
    const padding = paddingAfter(entry.bytes);
    if (padding > 0 && !isZero(await archive.read(end, padding))) {
      return refuseArchive(end, `the filling after "${entry.name}" is not zero`);
    }
    last = entry.name;
    offset = end + padding;
  }
  const end = await archive.read(offset, END_BYTES);
  if (end.length !== END_BYTES || !isZero(end) || offset + END_BYTES !== archive.size) {
    refuseArchive(offset, `expected ${END_BYTES} zero bytes and the end`);
  }
}
