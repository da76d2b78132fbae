/**
 * Why TLS of a connection failed, in few words: whoever comes by may send anything, and must not make new ones.
 *
 * @module
 */

/** What a library says of a connection whose TLS failed. */
export interface TlsFault {
  readonly message: string;
  readonly code?: string;
}

/** Why TLS failed: a word of a closed set, and further facts for the audit log. */
export interface TlsFailure {
  readonly reason: "client_certificate_missing" | "client_certificate_untrusted" | "tls_alert" | "tls_failed";
  readonly details?: { readonly tls_error: string };
}

/** Characters of what the library says. */
const ERROR_CHARACTERS = 128;

/** What the library says of an alert, and of nothing else; its codes call most of what fails an alert. */
const ALERT = "received fatal alert:";

/**
 * Why TLS failed.
 *
 * @param isCertificateRefused Whether a certificate was shown and not accepted: of that the library says only that the
 * connection was reset
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

/** Whether what ended a connection that was open came from TLS, not from what was sent over it. */
export function isTlsFault({ code }: TlsFault): boolean {
  return code?.startsWith("ERR_SSL_") ?? false;
}
