/**
 * Computes how many connections the limit of open files allows. A process at that limit cannot accept connections, open
 * stores or call providers.
 */

import { closeSync, openSync } from "node:fs";

/**
 * Reserved files: for stores, providers, workers and the audit log, and for ended connections that are not closed yet.
 * There are about a hundred of those when thousands are opened at once.
 */
export const RESERVED_FILES = 256;

/** The least connections with which a server starts. */
export const LEAST_CONNECTIONS = 64;

/**
 * Counts the files that the process can still open, at most `most`, by opening them. The runtime does not expose the
 * limit, and raises the soft limit to the hard one itself. Call this before other work starts.
 *
 * @param path A file that may be read
 * @throws {Error} When it cannot be opened for another reason
 */
export function countOpenable(path: string, most: number): number {
  const open: number[] = [];
  try {
    while (open.length < most) open.push(openSync(path, "r"));
  } catch (error) {
    if (!isExhausted(error)) throw error;
  } finally {
    for (const file of open) closeSync(file);
  }
  return open.length;
}

/** Whether the process, or the system, may open no more files. */
function isExhausted(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EMFILE" || code === "ENFILE";
}

/** The connections that a number of files allows, at most `wanted`; null if they are too few to serve. */
export function connectionRoom(files: number, wanted: number): number | null {
  const room = Math.min(wanted, files - RESERVED_FILES);
  return room < LEAST_CONNECTIONS ? null : room;
}
