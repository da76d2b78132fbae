/**
 * The block that MCP clients take to start this server.
 *
 * @module
 */

import { fileURLToPath } from "node:url";

/** What most MCP clients read; the key of the server is its name. */
export interface ClientBlock {
  readonly mcpServers: { readonly gate: { readonly command: string; readonly args: readonly string[] } };
}

/**
 * Flag of `deno run`: modules that are imported when they are first needed are also read only then, in place of at the start. It halves
 * the time to the first answer. Not in `deno.json`, because there it would keep those modules out of a compiled gate.
 */
export const LOAD_WHEN_NEEDED = "--unstable-lazy-dynamic-imports";

/** The block that starts this very build with a configuration file, or with the built-in defaults for null. */
export function clientBlock(configPath: string | null): ClientBlock {
  const serve = ["serve", ...(configPath === null ? [] : ["--config", configPath])];
  if (Deno.build.standalone) return { mcpServers: { gate: { command: Deno.execPath(), args: serve } } };
  const entry = fileURLToPath(Deno.mainModule);
  const settings = fileURLToPath(new URL("deno.json", Deno.mainModule));
  const run = ["run", "--no-prompt", "--quiet", LOAD_WHEN_NEEDED, "--config", settings, "-P=serve", entry];
  return { mcpServers: { gate: { command: Deno.execPath(), args: [...run, ...serve] } } };
}
