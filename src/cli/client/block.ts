/** The configuration block with which MCP clients start or reach this server. */

import { fileURLToPath } from "node:url";
import { parseBind } from "../../config/bind.ts";
import type { GateConfig, ServerConfig } from "../../config/types.ts";
import { readVariable } from "../config/variable.ts";
import { grantFlags } from "../permissions/grants.ts";
import { commaFaults, ownPath, type PermissionPlan, planPermissions } from "../permissions/plan.ts";
import { parseServeArguments } from "../serve/serve_flags.ts";

/** A command and its arguments. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** The block that most MCP clients read; the key of the server is its name. */
export interface ClientBlock {
  readonly mcpServers: { readonly gate: StartCommand & { readonly env?: Readonly<Record<string, string>> } };
}

/**
 * Flag of `deno run` that reads dynamically imported modules on first use instead of at the start. It halves the time
 * to the first answer. It is not in `deno.json`, because there it would keep those modules out of a compiled gate.
 */
const LOAD_WHEN_NEEDED = "--unstable-lazy-dynamic-imports";

/**
 * Flag of `deno run` that downloads a package when a module of it is first imported. Without it the first start
 * downloads every package of the lock, those of stores and services too that a configuration does not use.
 */
const DOWNLOAD_WHEN_NEEDED = "--unstable-npm-lazy-caching";

/**
 * Variables that locate downloaded packages and the certificates for downloads. MCP clients start servers with few
 * variables, so the block repeats those that are set.
 */
const RUNTIME_VARIABLES = ["DENO_CERT", "DENO_DIR", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR", "SSL_CERT_FILE"];

/** The command that starts a server with exactly the permissions of its plan. */
export interface PlannedCommand extends StartCommand {
  readonly plan: PermissionPlan;
  /** Why its flags cannot name what it needs; null where they can. */
  readonly fault: string | null;
}

/** The command that starts this build with a configuration, and with other arguments of `gate serve`. */
export async function serveCommand(config: GateConfig, rest: readonly string[] = []): Promise<PlannedCommand> {
  const isNamed = config.config_path === null || rest.includes("--config");
  const given = [...isNamed ? [] : ["--config", config.config_path], ...rest];
  const plan = await planPermissions(config, parseServeArguments(given));
  // An executable takes no flags of the runtime.
  const fault = Deno.build.standalone ? null : commaFaults(plan)[0] ?? null;
  return { ...startCommand(grantFlags(plan), ["serve", ...given]), plan, fault };
}

/** The command that starts this build with flags for permissions, and words of its command line. */
export function startCommand(permissions: readonly string[], words: readonly string[]): StartCommand {
  if (Deno.build.standalone) return { command: Deno.execPath(), args: words };
  const flags = ["--no-prompt", "--quiet", DOWNLOAD_WHEN_NEEDED, LOAD_WHEN_NEEDED, "--config", ownPath("deno.json")];
  return {
    command: Deno.execPath(),
    args: ["run", ...permissions, ...flags, fileURLToPath(Deno.mainModule), ...words],
  };
}

/**
 * The block that starts this build, with a stable command and the variables of the runtime; null where no flags can name what
 * it needs.
 */
export async function clientBlock(config: GateConfig): Promise<ClientBlock | null> {
  const { command, args, fault } = await serveCommand(config);
  if (fault !== null) return null;
  if (Deno.build.standalone) return { mcpServers: { gate: { command, args } } };
  return { mcpServers: { gate: { ...stableCommand({ command, args }), env: runtimeVariables(readVariable) } } };
}

/** Replaces a program in the cache of `npx`, which npm may delete, by an `npx` command. */
export function stableCommand({ command, args }: StartCommand): StartCommand {
  if (!command.split(/[\\/]/).includes("_npx")) return { command, args };
  return { command: "npx", args: ["-y", `deno@${Deno.version.deno}`, ...args] };
}

/** The variables of the block: they turn the runtime's update check off, and trust the machine's certificates. */
export function runtimeVariables(read: (name: string) => string | undefined): Record<string, string> {
  const set = RUNTIME_VARIABLES.flatMap((name): [string, string][] => {
    const value = read(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    DENO_NO_UPDATE_CHECK: "1",
    DENO_TLS_CA_STORE: read("DENO_TLS_CA_STORE") ?? "mozilla,system",
    ...Object.fromEntries(set),
  };
}

/** The block with which MCP clients reach a running server. */
export interface RemoteClientBlock {
  readonly mcpServers: {
    readonly gate: {
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };
  };
}

/** Addresses that mean every address of the machine. */
const EVERY_ADDRESS = ["0.0.0.0", "::"];

/** The block that reaches a running server, with placeholders in angle brackets for secrets and unknown values. */
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
