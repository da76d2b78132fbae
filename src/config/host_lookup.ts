/**
 * Looks up names with the system's resolver, for everything of the process that connects to a name which a caller or a
 * slow name server can choose how often to look up.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import { type HostLookup, shareLookups } from "./shared_lookups.ts";

export type { HostLookup } from "./shared_lookups.ts";

/** Lookups at one time: a quarter of the runtime's threads for blocking calls. */
const LOOKUPS_AT_ONCE = 8;

/** All addresses of a host, in the order of the system's resolver. */
export const lookUpHost: HostLookup = shareLookups(async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}, LOOKUPS_AT_ONCE);
