/** The flag `--public-url` of `gate serve`: where people reach the console. */

import { CliError } from "../terminal/cli_error.ts";
import { secureUrl } from "../terminal/secure_url.ts";

/**
 * Reads `--public-url`.
 *
 * @returns The address without a slash at its end
 * @throws {CliError} `usage` for an address that is neither https nor loopback, or has more than a host and a port
 */
export function publicUrlOf(given: string): string {
  // An address with a credential in it is not shown.
  const shown = given.includes("@") ? "" : ` "${given}"`;
  const refuse = (why: string): CliError => new CliError("usage", `Cannot use --public-url${shown}: ${why}`);
  const url = secureUrl(given, refuse, "a credential in it would be sent to clients");
  // A bare "?" or "#" counts: what follows it would be no path.
  if (/[?#]/.test(url.href)) throw refuse("expected no query and no fragment");
  // The page reads its parts and the tools from the root of its host.
  if (!/^\/+$/.test(url.pathname)) throw refuse("expected no path: the console is at /console of its host");
  return url.origin;
}
