/**
 * The end of an audit file: the last whole line, from which the chain goes on, and what a crash left behind it.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { type ChainState, LINE_BYTES } from "./line.ts";
import { readLine } from "./read_line.ts";

/** Bytes after the last line end: a line that was cut short. */
export interface TornLine {
  readonly bytes: number;
  /** SHA-256 of them, lower-case hex. */
  readonly sha256: string;
}

/** The end of a file. */
export interface AuditTail {
  /** After the last whole line; null where there is none. */
  readonly chain: ChainState | null;
  readonly torn: TornLine | null;
}

/** The end of a file is no end of an audit log. */
export class AuditTailError extends Error {
  override readonly name = "AuditTailError";

  /** @param path The file, which is left as it is */
  constructor(path: string, why: string) {
    super(`Cannot go on with audit log "${path}": ${why}; move it away, or name another file in server.audit.path`);
  }
}

const LINE_END = 0x0a;

/** What every line begins with. */
const LINE_BEGINNING = '{"chain_id":"';

/** How much is read of the end, in steps: most lines are short. */
const WINDOWS = [4096, 65536, 2 * (LINE_BYTES + 1)];

/**
 * Reads the end of an audit file.
 *
 * @param file Open for reading
 * @param size Its bytes
 * @param path Its path, for what is said of it
 * @throws {AuditTailError} When the last whole line is none of an audit log, or is not found within {@link LINE_BYTES}
 */
export function readTail(file: Deno.FsFile, size: number, path: string): AuditTail {
  for (const window of WINDOWS) {
    const bytes = readLast(file, size, Math.min(window, size), path);
    const tail = tailOf(bytes, bytes.length === size, path);
    if (tail !== null) return tail;
    if (bytes.length === size) break;
  }
  throw new AuditTailError(path, "its last line is longer than any");
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

/** The tail that a window shows; null where the window begins within the last line. */
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
  if (!reading.ok) throw new AuditTailError(path, `its last line is none of an audit log (${reading.fault})`);
  return { chain: reading.line.chain, torn };
}

/** A file of something else, without any line end, is not written to. */
function requireBeginning(bytes: Uint8Array, path: string): void {
  const beginning = new TextEncoder().encode(LINE_BEGINNING);
  const count = Math.min(bytes.length, beginning.length);
  for (let at = 0; at < count; at++) {
    if (bytes[at] !== beginning[at]) throw new AuditTailError(path, "the file is none of an audit log");
  }
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
