/**
 * Which permission is missing where a store cannot be opened: SQLite says only that it could not. Loaded for that alone.
 *
 * @module
 */

import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";

import { StoreError } from "../types.ts";

/**
 * The error that names the file or folder which this process may not use, and whose it is; any other error as it is.
 * Nothing is opened for it: closing a database's file would let go of the locks that SQLite has on it.
 *
 * @param path The database file
 * @param access Throws where a file may not be used so; for tests
 */
export function explainAccess(error: unknown, path: string, access: typeof accessSync = accessSync): unknown {
  if (!(error instanceof StoreError) || error.code !== "io") return error;
  const { R_OK, W_OK, X_OK } = constants;
  const files = [path, `${path}-wal`, `${path}-shm`].map((file) => [file, R_OK | W_OK, "read and write"] as const);
  for (const [file, mode, what] of [[dirname(path), W_OK | X_OK, "make files in"] as const, ...files]) {
    const why = refusal(() => access(file, mode), file);
    if (why === null) continue;
    const message = `Cannot open store "${path}": this process may not ${what} "${file}"${why}`;
    return new StoreError("io", message, { cause: error });
  }
  return error;
}

/** Why a file may not be used so; null where it may, or where there is none. */
function refusal(access: () => void, file: string): string | null {
  try {
    access();
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
