import assert from "node:assert/strict";
import { transportFailure } from "./bounded_fetch.ts";

/** Codes of the runtime, the operational code each amounts to, and whether asking again may help. */
const ROWS: readonly [string, string, boolean][] = [
  ["ENOTFOUND", "dns_failed", true],
  ["EAI_AGAIN", "dns_failed", true],
  ["ECONNREFUSED", "connection_failed", true],
  ["ECONNRESET", "connection_failed", true],
  ["EHOSTUNREACH", "connection_failed", true],
  ["", "connection_failed", true],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_failed", false],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_failed", false],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed", false],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_failed", false],
  ["CERT_HAS_EXPIRED", "tls_failed", false],
  ["UNABLE_TO_GET_ISSUER_CERT", "tls_failed", false],
  ["HPE_INVALID_CONSTANT", "provider_protocol_error", false],
  ["HPE_HEADER_OVERFLOW", "provider_protocol_error", false],
];

for (const [code, expected, retryable] of ROWS) {
  Deno.test(`transportFailure() ${code || "without a code"}: ${expected}`, () => {
    const failure = transportFailure(Object.assign(new Error("10.0.0.1 secret"), { code }));
    assert.deepEqual([failure.code, failure.retryable], [expected, retryable]);
    assert.ok(!failure.message.includes("10.0.0.1"));
  });
}
