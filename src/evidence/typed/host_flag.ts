/** Reads the value of `gate serve --typed-host`, and writes the flags that a profile needs. */

import { urlHost } from "../../config/host_name.ts";
import { classifyAddress } from "../egress/address.ts";
import { certifiedName, locatorsOf, parseHostPort, serviceAddress, type TypedHost, variableOf } from "./grants.ts";
import type { RuntimeProfile } from "./runtime_profile.ts";
import { isLocator } from "./runtime_profile.ts";

/**
 * Parses `HOST[:PORT][=CREDENTIAL,...]`, where each credential is a locator; null for any other text. The port is 443
 * by default.
 */
export function parseTypedHost(text: string): TypedHost | null {
  const [place = "", ...rest] = text.split("=");
  const parsed = parseHostPort(place);
  const credentials = rest.length === 0 ? [] : rest.join("=").split(",");
  return parsed === null || !credentials.every(isLocator) ? null : { ...parsed, credentials };
}

/** The flags of `gate serve` that grant a checked profile its hosts and its credentials. */
export function typedFlags(profile: RuntimeProfile): string {
  const address = serviceAddress(profile);
  const { secrets, authority } = locatorsOf(profile);
  const locators = [...new Set(secrets.map(([, locator]) => locator))];
  const name = certifiedName(profile);
  const literal = address === null ? null : classifyAddress(address.host);
  return [
    `--typed-host ${urlHost(address?.host ?? "")}:${address?.port}${locators.length === 0 ? "" : "="}${locators}`,
    ...name === null || name === address?.host ? [] : [`--typed-host ${urlHost(name)}`],
    ...literal === "private" || address?.host === "localhost" ? ["--typed-private"] : [],
    ...[...locators, ...authority === null ? [] : [authority]].some((locator) => variableOf(locator) === null)
      ? ["--credentials-dir DIR"]
      : [],
  ].join(" ");
}
