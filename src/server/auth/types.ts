/**
 * The seam between the HTTP transports and authentication: what a transport knows of a request, and who sent it.
 *
 * @module
 */

import type { Principal } from "../../access/types.ts";

/** The header fields of a request. */
export interface RequestHeaders {
  /** The value of a field by its lower-case name, several joined with ", "; null where there is none. */
  readonly get: (name: string) => string | null;
  /** Whether there is a field whose lower-case name begins so. */
  readonly startsWith: (prefix: string) => boolean;
}

/** A client certificate that this process has verified in a full handshake, and that is within its time. */
export interface TlsPeer {
  /** The subject as RFC 4514 writes it: most specific part first, escaped. */
  readonly subject: string;
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
}

/** The TLS that ends in this process. */
export interface RequestTls {
  /** Null: the client has shown no certificate. */
  readonly peer: TlsPeer | null;
}

/** What authentication judges. */
export interface AuthRequest {
  /** IP address of the other end of the connection, without brackets; never what a header says. */
  readonly peerAddress: string;
  readonly headers: RequestHeaders;
  /** Null where TLS does not end in this process. */
  readonly tls: RequestTls | null;
}

/** Who sent a request, or how it is refused. The client of a refusal gets fixed text; `detail` is for the audit alone. */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | {
    readonly ok: false;
    readonly status: 401 | 403;
    readonly kind: "unauthenticated" | "unauthorized";
    /** Why, without secrets. */
    readonly detail: string;
    /** Who was refused, where that is verified although nobody of that name is let in; for the audit alone, too. */
    readonly subject?: string;
    /** The value of `WWW-Authenticate`, where the mode has a challenge. */
    readonly challenge?: string;
  };

/** Judges who sent a request. Never throws; what it is not sure of it refuses. */
export type Authenticator = (request: AuthRequest) => Authentication;
