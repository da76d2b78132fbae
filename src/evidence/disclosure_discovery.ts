/** Which providers callers may see (`provider_discovery`). */

import type { ProviderDiscoveryConfig } from "../config/types.ts";

/**
 * Whether a provider may be shown. The denylist wins; an empty allowlist allows all.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mayShowProvider } from "@/evidence/disclosure_discovery.ts";
 *
 * const lists = { allowlist: ["env", "json"], denylist: ["env"], max_response_bytes: 1024 };
 * assert.deepEqual(["env", "json", "time"].filter((name) => mayShowProvider(lists, name)), ["json"]);
 * ```
 */
export function mayShowProvider({ allowlist, denylist }: ProviderDiscoveryConfig, providerId: string): boolean {
  return !denylist.includes(providerId) && (allowlist.length === 0 || allowlist.includes(providerId));
}
