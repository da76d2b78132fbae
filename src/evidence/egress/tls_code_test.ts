import assert from "node:assert/strict";
import { tlsCode } from "./tls_code.ts";

/** The code and the message of an error, the code of the failure. */
const ROWS = [
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "server_certificate_untrusted"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "", "server_certificate_name_mismatch"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "received fatal alert: UnknownCA", "client_certificate_untrusted"],
  ["CERT_HAS_EXPIRED", "certificate has expired", "tls_failed"],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "received fatal alert: HandshakeFailure", "tls_failed"],
  [undefined, "invalid peer certificate: UnknownIssuer", "server_certificate_untrusted"],
  [undefined, "invalid peer certificate: certificate not valid for name", "server_certificate_name_mismatch"],
  [undefined, "received fatal alert: CertificateRequired", "client_certificate_missing"],
  [undefined, "received fatal alert: UnknownCA", "client_certificate_untrusted"],
  [undefined, "", "tls_failed"],
] as const;

for (const [code, message, expected] of ROWS) {
  Deno.test(`tlsCode() of ${code}, "${message}": ${expected}`, () => {
    assert.equal(tlsCode(Object.assign(new Error(message), code === undefined ? {} : { code })), expected);
  });
}
