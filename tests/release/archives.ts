/**
 * Archives with fixed bytes: tar (POSIX.1-2001 ustar) and ar. Every entry has the same owner and time, so the same files give the same
 * archive on every machine.
 *
 * @module
 */

import { gzipSync } from "node:zlib";

/** One file of a package. Folders follow from the paths. */
export interface PackageFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable?: boolean;
}

/** An empty folder of one user. */
export interface OwnedFolder {
  /** Relative, with `/`, without one at its end. */
  readonly path: string;
  /** The id of the user and of the group. */
  readonly owner: number;
}

const BLOCK = 512;
/** Lengths of the two parts of a path in a ustar header. */
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const encoder = new TextEncoder();

/** Every folder above the files, outer ones first, each with `/` at its end. */
export function foldersOf(files: readonly PackageFile[]): readonly string[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, index) => folders.add(`${parts.slice(0, index + 1).join("/")}/`));
  }
  return [...folders].sort();
}

/**
 * A tar of the files and their folders, in order of their paths.
 *
 * @param seconds The time of every entry, Unix time
 * @param root Put before every path, such as `./`
 */
export function tar(
  files: readonly PackageFile[],
  seconds: number,
  root = "",
  owned: readonly OwnedFolder[] = [],
): Uint8Array {
  const sorted = [...files].sort((a, b) => a.path < b.path ? -1 : 1);
  const folders = foldersOf(files).map((path) => header(`${root}${path}`, 0o755, 0, "5", seconds));
  const entries = sorted.flatMap(({ path, bytes, executable }) => [
    header(`${root}${path}`, executable === true ? 0o755 : 0o644, bytes.length, "0", seconds),
    bytes,
    new Uint8Array((BLOCK - bytes.length % BLOCK) % BLOCK),
  ]);
  const ownFolders = owned.map(({ path, owner }) => header(`${root}${path}/`, 0o700, 0, "5", seconds, owner));
  return join([...folders, ...ownFolders, ...entries, new Uint8Array(2 * BLOCK)]);
}

function header(path: string, mode: number, size: number, type: string, seconds: number, owner = 0): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (text: string, at: number): void => block.set(encoder.encode(text), at);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  const [prefix, name] = splitPath(path);
  put(name, 0);
  put(octal(mode, 7), 100);
  put(octal(owner, 7), 108);
  put(octal(owner, 7), 116);
  put(octal(size, 11), 124);
  put(octal(seconds, 11), 136);
  put(" ".repeat(8), 148);
  put(type, 156);
  put("ustar\x0000", 257);
  if (owner === 0) [265, 297].forEach((at) => put("root", at));
  put(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function splitPath(path: string): readonly [string, string] {
  if (encoder.encode(path).length <= NAME_BYTES) return ["", path];
  const at = [...path.matchAll(/\//g)].map(({ index }) => index).find((index) => path.length - index - 1 <= NAME_BYTES);
  if (at === undefined || at > PREFIX_BYTES) throw new Error(`Cannot archive "${path}": its path is too long`);
  return [path.slice(0, at), path.slice(at + 1)];
}

/** Gzip with fixed bytes: no time, and no name of the operating system (RFC 1952 section 2.3.1). */
export function gzip(bytes: Uint8Array, level = 6): Uint8Array {
  const packed = new Uint8Array(gzipSync(bytes, { level }));
  // Debian asks for the mark of the best compression.
  packed[8] = level === 9 ? 2 : 0;
  packed[9] = 255;
  return packed;
}

/** An ar archive, as a Debian package is one (deb(5)). */
export function ar(files: readonly PackageFile[], seconds: number): Uint8Array {
  const parts = files.flatMap(({ path, bytes }) => {
    const fields = [path.padEnd(16), String(seconds).padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)];
    const head = `${fields.join("")}${String(bytes.length).padEnd(10)}\`\n`;
    return [encoder.encode(head), bytes, encoder.encode(bytes.length % 2 === 0 ? "" : "\n")];
  });
  return join([encoder.encode("!<arch>\n"), ...parts]);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
