/**
 * Authentication by place: whoever calls over the loopback is local, unless the request has been passed on.
 *
 * @module
 */

import { principalOf } from "../../access/principal.ts";
import { isLoopbackAddress } from "../../config/bind.ts";
import type { PrincipalConfig } from "../../config/types.ts";
import type { Authentication, Authenticator, RequestHeaders } from "./types.ts";

/** What the other end of a loopback connection is called. */
export const LOOPBACK_SUBJECT = "loopback";

/**
 * Makes the authenticator of `local_only`.
 *
 * @param principals `server.auth.principals`
 */
export function createLocalOnly(principals: readonly PrincipalConfig[]): Authenticator {
  const principal = principalOf(principals, LOOPBACK_SUBJECT, "local");
  return ({ peerAddress, headers }) => {
    if (!isLoopbackAddress(peerAddress)) return refuse("peer_not_loopback");
    return wasPassedOn(headers) ? refuse("request_was_forwarded") : { ok: true, principal };
  };
}

/** Whether a request has passed a proxy: it comes from further away than its connection. */
function wasPassedOn(headers: RequestHeaders): boolean {
  return headers.get("forwarded") !== null || headers.get("via") !== null || headers.startsWith("x-forwarded-");
}

function refuse(detail: string): Authentication {
  return { ok: false, status: 401, kind: "unauthenticated", detail };
}
