import assert from "node:assert/strict";

import { StoreError } from "../types.ts";
import { endsConnection, isConnectionLost, isRolledBack, toStoreError } from "./errors.ts";

/** An error as the client makes it from an answer of the server. */
function answer(code: string, severity = "ERROR"): Error {
  return Object.assign(new Error("secret text of a value"), { name: "PostgresError", code, severity });
}

/** An error of the client itself, of its socket or of the system. */
function failure(code: string): Error {
  return Object.assign(new Error("secret text of a value"), { code });
}

// Error; code of the store; whether the connection may not be used again; whether the statement may be repeated at
// once.
const rows: readonly (readonly [error: unknown, code: string, ends: boolean, again: boolean])[] = [
  // The client lost its connection, or is in a state that it did not foresee.
  ...[
    ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED", "CONNECTION_STANDBY", "CONNECT_TIMEOUT"],
    ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EMFILE"],
    ...["ENOTFOUND", "EAI_AGAIN", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END", "ERR_SOCKET_CLOSED"],
    ...["ERR_SSL_WRONG_VERSION_NUMBER", "MESSAGE_NOT_SUPPORTED", "UNSAFE_TRANSACTION", "A_CODE_OF_A_LATER_VERSION"],
  ].map((code) => [failure(code), "unavailable", true, false] as const),
  [new TypeError("Cannot read properties of null (reading 'write')"), "unavailable", true, false],
  [new RangeError("Attempt to access memory outside buffer bounds"), "unavailable", true, false],
  [new Error("write after end"), "unavailable", true, false],
  ["a text", "unavailable", true, false],
  [undefined, "unavailable", true, false],
  [null, "unavailable", true, false],
  // A code alone is no answer of the server.
  [failure("XX001"), "unavailable", true, false],
  [failure("40001"), "unavailable", true, false],
  // The server ends the connection, or all of them.
  ...["57P01", "57P02", "57P03", "57P05", "53300", "25P03", "08006", "08P01", "XX000", "58030", "00000"].map((code) =>
    [answer(code, "FATAL"), "unavailable", true, false] as const
  ),
  ...["XX000", "53100", "58030"].map((code) => [answer(code, "PANIC"), "unavailable", true, false] as const),
  ...["53100", "XX001", "XX002"].map((code) => [answer(code, "FATAL"), "unavailable", true, false] as const),
  [answer("40001", "FATAL"), "unavailable", true, false],
  [answer("57P01", ""), "unavailable", true, false],
  // The server answers that it cannot now.
  [answer("25006"), "unavailable", true, false],
  ...["08000", "40003", "53200", "53300", "53400", "55P03", "57014", "57P04"].map((code) =>
    [answer(code), "unavailable", false, false] as const
  ),
  [answer("40001"), "unavailable", false, true],
  [answer("40P01"), "unavailable", false, true],
  // The server answers that the statement changed nothing, and why.
  [answer("53100"), "disk_full", false, false],
  [answer("23505"), "corrupt", false, false],
  [answer("XX001"), "corrupt", false, false],
  [answer("XX002"), "corrupt", false, false],
  [answer("42P01"), "version_unsupported", false, false],
  [answer("3F000"), "version_unsupported", false, false],
  [answer("42501"), "io", false, false],
  ...["22021", "23502", "42601", "54000", "58030", "XX000"].map((code) => [answer(code), "io", false, false] as const),
  // Nothing was sent to a server that refuses the connection.
  [answer("28P01", "FATAL"), "io", true, false],
  [answer("3D000", "FATAL"), "io", true, false],
  [answer("42501", "FATAL"), "io", true, false],
  ...[
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
  ]
    .map((code) => [failure(code), "io", true, false] as const),
  // An error of the store keeps its code.
  [new StoreError("corrupt", "Cannot read"), "corrupt", false, false],
];

Deno.test("an error that is no answer of the server is an unavailable store", () => {
  for (const [error, code, ends, again] of rows) {
    const shown = error instanceof Error ? `${error.name} ${"code" in error ? error.code : error.message}` : `${error}`;
    const stored = toStoreError(error, "the database");
    assert.equal(stored.code, code, shown);
    assert.equal(stored.retryable, code === "unavailable", shown);
    assert.ok(!stored.message.includes("secret"), shown);
    assert.equal(endsConnection(error), ends, shown);
    assert.equal(isRolledBack(error), again, shown);
    assert.equal(isConnectionLost(error), ends && !shown.endsWith("25006"), shown);
  }
});
