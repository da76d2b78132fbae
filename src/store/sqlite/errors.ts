import { reasonOf } from "../file_reason.ts";
import { StoreError, type StoreErrorCode } from "../types.ts";
import { ROW_BYTES_MAXIMUM } from "./format.ts";

/** Primary result codes (https://www.sqlite.org/rescode.html) with a code or message of their own. */
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;

/** The delay after which a caller should retry on a busy database, in milliseconds. */
const BUSY_RETRY_AFTER_MILLIS = 100;

/** The primary result code of an error from `node:sqlite`; null for any other error. */
function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** Whether the wait for another connection's lock timed out. */
export function isBusy(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === "busy";
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/**
 * The store error for any thrown error.
 *
 * @param path The database file
 * @param action The failed action, such as `append to`
 */
export function toStoreError(error: unknown, path: string, action: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, why } = sqliteReason(error);
  return new StoreError(code, `Cannot ${action} "${path}": ${why}`, {
    cause: error,
    ...(code === "busy" ? { retryAfterMillis: BUSY_RETRY_AFTER_MILLIS } : {}),
  });
}

function sqliteReason(error: unknown): { readonly code: StoreErrorCode; readonly why: string } {
  switch (primaryCode(error)) {
    case BUSY:
    case LOCKED:
      return { code: "busy", why: "another process holds the database" };
    case CORRUPT:
      return { code: "corrupt", why: "the file is damaged or truncated" };
    case TOO_BIG:
      return { code: "corrupt", why: `one of its rows exceeds ${ROW_BYTES_MAXIMUM} bytes` };
    case CONSTRAINT:
      return { code: "corrupt", why: `its rows contradict each other (${reasonOf(error)})` };
    case NOT_A_DATABASE:
      return { code: "corrupt", why: "the file is not a database" };
    case FULL:
      return { code: "disk_full", why: "there is no space left for it" };
    default:
      return { code: "io", why: reasonOf(error) };
  }
}
