/**
 * The single-file form of a pack: exactly one ustar archive for a folder, so every byte of a header follows from a
 * name and a size (docs/format/runpack.md "Single file").
 *
 * @module
 */

import { compareCodePoints } from "../canonical/order.ts";
import { MANIFEST_BYTES, OBJECT_BYTES, SIGNATURE_BYTES, SIGNATURES } from "./types.ts";

/** Bytes of a header, and what files are filled up to. */
export const BLOCK_BYTES = 512;
/** Zero bytes after the last entry. */
export const END_BYTES = 2 * BLOCK_BYTES;
/** Entries of one archive: more than that many headers are not held in memory. */
export const ARCHIVE_ENTRIES = 1_000_000;

/** Where the manifest lies in a folder or archive. */
export const MANIFEST_NAME = "manifest.json";

const NAME = /^(?:manifest\.json|objects\/([0-9a-f]{2})\/([0-9a-f]{64})|signatures\/([0-9a-f]{64})\.json)$/;

/** What a name within a folder or archive stands for. */
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

/** Reads a name; null for one that has no place in a pack. */
export function readEntryName(name: string): PackEntryName | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  const [, folder, identity, keyId] = match;
  if (keyId !== undefined) return { part: "signature", keyId };
  if (identity === undefined) return { part: "manifest" };
  return identity.startsWith(folder ?? "") ? { part: "object", identity } : null;
}

const FOLDER = /^(?:objects(?:\/[0-9a-f]{2})?|signatures)$/;

/** Whether a folder has a place in a pack. */
export function isPackFolder(path: string): boolean {
  return FOLDER.test(path);
}

/**
 * What a path that has no place in a pack is called: the outermost folder that has none, else the file itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { strayName } from "@/runpack/archive.ts";
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

/** How many bytes an entry may have. */
export function entryLimit({ part }: PackEntryName): number {
  if (part === "manifest") return MANIFEST_BYTES;
  return part === "object" ? OBJECT_BYTES : SIGNATURE_BYTES;
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

/** An archive that can be read anywhere. */
export interface ArchiveBytes {
  readonly size: number;
  /** So many bytes from an offset; fewer where the archive ends. */
  readonly read: (offset: number, bytes: number) => Promise<Uint8Array>;
}

/** An archive that is none of a pack. */
export class ArchiveError extends Error {
  /** Says what is wrong, and where. */
  constructor(message: string) {
    super(message);
    this.name = "ArchiveError";
  }
}

function refuse(offset: number, why: string): never {
  throw new ArchiveError(`Cannot read archive at byte ${offset}: ${why}`);
}

/** Name and size that a header claims, not yet believed. */
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
  const place = readEntryName(name);
  if (place === null) return refuse(offset, `"${printable(name)}" has no place in a runpack`);
  if (!(bytes <= entryLimit(place))) return refuse(offset, `"${name}" has more than ${entryLimit(place)} bytes`);
  if (!sameBytes(header, entryHeader(name, bytes))) {
    return refuse(offset, `the header of "${name}" is not the one it has to be`);
  }
  if (compareCodePoints(last, name) >= 0) return refuse(offset, `"${name}" does not come after "${last}"`);
  const start = offset + BLOCK_BYTES;
  if (start + bytes + paddingAfter(bytes) + END_BYTES > archive.size) return refuse(offset, `"${name}" is cut short`);
  return { name, offset: start, bytes };
}

function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, "?");
}

/**
 * Reads where everything lies in an archive, without reading the files themselves. Only the one archive that a folder
 * has is taken: names in order, none twice, none that leads elsewhere, no links, nothing between or behind.
 *
 * @throws {ArchiveError} If it is no such archive
 */
export async function readArchiveIndex(archive: ArchiveBytes): Promise<Map<string, ArchiveEntry>> {
  const entries = new Map<string, ArchiveEntry>();
  let [offset, last, signatures] = [0, "", 0];
  for (;;) {
    const header = await archive.read(offset, BLOCK_BYTES);
    if (header.length < BLOCK_BYTES) return refuse(offset, "it ends in the middle");
    if (isZero(header)) break;
    const entry = readHeader(header, offset, archive, last);
    const padding = paddingAfter(entry.bytes);
    if (padding > 0 && !isZero(await archive.read(entry.offset + entry.bytes, padding))) {
      return refuse(entry.offset + entry.bytes, `the filling after "${entry.name}" is not zero`);
    }
    if (entry.name.startsWith("signatures/") && ++signatures > SIGNATURES) {
      return refuse(offset, "it has too many signatures");
    }
    if (entries.size === ARCHIVE_ENTRIES) return refuse(offset, `it has more than ${ARCHIVE_ENTRIES} entries`);
    entries.set(entry.name, entry);
    last = entry.name;
    offset = entry.offset + entry.bytes + padding;
  }
  const end = await archive.read(offset, END_BYTES);
  if (end.length !== END_BYTES || !isZero(end) || offset + END_BYTES !== archive.size) {
    return refuse(offset, `expected ${END_BYTES} zero bytes and the end`);
  }
  return entries;
}
