/**
 * Permissive mode: for development, the lowest lane that counts can be lowered to `asserted` for a limited time
 * (docs/guide/trust.md).
 */

import type { GateConfig } from "../../config/types.ts";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** The last instant of a `Date`, Unix milliseconds. A later expiry counts as none. */
const LAST_INSTANT = 8.64e15;

/** The permissive mode of a configuration. */
export type Permissive =
  | { readonly requested: false }
  | {
    readonly requested: true;
    /** Unix milliseconds at which it expires; null = never. */
    readonly until: number | null;
    readonly exempt_providers: readonly string[];
  };

/**
 * The permissive mode of a configuration. Its time counts from the last change of the file, so renewing it takes a
 * change.
 *
 * @param modifiedAt Unix milliseconds of the file's last change; null where it is unknown, so that a limited time has expired
 */
export function permissiveOf(config: Pick<GateConfig, "dev" | "server">, modifiedAt: number | null): Permissive {
  const { dev, server } = config;
  if (!dev.permissive && server.mode !== "dev_permissive") return { requested: false };
  const { permissive_ttl_days: days, permissive_exempt_providers: exempt_providers } = dev;
  const until = days === null ? Infinity : (modifiedAt ?? -Infinity) + days * DAY_MILLISECONDS;
  return { requested: true, until: until > LAST_INSTANT ? null : until, exempt_providers };
}

/** Whether permissive mode is in force at an instant; at an unknown instant only where it never expires. */
export function isPermissive(permissive: Permissive, at: number | null): boolean {
  if (!permissive.requested) return false;
  if (permissive.until === null) return true;
  return at !== null && at < permissive.until;
}

/** The last change of the configuration file, Unix milliseconds; null without a file or where the system reports none. */
export async function modifiedAt(config: Pick<GateConfig, "config_path">): Promise<number | null> {
  if (config.config_path === null) return null;
  try {
    return (await Deno.stat(config.config_path)).mtime?.getTime() ?? null;
  } catch {
    return null;
  }
}
