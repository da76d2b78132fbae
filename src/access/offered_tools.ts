/**
 * Which tools the operator offers.
 *
 * @module
 */

import type { AuthConfig, ServerConfig, ToolsConfig } from "../config/types.ts";

/** Whether `server.tools` lets a tool be called: the denylist wins, an empty allowlist stands for all. */
export function toolFilter(config: ToolsConfig): (name: string) => boolean {
  const allowlist = new Set<string>(config.allowlist);
  const denylist = new Set<string>(config.denylist);
  return (name) => !denylist.has(name) && (allowlist.size === 0 || allowlist.has(name));
}

/** The settings that {@link offeredTools} reads. */
export interface OfferSettings extends Pick<ServerConfig, "tools"> {
  readonly auth: Pick<AuthConfig, "allowed_tools"> | null;
}

/** Whether a tool may be called: `server.tools` lets it, and so does `server.auth.allowed_tools`, where empty stands for all. */
export function offeredTools({ tools, auth }: OfferSettings): (name: string) => boolean {
  const permits = toolFilter(tools);
  const allowed = new Set<string>(auth?.allowed_tools ?? []);
  return (name) => permits(name) && (allowed.size === 0 || allowed.has(name));
}
