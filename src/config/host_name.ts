/** Canonical host names, by which lists of hosts are compared. */

import { canonicalIpv6 } from "./bind.ts";

/**
 * The canonical spelling of a host name: lower case, without brackets and trailing dots, international names in their
 * ASCII form. Returns null for a text that is not a host name.
 */
export function hostKey(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
  if (bare === "" || bare.length > 255 || /[/\\?#@*\s]/.test(bare)) return null;
  const bracketed = canonicalIpv6(bare) !== null ? `[${bare}]` : bare;
  if (bracketed === bare && bare.includes(":")) return null;
  try {
    return new URL(`http://${bracketed}`).hostname.replace(/^\[(.*)\]$/, "$1");
  } catch {
    return null;
  }
}

/** The host of a URL: an IPv6 address stands in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
