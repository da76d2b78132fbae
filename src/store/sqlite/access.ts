/**
 * Which permission is missing where a store cannot be opened: SQLite says only that it could not. Loaded for that alone.
 *
 * @module
 */

import { dirname } from "node:path";

import { StoreError } from "../types.ts";

/** Uses a file or a folder as a store has to; throws where it may not be. */
export interface Probes {
  readonly file: (path: string) => void;
  readonly folder: (path: string) => void;
}

/** SQLite has let go of the files when these run: to close a file that it has open would end its locks. */
const PROBES: Probes = {
  file: (path) => Deno.openSync(path, { read: true, write: true }).close(),
  folder: (path) => Deno.removeSync(Deno.makeTempFileSync({ dir: path, prefix: ".gate-" })),
};

/**
 * The error that names the file or folder which this process may not use, and whose it is; any other error as it is.
 *
 * @param error What came of opening the database; nothing in this process has it open now
 * @param path The database file
 * @param probes For tests
 */
export function explainAccess(error: unknown, path: string, probes: Probes = PROBES): unknown {
  if (!(error instanceof StoreError) || error.code !== "io") return error;
  const message = missingAccess(path, probes);
  return message === null ? error : new StoreError("io", message, { cause: error });
}

/**
 * What this process may not do that a store takes; null where nothing stands in the way.
 *
 * @param path The database file; nothing in this process has it open now
 * @param probes For tests
 */
export function missingAccess(path: string, probes: Probes = PROBES): string | null {
  const folder = dirname(path);
  const files = [path, `${path}-wal`, `${path}-shm`];
  const looks = [
    { what: `make files in "${folder}"`, why: refusal(probes.folder, folder) },
    ...files.map((file) => ({ what: `read and write "${file}"`, why: refusal(probes.file, file) })),
  ];
  const denied = looks.find(({ why }) => why !== null);
  return denied === undefined ? null : `Cannot open store "${path}": this process may not ${denied.what}${denied.why}`;
}

/** Why a file may not be used so; null where it may, or where there is none. */
function refusal(probe: (path: string) => void, file: string): string | null {
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
    // Not even its folder may be searched.
    return "";
  }
}
