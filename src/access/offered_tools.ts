/** The tools that the operator offers. */

import type { AuthConfig, ServerConfig, ToolsConfig } from "../config/types.ts";

/** Whether `server.tools` permits a tool: the denylist wins, and an empty allowlist permits all. */
export function toolFilter(config: ToolsConfig): (name: string) => boolean {
  const allowlist = new Set<string>(config.allowlist);
  const denylist = new Set<string>(config.denylist);
  return (name) => !denylist.has(name) && (allowlist.size === 0 || allowlist.has(name));
}

/** The settings that {@link offeredTools} reads. */
export interface OfferSettings extends Pick<ServerConfig, "tools"> {
  readonly auth: Pick<AuthConfig, "allowed_tools"> | null;
}

/** Whether `server.tools` and `server.auth.allowed_tools` both permit a tool; an empty list of allowed tools permits all. */
export function offeredTools({ tools, auth }: OfferSettings): (name: string) => boolean {
  const permits = toolFilter(tools);
  const allowed = new Set<string>(auth?.allowed_tools ?? []);
  return (name) => permits(name) && (allowed.size === 0 || allowed.has(name));
}
