/**
 * What the flags of `gate serve` say about the network, checked against the configuration.
 *
 * @module
 */

import type { ServerConfig } from "../config/server_types.ts";
import { exposureNotices, exposureRefusal, readAllowNonLoopback } from "../server/exposure.ts";
import { isHostName, isOriginName } from "../server/http/names.ts";
import { readNetworks } from "../server/http/peers.ts";
import type { NetworkSettings } from "../server/serve.ts";
import { CliError } from "./cli_error.ts";
import type { PostureLine } from "./posture.ts";
import type { ServeArguments } from "./serve_flags.ts";

/** The settings, and what is said about them. */
export interface CheckedNetwork {
  readonly settings: NetworkSettings;
  readonly notices: readonly PostureLine[];
}

/**
 * Reads and checks the flags.
 *
 * @throws {CliError} Where a flag is wrong, or the service may not listen as configured
 */
export function networkSettings(server: ServerConfig, flags: ServeArguments): CheckedNetwork {
  for (const host of flags.allowedHosts) {
    if (!isHostName(host)) refuse("allowed-host", host, "a name, or name:port");
  }
  for (const origin of flags.allowedOrigins) {
    if (!isOriginName(origin)) refuse("allowed-origin", origin, "scheme://name, or scheme://name:port");
  }
  const proxies = readNetworks(flags.trustedProxies);
  const isTrustedProxy = typeof proxies === "function"
    ? proxies
    : refuse("trusted-proxy", proxies.invalid, "an address, or a network such as 10.0.0.0/8");
  const environment = readAllowNonLoopback(Deno.env.get("GATE_ALLOW_NON_LOOPBACK"));
  if (environment === null) throw new CliError("usage", "Cannot read GATE_ALLOW_NON_LOOPBACK: must be 1 or 0");
  const exposure = {
    allowNonLoopback: flags.allowNonLoopback || environment,
    trustedProxies: flags.trustedProxies.length,
    allowedHosts: flags.allowedHosts.length,
  };
  const refusal = exposureRefusal(server, exposure);
  if (refusal !== null) throw new CliError("config_invalid", refusal.message, refusal.hint);
  return {
    settings: { allowedHosts: flags.allowedHosts, allowedOrigins: flags.allowedOrigins, isTrustedProxy },
    notices: exposureNotices(server, exposure).map((message) => ({
      level: /other machines$|deprecated/.test(message) ? "warn" : "info",
      message,
    })),
  };
}

function refuse(flag: string, value: string, expected: string): never {
  throw new CliError("usage", `Cannot use --${flag} "${value}": must be ${expected}`);
}
