/** The notices about trust in evidence that an operator sees at every start. */

import type { GateConfig, ProviderConfig } from "../../config/types.ts";
import { isPermissive, type Permissive } from "./permissive.ts";

/** One notice. */
export interface TrustNotice {
  readonly level: "info" | "warn";
  readonly message: string;
}

/**
 * The notices of a configuration.
 *
 * @param now Unix milliseconds
 */
export function trustNotices(
  config: Pick<GateConfig, "dev" | "trust" | "providers">,
  permissive: Permissive,
  now: number,
): readonly TrustNotice[] {
  const notices: TrustNotice[] = [];
  if (permissive.requested && config.dev.permissive_warn) notices.push(permissiveNotice(permissive, now));
  if (config.trust.min_lane === "asserted") {
    notices.push({ level: "warn", message: 'trust.min_lane is "asserted": unverified evidence qualifies' });
  }
  const unconfined = config.providers.filter(({ type, command }) => type === "mcp" && command.length > 0);
  if (unconfined.length > 0) {
    const names = unconfined.map(({ name }) => name).join(", ");
    notices.push({ level: "info", message: `providers that run as processes without a sandbox: ${names}` });
  }
  notices.push(...config.providers.flatMap(unlimited));
  const plain = config.providers.filter(({ url, command }) => command.length === 0 && url?.startsWith("http:"));
  for (const { name, auth } of plain) {
    if (auth?.bearer_token !== null && auth?.bearer_token !== undefined) {
      notices.push({ level: "warn", message: `provider ${name}: its bearer token is sent over cleartext http` });
    }
  }
  return notices;
}

/** The notice for a built-in provider without an allowlist. */
function unlimited(entry: ProviderConfig): TrustNotice[] {
  if (entry.type !== "builtin") return [];
  if (entry.name === "env" && entry.config.allowlist === null) {
    return [{ level: "warn", message: "provider env: without an allowlist it may read almost every variable" }];
  }
  if ((entry.name === "http" || entry.name === "rest") && entry.config.allowed_hosts === null) {
    const which = entry.config.allow_private_networks ? "any host, private networks included" : "any public host";
    return [{
      level: "warn",
      message: `provider ${entry.name}: without allowed_hosts it may send requests to ${which}`,
    }];
  }
  return [];
}

function permissiveNotice(permissive: Extract<Permissive, { requested: true }>, now: number): TrustNotice {
  if (!isPermissive(permissive, now)) {
    return {
      level: "warn",
      message:
        "dev.permissive has expired and is off: change the configuration file to renew it, or remove the setting",
    };
  }
  const { until, exempt_providers: exempt } = permissive;
  const end = until === null ? "without expiry" : `until ${new Date(until).toISOString()}`;
  const except = exempt.length === 0 ? "" : `, except from ${exempt.join(", ")}`;
  return { level: "warn", message: `dev.permissive is in force ${end}: asserted evidence qualifies${except}` };
}
