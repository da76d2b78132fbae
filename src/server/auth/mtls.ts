/**
 * Authentication by client certificate. Its subject comes from TLS in this process, or from a trusted proxy that ends
 * TLS.
 */

import { principalOf } from "../../access/principal.ts";
import type { Principal } from "../../access/types.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import type { PrincipalConfig } from "../../config/types.ts";
import type { Authenticator, AuthRequest } from "./types.ts";

/** The header field in which a proxy names the subject. */
const SUBJECT_FIELD = "x-gate-client-subject";

/** Bytes of that field. */
const SUBJECT_BYTES = 8192;

/** The options of the `mtls` authenticator. */
export interface MtlsOptions {
  /** `server.auth.mtls_subjects`: RFC 4514 strings, compared exactly. */
  readonly subjects: readonly string[];
  /** `server.auth.principals` */
  readonly principals: readonly PrincipalConfig[];
  /** Whether an address is a trusted proxy; null unless `server.tls_termination` is `upstream`. */
  readonly isTrustedProxy: ((address: string) => boolean) | null;
}

type Subject = { readonly ok: true; readonly subject: string } | { readonly ok: false; readonly detail: string };

/** Makes the authenticator of `mtls`. */
export function createMtls({ subjects, principals, isTrustedProxy }: MtlsOptions): Authenticator {
  const callers = new Map<string, Principal>(
    subjects.map((subject) => [subject, principalOf(principals, subject, "mtls")]),
  );
  return (request) => {
    const found = request.tls !== null ? certified(request) : proxied(request, isTrustedProxy);
    if (!found.ok) return { ok: false, status: 401, kind: "unauthenticated", detail: found.detail };
    const principal = callers.get(found.subject);
    if (principal !== undefined) return { ok: true, principal };
    return { ok: false, status: 403, kind: "unauthorized", detail: "subject_not_listed", subject: found.subject };
  };
}

/** The subject of the certificate that this process verified; header fields are ignored. */
function certified({ tls }: AuthRequest): Subject {
  const peer = tls?.peer ?? null;
  return peer === null ? { ok: false, detail: "certificate_missing" } : { ok: true, subject: peer.subject };
}

/** The subject that a trusted proxy names. */
function proxied({ headers, peerAddress }: AuthRequest, isTrustedProxy: MtlsOptions["isTrustedProxy"]): Subject {
  const field = headers.get(SUBJECT_FIELD);
  if (isTrustedProxy === null) return { ok: false, detail: "certificate_missing" };
  if (!isTrustedProxy(peerAddress)) return { ok: false, detail: "peer_not_trusted_proxy" };
  if (field === null || field === "") return { ok: false, detail: "subject_missing" };
  if (field.length > SUBJECT_BYTES) return { ok: false, detail: "subject_too_long" };
  const subject = decodeUtf8Strict(Uint8Array.from(field, (character) => character.charCodeAt(0)));
  return subject === null ? { ok: false, detail: "subject_malformed" } : { ok: true, subject };
}
