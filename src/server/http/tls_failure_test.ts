import assert from "node:assert/strict";
import { isTlsFault, tlsFailure, type TlsFault } from "./tls_failure.ts";

const RESET = { message: "socket hang up", code: "ECONNRESET" };
const MISSING = { message: "peer sent no certificates", code: "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE" };
const ALERT = { message: "received fatal alert: CertificateRevoked", code: "ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED" };
/** The runtime's code for errors without a code of their own. */
const INCOMPATIBLE = { message: "peer is incompatible: x", code: "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE" };
const LATE = { message: "TLS handshake timeout" };

const ROWS: readonly (readonly [fault: TlsFault, isRefused: boolean, reason: string, said: string | undefined])[] = [
  [MISSING, false, "client_certificate_missing", undefined],
  [RESET, true, "client_certificate_untrusted", undefined],
  [RESET, false, "tls_failed", RESET.message],
  [ALERT, false, "tls_alert", ALERT.message],
  [INCOMPATIBLE, false, "tls_failed", INCOMPATIBLE.message],
  [LATE, false, "tls_failed", LATE.message],
  [{ message: "x".repeat(200) }, false, "tls_failed", "x".repeat(128)],
];

Deno.test("tlsFailure() has one word for alerts, one for what else fails, and bounds what is said of it", () => {
  for (const row of ROWS) {
    const [fault, isRefused] = row;
    const { reason, details } = tlsFailure(fault, isRefused);
    assert.deepEqual([fault, isRefused, reason, details?.tls_error], row);
  }
});

Deno.test("isTlsFault() separates faults of TLS from those of HTTP and connections", () => {
  assert.deepEqual([ALERT, INCOMPATIBLE].map(isTlsFault), [true, true]);
  assert.deepEqual([RESET, LATE, { message: "Parse Error", code: "HPE_ERROR" }].map(isTlsFault), [false, false, false]);
});
