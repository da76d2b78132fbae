/**
 * Permissive mode: for development the lowest lane that counts may be lowered to `asserted`, for a time (docs/guide/trust.md).
 *
 * @module
 */

import type { GateConfig } from "../../config/types.ts";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** The last instant that a date can tell, Unix milliseconds. What ends after it never ends. */
const LAST_INSTANT = 8.64e15;

/** What a configuration asks for. */
export type Permissive =
  | { readonly requested: false }
  | {
    readonly requested: true;
    /** Unix milliseconds at which it turns itself off; null = never. */
    readonly until: number | null;
    readonly exempt_providers: readonly string[];
  };

/**
 * What a configuration asks for. Its time is counted from the last change of the file, so whoever still wants it has to say
 * so again.
 *
 * @param modifiedAt Unix milliseconds of the file's last change; null where that is not known: a time that cannot be counted
 * is over
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
 * import { isPermissive, permissiveOf } from "@/evidence/trust/permissive.ts";
 *
 * const dev = { ...DEFAULT_SETTINGS.dev, permissive: true, permissive_ttl_days: 1 };
 * const permissive = permissiveOf({ ...DEFAULT_SETTINGS, dev }, 0);
 * assert.ok(isPermissive(permissive, 86_399_999));
 * assert.ok(!isPermissive(permissive, 86_400_000));
 * ```
 */
export function permissiveOf(config: Pick<GateConfig, "dev" | "server">, modifiedAt: number | null): Permissive {
  const { dev, server } = config;
  if (!dev.permissive && server.mode !== "dev_permissive") return { requested: false };
  const { permissive_ttl_days: days, permissive_exempt_providers: exempt_providers } = dev;
  const until = days === null ? Infinity : (modifiedAt ?? -Infinity) + days * DAY_MILLISECONDS;
  return { requested: true, until: until > LAST_INSTANT ? null : until, exempt_providers };
}

/** Whether permissive mode is in force at an instant; at an unknown one it is only where it never ends. */
export function isPermissive(permissive: Permissive, at: number | null): boolean {
  if (!permissive.requested) return false;
  if (permissive.until === null) return true;
  return at !== null && at < permissive.until;
}

/** When the configuration file was last changed, Unix milliseconds; null where there is none or the system does not say. */
export async function modifiedAt(config: Pick<GateConfig, "config_path">): Promise<number | null> {
  if (config.config_path === null) return null;
  try {
    return (await Deno.stat(config.config_path)).mtime?.getTime() ?? null;
  } catch {
    return null;
  }
}
