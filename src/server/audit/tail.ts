/**
 * Reads the end of an audit file: the last whole line, which the chain continues, and the bytes of a torn line after
 * it.
 */

import { createHash } from "node:crypto";
import { type ChainState, LINE_BYTES } from "./line.ts";
import { readLine } from "./read_line.ts";

/** Bytes after the last line end: a line that was cut short. */
export interface TornLine {
  readonly bytes: number;
  /** Their SHA-256, lower-case hex. */
  readonly sha256: string;
}

/** The end of a file. */
export interface AuditTail {
  /** The chain after the last whole line; null without such a line. */
  readonly chain: ChainState | null;
  readonly torn: TornLine | null;
}

/** The end of a file is not that of an audit log. */
export class AuditTailError extends Error {
  override readonly name = "AuditTailError";

  /** @param path The file, which is not changed */
  constructor(path: string, why: string) {
    super(`Cannot continue audit log "${path}": ${why}; move it away, or name another file in server.audit.path`);
  }
}

const LINE_END = 0x0a;

/** The beginning of every line. */
const LINE_BEGINNING = '{"chain_id":"';

/** The bytes that are read of the end, in steps, since most lines are short. */
const WINDOWS = [4096, 65536, 2 * (LINE_BYTES + 1)];

/**
 * Reads the end of an audit file.
 *
 * @param file Open for reading
 * @param size Its bytes
 * @param path Its path, for errors
 * @throws {AuditTailError} When the last whole line is not of an audit log, or is longer than {@link LINE_BYTES}
 */
export function readTail(file: Deno.FsFile, size: number, path: string): AuditTail {
  for (const window of WINDOWS) {
    const bytes = readLast(file, size, Math.min(window, size), path);
    const tail = tailOf(bytes, bytes.length === size, path);
    if (tail !== null) return tail;
    if (bytes.length === size) break;
  }
  throw new AuditTailError(path, "its last line is too long");
}

function readLast(file: Deno.FsFile, size: number, count: number, path: string): Uint8Array {
  const bytes = new Uint8Array(count);
  file.seekSync(size - count, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < count) {
    const read = file.readSync(bytes.subarray(filled));
    if (read === null) throw new AuditTailError(path, "it became shorter while it was read");
    filled += read;
  }
  return bytes;
}

/** The tail in a window; null when the window begins within the last line. */
function tailOf(bytes: Uint8Array, isWhole: boolean, path: string): AuditTail | null {
  const end = bytes.lastIndexOf(LINE_END);
  const rest = bytes.subarray(end + 1);
  const torn = rest.length === 0 ? null : { bytes: rest.length, sha256: digest(rest) };
  if (end < 0) {
    if (!isWhole || rest.length > LINE_BYTES) return null;
    requireBeginning(rest, path);
    return { chain: null, torn };
  }
  const start = end === 0 ? -1 : bytes.lastIndexOf(LINE_END, end - 1);
  if (start < 0 && !isWhole) return null;
  const reading = readLine(bytes.subarray(start + 1, end));
  if (!reading.ok) throw new AuditTailError(path, `its last line is not of an audit log (${reading.fault})`);
  return { chain: reading.line.chain, torn };
}

/** Rejects a file without a line end that does not begin like a line. */
function requireBeginning(bytes: Uint8Array, path: string): void {
  const beginning = new TextEncoder().encode(LINE_BEGINNING);
  const count = Math.min(bytes.length, beginning.length);
  for (let at = 0; at < count; at++) {
    if (bytes[at] !== beginning[at]) throw new AuditTailError(path, "it is not an audit log");
  }
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
