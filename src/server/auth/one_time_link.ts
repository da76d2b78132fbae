/**
 * Authentication of the browser that opened a link first. `gate console` prints the link, so that other users of the
 * machine, who reach its port too, are no callers.
 *
 * The link has a secret. The page that opens it chooses the secret of its own session, and sends both once, as the
 * bearer token `LINK.SESSION`; from then on it sends the session alone. The first session takes the link, and every
 * other one is refused.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { readBearer } from "./bearer_token.ts";
import type { Authentication, Authenticator } from "./types.ts";

/** A link that one browser can open. */
export interface OneTimeLink {
  /** 32 random bytes in base64url. */
  readonly secret: string;
  /** Called when the link has become a session. */
  readonly taken: () => void;
  /** Called when another session tries the link, which is refused. */
  readonly refused: () => void;
}

/** The challenge for a browser without a session; the page knows by it what to say. */
const LINK_CHALLENGE = 'Bearer realm="gate console"';

/** A secret: base64url of 32 bytes. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Makes a secret. */
export function createSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * Makes the authenticator. It keeps only the SHA-256 of the session.
 *
 * @param admit Authenticates the caller behind the session, such as {@link createLocalOnly}
 */
export function createOneTimeLink(link: OneTimeLink, admit: Authenticator): Authenticator {
  const expected = fingerprint(link.secret);
  let session: Uint8Array | null = null;
  const isSession = (presented: Uint8Array): boolean => session !== null && timingSafeEqual(session, presented);
  const open = (presented: Uint8Array): string | null => {
    if (isSession(presented)) return null;
    if (session === null) {
      session = presented;
      link.taken();
      return null;
    }
    link.refused();
    return "link_used";
  };
  return (request) => {
    const admitted = admit(request);
    if (!admitted.ok) return admitted;
    const bearer = readBearer(request.headers);
    if (!bearer.ok) return linkRefusal(bearer.detail);
    const parts = bearer.token.split(".");
    const [first = "", second] = parts;
    if (parts.length > 2 || !parts.every((part) => SECRET.test(part))) return linkRefusal("token_unknown");
    if (second === undefined) return isSession(fingerprint(first)) ? admitted : linkRefusal("token_unknown");
    if (!timingSafeEqual(fingerprint(first), expected)) return linkRefusal("token_unknown");
    const refused = open(fingerprint(second));
    return refused === null ? admitted : linkRefusal(refused);
  };
}

function fingerprint(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

function linkRefusal(detail: string): Authentication {
  return { ok: false, status: 401, kind: "unauthenticated", detail, challenge: LINK_CHALLENGE };
}
