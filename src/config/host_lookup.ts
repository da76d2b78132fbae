/**
 * Looks up names with the system's resolver, for everything of the process that connects to a name which a caller or a
 * slow name server can choose how often to look up.
 */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type HostLookup, shareLookups } from "./shared_lookups.ts";

export type { HostLookup } from "./shared_lookups.ts";

/** Lookups at one time: a quarter of the runtime's threads for blocking calls. */
const LOOKUPS_AT_ONCE = 8;

/** All addresses of a host, in the order of the system's resolver. */
export const lookUpHost: HostLookup = shareLookups(async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}, LOOKUPS_AT_ONCE);

/**
 * Looks up the host of a URL before a client connects to it. The client looks it up again, without a bound: a name
 * server that does not answer would hold a thread for each of its connections.
 *
 * @returns Whether the lookup ended within `millis`; the client reports why it failed
 */
export async function isLookedUp(url: URL, millis: number, lookUp: HostLookup = lookUpHost): Promise<boolean> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return true;
  const limit = AbortSignal.timeout(millis);
  await lookUp(host, limit).catch(() => null);
  return !limit.aborted;
}
