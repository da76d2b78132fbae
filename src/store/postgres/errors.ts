/**
 * Errors of PostgreSQL and its client as errors of the store.
 *
 * An error that the server answered a statement with says that the statement changed nothing, and its code says why.
 * Every other error, also one with which the server ends the connection, leaves the outcome unknown, whatever the
 * client calls it: the store is then `unavailable`.
 */

import { StoreError, type StoreErrorCode } from "../types.ts";

/** Delay before a retry of a call that met an unavailable database, in milliseconds. */
const RETRY_MILLIS = 1000;

/**
 * The statement was rolled back because of another one; it may be repeated at once.
 * `40001` is a serialization failure, `40P01` a deadlock.
 */
const ROLLED_BACK: readonly string[] = ["40001", "40P01"];

/** The server accepts no writes: it is a standby, or became one. */
const READ_ONLY = "25006";

/** The code of a connection that leads to a standby. */
const STANDBY = "CONNECTION_STANDBY";

/**
 * SQLSTATE codes (PostgreSQL documentation, appendix A) of a server that cannot answer now: its connections,
 * transactions, memory or locks are exhausted, or an operator steps in.
 */
const NOT_NOW = /^(?:08...|25006|25P0[34]|40...|53...|55P03|57...)$/;

/** The role may not run the statement. */
const LACKS_RIGHT = "42501";

/** The server, the database or the role has as many connections as it may have. */
const TOO_MANY_CONNECTIONS = "53300";

/** The statement waited longer for a lock than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = "55P03";

/** Errors of the server that say something else than "not now". */
const ANSWERS: readonly (readonly [pattern: RegExp, code: StoreErrorCode, reason: string])[] = [
  [/^53100$/, "disk_full", "the database's disk is full"],
  [/^23505$/, "corrupt", "its rows contradict each other"],
  [/^XX00[12]$/, "corrupt", "the database reports damaged data"],
  [/^(?:42P01|3F000)$/, "version_unsupported", 'it has no tables of gate, run "gate store migrate"'],
  [/^42501$/, "io", "the role lacks a right"],
  [/^28...$/, "io", "the database refuses user or password"],
  [/^3D000$/, "io", "the server has no such database"],
  [/^42704$/, "io", "the server has no such role"],
];

/** Codes of a refused login, which comes before any statement. */
const LOGIN = /^(?:28...|3D000|42501)$/;

/** Codes of the TLS handshake, which comes before any statement. */
const CERTIFICATE = /^(?:CERT_.*|ERR_TLS_CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|HOSTNAME_MISMATCH)$/;

/** An error of a connection, in the form of those of the client. */
export function connectionError(code: "CONNECTION_CLOSED" | "CONNECTION_STANDBY" | "CONNECT_TIMEOUT"): Error {
  return Object.assign(new Error(code), { code });
}

/** What the client makes of an error of the server. */
interface ServerError {
  readonly code: string;
  readonly severity: string;
}

function asServerError(error: unknown): ServerError | null {
  if (!(error instanceof Error) || error.name !== "PostgresError") return null;
  const severity = "severity" in error && typeof error.severity === "string" ? error.severity : "";
  return { code: codeOf(error), severity };
}

/** The code of an error of the client, or an empty text. */
function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Whether a statement may be repeated at once. */
export function isRolledBack(error: unknown): boolean {
  const answer = asServerError(error);
  return answer !== null && ROLLED_BACK.includes(answer.code) && !endsConnection(error);
}

/**
 * Whether the server refused a connection because there are too many, as the store's error says; no statement was sent
 * on it.
 */
export function isRefused(error: unknown): boolean {
  return error instanceof StoreError && asServerError(error.cause)?.code === TOO_MANY_CONNECTIONS;
}

/** Whether a statement changed nothing since another session held a row for longer than it waits, as the store's error says. */
export function isLockedRow(error: unknown): boolean {
  return error instanceof StoreError && asServerError(error.cause)?.code === LOCK_NOT_AVAILABLE;
}

/** Whether the connection of a statement ended with the error, so that nothing more can be sent on it. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof StoreError) return false;
  const answer = asServerError(error);
  return answer === null || answer.severity !== "ERROR";
}

/**
 * Whether a connection must not be used after the error: it ended, is in an unknown state, or leads to a server without
 * writes.
 */
export function endsConnection(error: unknown): boolean {
  return isConnectionLost(error) || codeOf(error) === READ_ONLY;
}

/**
 * The error of a call that only the owner of the tables may make, where its role lacked a right. Any other error as it
 * is.
 *
 * @param what What the call does, such as `archive run "…"`
 */
export function asOwnersCall(error: unknown, name: string, what: string): unknown {
  if (!(error instanceof StoreError) || asServerError(error.cause)?.code !== LACKS_RIGHT) return error;
  const message =
    `Cannot ${what} in ${name}: the role lacks a right (${LACKS_RIGHT}), expected the role that owns the tables`;
  return new StoreError(error.code, message, { cause: error.cause });
}

/** An error of the database that is not there now. The outcome of a statement that met it is not known. */
export function unavailable(name: string, reason: string, cause?: unknown): StoreError {
  return new StoreError("unavailable", `Cannot use ${name}: ${reason}`, { cause, retryAfterMillis: RETRY_MILLIS });
}

/**
 * The store's error for an error of the client. Its message names the database without user and password, and the
 * client's code; it does not repeat the client's message, which may hold values.
 */
export function toStoreError(error: unknown, name: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  const why = code === "" ? "" : ` (${code})`;
  const answer = asServerError(error);
  if (code === STANDBY && answer === null) return unavailable(name, "the server accepts no writes", error);
  if (answer === null && !CERTIFICATE.test(code)) return unavailable(name, `it is not available${why}`, error);
  const known = ANSWERS.find(([pattern]) => pattern.test(code));
  // A server that ends the connection, or itself, may have committed the statement: a full disk is a PANIC where it
  // holds the log.
  const isUnknown = answer?.severity !== "ERROR" && !LOGIN.test(code);
  if (answer !== null && (isUnknown || (known === undefined && NOT_NOW.test(code)))) {
    return unavailable(name, `it is not available${why}`, error);
  }
  const [, storeCode, reason] = known ??
    [null, "io" as const, answer === null ? "no trusted certificate" : "it failed"];
  return new StoreError(storeCode, `Cannot use ${name}: ${reason}${why}`, { cause: error });
}
