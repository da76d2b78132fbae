/**
 * Reads the value of `gate serve --typed-host`.
 *
 * @module
 */

import { parseHostPort, type TypedHost } from "./grants.ts";
import { isLocator } from "./runtime_profile.ts";

/**
 * Parses `HOST[:PORT][=CREDENTIAL,...]`, where each credential is a locator; null for any other text. The port is 443 by
 * default.
 */
export function parseTypedHost(text: string): TypedHost | null {
  const [place = "", ...rest] = text.split("=");
  const parsed = parseHostPort(place);
  const credentials = rest.length === 0 ? [] : rest.join("=").split(",");
  return parsed === null || !credentials.every(isLocator) ? null : { ...parsed, credentials };
}
