/**
 * The block that MCP clients take to start this server, or to reach it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { parseBind } from "../../config/bind.ts";
import type { ServerConfig } from "../../config/server_types.ts";

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

/** What MCP clients read to reach a server. */
export interface RemoteClientBlock {
  readonly mcpServers: {
    readonly gate: {
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };
  };
}

/** Addresses that stand for all of a machine's. */
const EVERY_ADDRESS = ["0.0.0.0", "::"];

/** The block that reaches a server. What the configuration does not know, or must not tell, stands in angle brackets. */
export function remoteClientBlock({ transport, bind, tls, tls_termination, auth }: ServerConfig): RemoteClientBlock {
  const address = parseBind(bind ?? "") ?? { hostname: "", port: 0 };
  const own = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
  const port = address.port === 0 ? "<port>" : String(address.port);
  const host = EVERY_ADDRESS.includes(address.hostname) ? "<host>" : own;
  const origin = tls_termination === "upstream"
    ? "https://<proxy>"
    : `${tls === null ? "http" : "https"}://${host}:${port}`;
  const type = transport === "sse" ? "sse" : "http";
  return {
    mcpServers: {
      gate: {
        type,
        url: `${origin}${type === "sse" ? "/sse" : "/mcp"}`,
        ...auth?.mode === "bearer_token" ? { headers: { Authorization: "Bearer <token>" } } : {},
      },
    },
  };
}
