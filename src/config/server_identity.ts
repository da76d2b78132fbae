import type { checkServerIdentity, PeerCertificate } from "node:tls";

/**
 * Restricts the check of node's TLS client to the names in `subjectAltName` (RFC 9525). It would also compare the
 * common name, and a trusted authority may let a client choose that. A worker imports `node:tls` only where it needs
 * it.
 */
export function byAlternativeNames(check: typeof checkServerIdentity): typeof checkServerIdentity {
  return (host, certificate) => check(host, { ...certificate, subject: {} as PeerCertificate["subject"] });
}
