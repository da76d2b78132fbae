/** Why a TLS connection failed; `tls_failed` where the runtime reports no cause below. */
export type TlsCode =
  | "tls_failed"
  /** No authority that gate trusts issued the certificate of the server. */
  | "server_certificate_untrusted"
  /** The certificate of the server is for other names. */
  | "server_certificate_name_mismatch"
  /** The server wants a client certificate, and got none. */
  | "client_certificate_missing"
  /** The server does not trust the authority of the client certificate. */
  | "client_certificate_untrusted";

/** The codes of the errors of `node:tls`. An alert is the server's own statement. */
const CODES: ReadonlyMap<string, TlsCode> = new Map<string, TlsCode>([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "server_certificate_untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT", "server_certificate_untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "server_certificate_untrusted"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "server_certificate_untrusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "server_certificate_untrusted"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "server_certificate_name_mismatch"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "client_certificate_missing"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "client_certificate_untrusted"],
]);

/** How the messages of errors without a code begin: those of `Deno.startTls`. */
const MESSAGES: readonly (readonly [start: string, code: TlsCode])[] = [
  ["invalid peer certificate: UnknownIssuer", "server_certificate_untrusted"],
  ["invalid peer certificate: certificate not valid for name", "server_certificate_name_mismatch"],
  ["received fatal alert: CertificateRequired", "client_certificate_missing"],
  ["received fatal alert: UnknownCA", "client_certificate_untrusted"],
];

/** The code for an error of the runtime. */
export function tlsCode(error: unknown): TlsCode {
  if (!(error instanceof Error)) return "tls_failed";
  const known = CODES.get(String(Reflect.get(error, "code")));
  return known ?? MESSAGES.find(([start]) => error.message.startsWith(start))?.[1] ?? "tls_failed";
}
