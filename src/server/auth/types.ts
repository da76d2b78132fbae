/** The interface between the HTTP transports and authentication. */

import type { Principal } from "../../access/types.ts";

/** The header fields of a request. */
export interface RequestHeaders {
  /** The value of a field by its lower-case name, several values joined with ", "; null for an absent field. */
  readonly get: (name: string) => string | null;
  /** Whether a lower-case field name begins with `prefix`. */
  readonly startsWith: (prefix: string) => boolean;
}

/** A client certificate that is valid now, and that this process has verified in a full handshake. */
export interface TlsPeer {
  /** The subject as RFC 4514 writes it: most specific part first, escaped. */
  readonly subject: string;
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
}

/** The TLS facts of a request, where TLS ends in this process. */
export interface RequestTls {
  /** The client certificate; null if the client presented none. */
  readonly peer: TlsPeer | null;
}

/** The facts that authentication uses. */
export interface AuthRequest {
  /** IP address of the peer, without brackets; never from a header field. */
  readonly peerAddress: string;
  /** Stands for the connection; the same object for all its requests. */
  readonly connection: object;
  readonly headers: RequestHeaders;
  /** Null where TLS does not end in this process. */
  readonly tls: RequestTls | null;
}

/** The authenticated sender, or a rejection. A rejected client receives a fixed text; `detail` is only for the audit log. */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | {
    readonly ok: false;
    /** 431 and 503 come from the resource server of OAuth alone. */
    readonly status: 401 | 403 | 431 | 503;
    readonly kind: "unauthenticated" | "unauthorized" | "request_too_large" | "unavailable";
    /** The reason, without secrets. */
    readonly detail: string;
    /** The verified subject, which is not listed; only for the audit log. */
    readonly subject?: string;
    /** The value of `WWW-Authenticate`, if the mode has a challenge. */
    readonly challenge?: string;
  };

/** Authenticates a request. It never throws, and rejects in doubt. */
export type Authenticator = (request: AuthRequest) => Authentication;
