/**
 * How many connections there is room for: each is an open file to the system, and a process that may open no more can
 * neither accept one, nor open a store, nor ask a provider.
 *
 * @module
 */

import { closeSync, openSync } from "node:fs";

/**
 * Files kept free: for stores, providers, workers and the audit log, and for connections that are ended and not closed yet,
 * of which there are a hundred when thousands are opened at once.
 */
export const RESERVED_FILES = 256;

/** The least connections that a server is started for. */
export const LEAST_CONNECTIONS = 64;

/**
 * The files that the process can open besides those that it has open, at most so many. It opens them: the runtime tells
 * the limit to nobody, and raises the soft one to the hard one by itself. Call it while nothing else is at work.
 *
 * @param path A file that may be read
 * @throws {Error} Where it cannot be opened for another reason
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

/**
 * How many connections so many files leave room for, at most those that are wanted; null where they are too few to serve.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connectionRoom } from "@/server/process/open_files.ts";
 *
 * assert.deepEqual([2000, 1000, 300].map((files) => connectionRoom(files, 1024)), [1024, 744, null]);
 * ```
 */
export function connectionRoom(files: number, wanted: number): number | null {
  const room = Math.min(wanted, files - RESERVED_FILES);
  return room < LEAST_CONNECTIONS ? null : room;
}
