/**
 * Errors of PostgreSQL and its client as errors of the store.
 *
 * @module
 */

import { StoreError, type StoreErrorCode } from "../types.ts";

/** Delay before a retry of a call that met an unavailable database, in milliseconds. */
const RETRY_MILLIS = 1000;

/**
 * The statement was rolled back because of another one; it may be repeated at once.
 * `40001` is a serialization failure, `40P01` a deadlock.
 */
const ROLLED_BACK: readonly string[] = ["40001", "40P01"];

/** SQLSTATE codes (PostgreSQL documentation, appendix A) and codes of the client of a server that is not there now. */
const UNAVAILABLE =
  /^(?:08...|25006|53300|57014|57P0[1-5]|CONNECT(?:ION)?_.*|ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

const CODES: readonly (readonly [pattern: RegExp, code: StoreErrorCode, reason: string])[] = [
  [/^53100$/, "disk_full", "the database's disk is full"],
  [/^XX00[12]$/, "corrupt", "the database reports damaged data"],
  [/^(?:42P01|3F000)$/, "version_unsupported", 'it has no tables of gate, run "gate store migrate"'],
  [/^42501$/, "io", "the role lacks a right"],
  [/^28...$/, "io", "the database refuses user or password"],
];

/** The code of an error of the client, or an empty text. */
export function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Whether a statement may be repeated at once. */
export function isRolledBack(error: unknown): boolean {
  return ROLLED_BACK.includes(codeOf(error));
}

/** Whether a connection leads to a server that does not accept writes any more. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === "25006";
}

/** Codes of a connection that ended, or that the server ends. */
const CONNECTION_LOST = /^(?:08...|57P0[1-5]|CONNECTION_.*|ECONN.*|EPIPE|ETIMEDOUT)$/;

/** Whether the connection of a statement ended with the error, so that nothing more can be sent on it. */
export function isConnectionLost(error: unknown): boolean {
  return CONNECTION_LOST.test(codeOf(error));
}

/** An error of the database that is not there now. The outcome of a statement that met it is not known. */
export function unavailable(name: string, reason: string, cause?: unknown): StoreError {
  return new StoreError("unavailable", `Cannot use ${name}: ${reason}`, { cause, retryAfterMillis: RETRY_MILLIS });
}

/**
 * The store's error for an error of the client. Its message names the database without user and password, and the client's code; it
 * does not repeat the client's message, which may hold values.
 */
export function toStoreError(error: unknown, name: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (UNAVAILABLE.test(code) || isRolledBack(error)) return unavailable(name, `it is not available (${code})`, error);
  const [, storeCode, reason] = CODES.find(([pattern]) => pattern.test(code)) ?? [null, "io" as const, "it failed"];
  return new StoreError(storeCode, `Cannot use ${name}: ${reason}${code === "" ? "" : ` (${code})`}`, { cause: error });
}
