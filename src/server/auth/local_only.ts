/** Authentication by address: a caller on the loopback is local, unless a proxy forwarded the request. */

import { principalOf } from "../../access/principal.ts";
import { isLoopbackAddress } from "../../config/bind.ts";
import type { PrincipalConfig } from "../../config/types.ts";
import type { Authentication, Authenticator, RequestHeaders } from "./types.ts";

/** The subject of a local caller. */
export const LOOPBACK_SUBJECT = "loopback";

/**
 * Makes the authenticator of `local_only`.
 *
 * @param principals `server.auth.principals`
 */
export function createLocalOnly(principals: readonly PrincipalConfig[]): Authenticator {
  const principal = principalOf(principals, LOOPBACK_SUBJECT, "local");
  return ({ peerAddress, headers }) => {
    if (!isLoopbackAddress(peerAddress)) return peerRefusal("peer_not_loopback");
    return wasForwarded(headers) ? peerRefusal("request_was_forwarded") : { ok: true, principal };
  };
}

/** Whether a proxy forwarded a request, so that its sender may be on another machine. */
function wasForwarded(headers: RequestHeaders): boolean {
  return headers.get("forwarded") !== null || headers.get("via") !== null || headers.startsWith("x-forwarded-");
}

function peerRefusal(detail: string): Authentication {
  return { ok: false, status: 401, kind: "unauthenticated", detail };
}
