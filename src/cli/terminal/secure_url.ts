/** Addresses that flags name: https, or http to this machine. */

import { isLoopbackHost } from "../../config/postgres_address.ts";

/**
 * Parses an address.
 *
 * @param refuse Makes the error for a reason
 * @param credential The reason against a user or a password in it
 */
export function secureUrl(given: string, refuse: (why: string) => Error, credential: string): URL {
  const url = URL.parse(given);
  if (url === null) throw refuse("it is not a URL");
  if (url.username !== "" || url.password !== "") throw refuse(credential);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal(url))) {
    throw refuse("expected https, or http to this machine");
  }
  return url;
}

/** Whether an address is on this machine. */
export function isLocal({ hostname }: URL): boolean {
  return isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}
