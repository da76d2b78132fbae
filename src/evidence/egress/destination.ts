/** Checks a URL against the egress policy and resolves its host. */

import { type HostLookup, lookUpHost } from "../../config/host_lookup.ts";
import { hostKey, urlHost } from "../../config/host_name.ts";
import type { Failure } from "../builtin/result.ts";
import { classifyAddress, parseAddress } from "./address.ts";
import { untilAborted } from "../../config/until_aborted.ts";

/** A setting that allows private networks. */
export type PrivateSetting = "config.allow_private_networks" | "--typed-private" | "--oauth-private";

/** The destinations that the operator allows. */
export interface EgressPolicy {
  readonly allowHttp: boolean;
  readonly allowPrivateNetworks: boolean;
  /** The setting that allows them, for messages; absent where no setting does. */
  readonly privateSetting?: PrivateSetting;
  /** Host names by {@link hostKey}; null for any public one. */
  readonly allowedHosts: ReadonlySet<string> | null;
}

/** A URL that passed the checks that need no network. */
export interface Destination {
  /** Normalised, without a fragment. */
  readonly href: string;
  readonly secure: boolean;
  /** Lower case, without brackets and trailing dot. */
  readonly host: string;
  readonly port: number;
  /** Value of the Host header. */
  readonly authority: string;
  /** Path and query. */
  readonly target: string;
}

/** Resolves a host to all of its addresses; injectable for tests. */
export type Resolver = HostLookup;

/** Characters of a URL. */
const URL_CHARACTERS_MAXIMUM = 8192;
/** Addresses of one host that are tried, in the resolver's order. */
const ADDRESSES_TRIED_MAXIMUM = 4;

/** Resolves with the system's resolver. */
export const systemResolver: Resolver = lookUpHost;

/** The URL's parts; a refusal where the policy forbids it; null where the text is not an absolute URL. */
export function checkDestination(text: string, policy: EgressPolicy): Destination | Failure | null {
  const url = text.length <= URL_CHARACTERS_MAXIMUM && URL.canParse(text) ? new URL(text) : null;
  if (url === null) return null;
  const secure = url.protocol === "https:";
  if (!secure && url.protocol !== "http:") return refused(`the scheme "${url.protocol.slice(0, -1)}" is not https`);
  if (!secure && !policy.allowHttp) return refused("http:// is not allowed (allow_http)");
  if (url.username !== "" || url.password !== "") return refused("the URL contains user information");
  const host = hostKey(url.hostname);
  if (host === null) return refused("the URL has no host");
  if (policy.allowedHosts !== null && !policy.allowedHosts.has(host)) {
    return refused(`host "${host}" is not in allowed_hosts`);
  }
  url.hash = "";
  url.hostname = urlHost(host);
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  return { href: url.href, secure, host, port, authority: url.host, target: `${url.pathname}${url.search}` };
}

function refused(reason: string): Failure {
  return { code: "destination_refused", message: `Cannot ask the destination: ${reason}` };
}

/**
 * Resolves the host once and checks every address; one forbidden address refuses all. The connection has to use the
 * returned addresses: a second resolution could return others.
 *
 * @throws The reason of `signal` when it aborts
 */
export async function resolveDestination(
  destination: Pick<Destination, "host">,
  policy: EgressPolicy,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<readonly string[] | Failure> {
  const { host } = destination;
  let addresses: readonly string[] = [host];
  if (parseAddress(host) === null) {
    try {
      addresses = await untilAborted(resolver(host, signal), signal);
    } catch {
      signal.throwIfAborted();
      return { code: "dns_failed", message: `Cannot resolve host "${host}"` };
    }
  }
  if (addresses.length === 0) return { code: "dns_failed", message: `Host "${host}" has no address` };
  for (const address of addresses) {
    const kind = classifyAddress(address);
    if (kind === "public" || (kind === "private" && policy.allowPrivateNetworks)) continue;
    // The message omits the address, which would disclose the inside of a network.
    const what = kind === "private"
      ? `an address that is not public${policy.privateSetting === undefined ? "" : ` (${policy.privateSetting})`}`
      : "an address that names no single host";
    return { code: "destination_blocked", message: `Cannot ask host "${host}": it has ${what}` };
  }
  return addresses.slice(0, ADDRESSES_TRIED_MAXIMUM);
}
