/** Gets a document. The host is resolved and checked, and a worker asks the checked address alone. */

import { USER_AGENT } from "../../config/product_version.ts";
import { checkDestination, type PrivateSetting } from "../egress/destination.ts";
import { createRequester, sendRequest, startTimeLimit } from "./bounded_request.ts";
import { dependenciesOf } from "./engine.ts";
import { baseHeaders, refuseEncoding } from "./response.ts";

/** How a document may be had. */
export interface DocumentAccess {
  readonly allowPrivateNetworks: boolean;
  readonly privateSetting: PrivateSetting;
  /** PEM certificates to trust in place of the system's; null for those. */
  readonly authorities: readonly string[] | null;
}

/** Bytes of a document. */
export const DOCUMENT_BYTES = 262_144;
/** Milliseconds for a document. */
const DOCUMENT_MILLIS = 5_000;

/**
 * A document with its status, or why there is none. Redirects are not followed. Never rejects.
 *
 * @param url An address that the operator names, or one of the same origin
 */
export async function getDocument(
  url: string,
  { allowPrivateNetworks, privateSetting, authorities }: DocumentAccess,
): Promise<{ readonly status: number; readonly body: Uint8Array } | { readonly fault: string }> {
  const config = {
    allow_http: url.startsWith("http:"),
    allow_private_networks: allowPrivateNetworks,
    allowed_hosts: null,
    hash_algorithm: "sha256" as const,
    user_agent: USER_AGENT,
    max_response_bytes: DOCUMENT_BYTES,
    timeout_ms: DOCUMENT_MILLIS,
  };
  const requester = createRequester(
    "gate-document",
    config,
    dependenciesOf(authorities === null ? {} : { authorities }),
  );
  const policy = { ...requester.policy, privateSetting };
  const destination = checkDestination(url, policy);
  const limit = startTimeLimit(DOCUMENT_MILLIS, new AbortController().signal);
  try {
    if (destination === null) return { fault: "its address is not a URL" };
    if ("code" in destination) return { fault: destination.message };
    const outgoing = { destination, headers: baseHeaders(USER_AGENT, "application/json"), wantsBody: true };
    const response = await sendRequest({ ...requester, policy }, outgoing, limit);
    if ("code" in response) return { fault: response.message };
    return refuseEncoding(response) === null ? response : { fault: "its document is compressed" };
  } finally {
    limit.end();
    // Documents are rare, so no worker waits for the next one.
    requester.pool.close();
  }
}
