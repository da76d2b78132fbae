/** Maps TLS failures to a closed set of reasons, since an unauthenticated peer controls their text. */

/** The error of a TLS library. */
export interface TlsFault {
  readonly message: string;
  readonly code?: string;
}

/** The reason of a TLS failure, and further facts for the audit log. */
export interface TlsFailure {
  readonly reason: "client_certificate_missing" | "client_certificate_untrusted" | "tls_alert" | "tls_failed";
  readonly details?: { readonly tls_error: string };
}

/** The most characters of the library's message. */
const ERROR_CHARACTERS = 128;

/** The start of the library's message for an alert. Its error codes name most failures an alert. */
const ALERT = "received fatal alert:";

/**
 * The reason of a TLS failure.
 *
 * @param isCertificateRefused Whether a certificate was presented and rejected: the library then reports only a reset
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tlsFailure } from "@/server/http/tls_failure.ts";
 *
 * const message = "received fatal alert: UnknownCA";
 * assert.deepEqual(tlsFailure({ message }, false), { reason: "tls_alert", details: { tls_error: message } });
 * assert.equal(tlsFailure({ message: "peer is incompatible" }, false).reason, "tls_failed");
 * assert.equal(tlsFailure({ message: "socket hang up" }, true).reason, "client_certificate_untrusted");
 * ```
 */
export function tlsFailure({ message, code }: TlsFault, isCertificateRefused: boolean): TlsFailure {
  if (code === "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE") return { reason: "client_certificate_missing" };
  if (isCertificateRefused) return { reason: "client_certificate_untrusted" };
  const details = { tls_error: message.slice(0, ERROR_CHARACTERS) };
  return { reason: message.startsWith(ALERT) ? "tls_alert" : "tls_failed", details };
}

/** Whether TLS ended an open connection, rather than the data sent over it. */
export function isTlsFault({ code }: TlsFault): boolean {
  return code?.startsWith("ERR_SSL_") ?? false;
}
