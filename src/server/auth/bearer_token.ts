/** Authentication by bearer token (RFC 6750, section 2.1). */

import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { principalOf } from "../../access/principal.ts";
import { digestOfToken } from "../../config/bearer_tokens.ts";
import type { PrincipalConfig } from "../../config/types.ts";
import type { Authentication, Authenticator, RequestHeaders } from "./types.ts";

/** The most bytes of an `Authorization` field; a longer one is rejected without being parsed. */
export const AUTHORIZATION_BYTES = 8192;

/** The `WWW-Authenticate` challenge for a client without a valid token. */
export const BEARER_CHALLENGE = 'Bearer realm="gate"';

/** The scheme, in any case, and one token without white space. */
const CREDENTIALS = /^bearer +([^\s]+)$/i;

/**
 * Makes the authenticator of `bearer_token`. It keeps only the SHA-256 of each configured token. A presented token is
 * hashed and compared with every configured one in constant time, so the response time reveals nothing about a guess. A
 * token that a connection repeats is compared with the accepted one instead, in constant time too: hashing costs most
 * of a check.
 *
 * @param tokens `server.auth.bearer_tokens`; their variables are set
 * @param principals `server.auth.principals`
 */
export function createBearerToken(tokens: readonly string[], principals: readonly PrincipalConfig[]): Authenticator {
  const known = tokens.map((item) => {
    const digest = digestOfToken(item, (name) => Deno.env.get(name), (data) => fingerprint(data).toString("hex"));
    if (typeof digest !== "string") throw new TypeError(`Cannot authenticate: a token ${digest.fault}`);
    return Buffer.from(digest, "hex");
  });
  const callers = known.map((print) => principalOf(principals, `token:${print.toString("hex")}`, "bearer_token"));
  const accepted = new WeakMap<object, Accepted>();
  return ({ headers, connection }) => {
    const bearer = readBearer(headers);
    if (!bearer.ok) return tokenRefusal(bearer.detail);
    const before = accepted.get(connection);
    if (before !== undefined && isSameText(before.token, bearer.token)) return before.authentication;
    const presented = fingerprint(bytesOf(bearer.token));
    let found = -1;
    known.forEach((print, index) => {
      if (timingSafeEqual(print, presented)) found = index;
    });
    const principal = callers[found];
    if (principal === undefined) return tokenRefusal("token_unknown");
    const authentication: Authentication = { ok: true, principal };
    accepted.set(connection, { token: bearer.token, authentication });
    return authentication;
  };
}

/** The bearer token of a request, or why it has none. */
export function readBearer(
  headers: RequestHeaders,
): { readonly ok: true; readonly token: string } | { readonly ok: false; readonly detail: string } {
  const field = headers.get("authorization");
  if (field === null) return { ok: false, detail: "token_missing" };
  if (field.length > AUTHORIZATION_BYTES) return { ok: false, detail: "authorization_too_long" };
  const token = CREDENTIALS.exec(field)?.[1];
  return token === undefined ? { ok: false, detail: "authorization_malformed" } : { ok: true, token };
}

/** The last token of a connection that was accepted. It is kept as long as the connection. */
interface Accepted {
  readonly token: string;
  readonly authentication: Authentication;
}

/** Compares texts in a time that depends only on the length of the second. */
function isSameText(known: string, given: string): boolean {
  let difference = known.length ^ given.length;
  for (let at = 0; at < given.length; at++) difference |= known.charCodeAt(at) ^ given.charCodeAt(at);
  return difference === 0;
}

function fingerprint(token: Uint8Array | string): Uint8Array & { toString(encoding: "hex"): string } {
  return createHash("sha256").update(token).digest();
}

/** The bytes of a field: one per character (RFC 9110, 5.5). */
function bytesOf(field: string): Uint8Array {
  return Buffer.from(field, "latin1");
}

function tokenRefusal(detail: string): Authentication {
  return { ok: false, status: 401, kind: "unauthenticated", detail, challenge: BEARER_CHALLENGE };
}
