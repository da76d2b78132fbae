/**
 * Names the missing permission where a store cannot be opened, because SQLite's error does not. Loaded after such an
 * error only.
 */

import { dirname } from "node:path";

import { StoreError } from "../types.ts";

/** Use a file or a folder as a store does; throw where that is not permitted. */
export interface Probes {
  readonly file: (path: string) => void;
  readonly folder: (path: string) => void;
}

/** They run after SQLite closed the files: closing a file that SQLite has open would release its locks. */
const PROBES: Probes = {
  file: (path) => Deno.openSync(path, { read: true, write: true }).close(),
  folder: (path) => Deno.removeSync(Deno.makeTempFileSync({ dir: path, prefix: ".gate-" })),
};

/**
 * An error that names the file or folder which this process may not use, and its owner; any other error unchanged.
 *
 * @param error The error of opening the database, which this process no longer has open
 * @param path The database file
 * @param probes For tests
 */
export function explainAccess(error: unknown, path: string, probes: Probes = PROBES): unknown {
  if (!(error instanceof StoreError) || error.code !== "io") return error;
  const message = missingAccess(path, probes);
  return message === null ? error : new StoreError("io", message, { cause: error });
}

/**
 * The first missing permission of this process, as a message; null where it has all permissions that a store needs.
 *
 * @param path The database file, which this process does not have open
 * @param probes For tests
 */
export function missingAccess(path: string, probes: Probes = PROBES): string | null {
  const folder = dirname(path);
  const files = [path, `${path}-wal`, `${path}-shm`];
  const accesses = [
    { what: `create files in "${folder}"`, why: accessProblem(probes.folder, folder) },
    ...files.map((file) => ({ what: `read and write "${file}"`, why: accessProblem(probes.file, file) })),
  ];
  const denied = accesses.find(({ why }) => why !== null);
  return denied === undefined ? null : `Cannot open store "${path}": this process may not ${denied.what}${denied.why}`;
}

/** The reason why a probe is denied; null where it is permitted, or the file does not exist. */
function accessProblem(probe: (path: string) => void, file: string): string | null {
  try {
    probe(file);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EROFS") return ": its file system is read-only";
    return code === "EACCES" || code === "EPERM" ? ownerOf(file) : null;
  }
}

function ownerOf(file: string): string {
  try {
    const { uid, mode } = Deno.statSync(file);
    return uid === null || mode === null
      ? ""
      : `, which belongs to user ${uid} with mode ${(mode & 0o777).toString(8)}`;
  } catch {
    // The process may not search the folder either.
    return "";
  }
}
