/**
 * The block that MCP clients take to start this server, or to reach it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { parseBind } from "../../config/bind.ts";
import type { ServerConfig } from "../../config/types.ts";

/** A command and its arguments. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** What most MCP clients read; the key of the server is its name. */
export interface ClientBlock {
  readonly mcpServers: {
    readonly gate: StartCommand & { readonly env?: Readonly<Record<string, string>> };
  };
}

/**
 * Flag of `deno run`: modules that are imported when they are first needed are also read only then, in place of at the start. It halves
 * the time to the first answer. Not in `deno.json`, because there it would keep those modules out of a compiled gate.
 */
export const LOAD_WHEN_NEEDED = "--unstable-lazy-dynamic-imports";

/**
 * Variables that say where downloaded packages are and which certificates a download is checked against. MCP clients
 * start servers with few variables, so the block repeats those that are set.
 */
const RUNTIME_VARIABLES = ["DENO_CERT", "DENO_DIR", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR", "SSL_CERT_FILE"];

/** The command that starts this very build with a configuration file, or with the built-in defaults for null. */
export function serveCommand(configPath: string | null): StartCommand {
  const serve = ["serve", ...(configPath === null ? [] : ["--config", configPath])];
  if (Deno.build.standalone) return { command: Deno.execPath(), args: serve };
  const entry = fileURLToPath(Deno.mainModule);
  const settings = fileURLToPath(new URL("deno.json", Deno.mainModule));
  const run = ["run", "--no-prompt", "--quiet", LOAD_WHEN_NEEDED, "--config", settings, "-P=serve", entry];
  return { command: Deno.execPath(), args: [...run, ...serve] };
}

/** The block that starts this build, by a command that stays valid and with what the runtime needs to start. */
export function clientBlock(configPath: string | null): ClientBlock {
  const command = serveCommand(configPath);
  if (Deno.build.standalone) return { mcpServers: { gate: command } };
  return { mcpServers: { gate: { ...stableCommand(command), env: runtimeVariables(Deno.env.toObject()) } } };
}

/**
 * The same command by a name that stays valid: npm removes the folder that `npx` runs a package from.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { stableCommand } from "@/cli/client/block.ts";
 *
 * const command = "/opt/me/.npm/_npx/0123abcd/node_modules/deno/deno";
 * assert.equal(stableCommand({ command, args: ["run"] }).command, "npx");
 * ```
 */
export function stableCommand({ command, args }: StartCommand): StartCommand {
  if (!command.split(/[\\/]/).includes("_npx")) return { command, args };
  return { command: "npx", args: ["-y", `deno@${Deno.version.deno}`, ...args] };
}

/** Variables of the block: no question to the runtime's update host, and the machine's certificates are trusted. */
export function runtimeVariables(environment: Readonly<Record<string, string>>): Record<string, string> {
  const set = RUNTIME_VARIABLES.flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    DENO_NO_UPDATE_CHECK: "1",
    DENO_TLS_CA_STORE: environment["DENO_TLS_CA_STORE"] ?? "mozilla,system",
    ...Object.fromEntries(set),
  };
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
