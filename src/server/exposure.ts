/**
 * Decides whether the service may listen on an address, and which notices it logs. Listening beyond this machine needs
 * several explicit settings.
 */

import { isLoopbackAddress, parseBind } from "../config/bind.ts";
import type { AuthConfig, ServerConfig } from "../config/types.ts";

/** The flags that bear on exposure. */
export interface ExposureOptions {
  /** `--allow-non-loopback` or `GATE_ALLOW_NON_LOOPBACK`. */
  readonly allowNonLoopback: boolean;
  /** The number of `--trusted-proxy` flags. */
  readonly trustedProxies: number;
  /** The number of `--allowed-host` flags. */
  readonly allowedHosts: number;
}

/** A reason not to listen, with a remedy. */
export interface ExposureRefusal {
  readonly message: string;
  readonly hint: string;
}

/** The reasons not to listen with these flags. The configuration alone was checked when it was read. */
export function exposureRefusals(
  { transport, auth, tls_termination, bind }: ServerConfig,
  options: ExposureOptions,
): readonly ExposureRefusal[] {
  if (transport === "stdio") return [];
  const refusals: ExposureRefusal[] = [];
  if (auth?.mode === "mtls" && tls_termination === "upstream" && options.trustedProxies === 0) {
    refusals.push({
      message:
        "Cannot listen: server.auth.mode is mtls and TLS ends upstream, but no proxy is trusted to name the subject",
      hint: "name the proxy with --trusted-proxy CIDR",
    });
  }
  if (!options.allowNonLoopback && !isLoopbackAddress(parseBind(bind ?? "")?.hostname ?? "")) {
    refusals.push({
      message: `Cannot listen: "${bind}" is reachable from other machines`,
      hint: "say so with --allow-non-loopback",
    });
  }
  return refusals;
}

/** A log entry at the start. */
export interface ExposureNotice {
  readonly level: "info" | "warn";
  readonly message: string;
}

/** The log entries about who can reach the service. */
export function exposureNotices(server: ServerConfig, options: ExposureOptions): readonly ExposureNotice[] {
  const { auth, tls_termination, bind, transport } = server;
  if (transport === "stdio") return [];
  const notices: ExposureNotice[] = [];
  const add = (level: ExposureNotice["level"], message: string): number => notices.push({ level, message });
  if (transport === "sse") add("warn", 'server.transport "sse" is deprecated: use "http"');
  if (options.trustedProxies > 0 && (auth?.mode !== "mtls" || tls_termination !== "upstream")) {
    add(
      "warn",
      '--trusted-proxy has no effect: it needs server.auth.mode "mtls" and server.tls_termination "upstream"',
    );
  }
  const isLoopback = isLoopbackAddress(parseBind(bind ?? "")?.hostname ?? "");
  if (!isLoopback) add("warn", `listening on ${bind}: reachable from other machines`);
  else if (isForwarded(server)) {
    add(
      "info",
      `listening on ${bind}: reachable from this machine, and from others through a proxy on this machine`,
    );
  } else {
    add("info", `listening on ${bind}: reachable from this machine alone`);
    return notices;
  }
  for (const message of defences(server)) add("info", message);
  if (server.limits.rate_limit === null) {
    add("warn", "server.limits.rate_limit is not set: the rate of each caller is unlimited");
  }
  if (options.allowedHosts === 0) add("info", "no --allowed-host: only this machine's own names are accepted");
  return notices;
}

/** How callers are authenticated, in words of the settings. */
export function authenticationOf(auth: AuthConfig | null): string {
  if (auth?.oauth !== true) return auth?.mode ?? "local_only";
  return auth.bearer_tokens.length === 0 ? "oauth" : "bearer_token, then oauth";
}

/** Whether a proxy may forward requests of other machines; `local_only` rejects forwarded requests. */
function isForwarded({ auth, tls_termination }: ServerConfig): boolean {
  return tls_termination === "upstream" || (auth?.mode ?? "local_only") !== "local_only";
}

/** The settings that protect the tools. */
function defences({ auth, tls, tls_termination, audit, limits }: ServerConfig): readonly string[] {
  const clients = (tls?.client_ca_path ?? null) === null
    ? "no client certificates"
    : `client certificates ${tls?.require_client_cert === true ? "required" : "optional"}`;
  const here = tls === null ? "no TLS" : `TLS ends here, ${clients}`;
  return [
    `authentication ${authenticationOf(auth)}; ${tls_termination === "upstream" ? "TLS ends upstream" : here}`,
    `audit ${audit.enabled ? audit.path ?? "on standard error" : "off"}; ` +
    `rate limit ${limits.rate_limit === null ? "off" : "on"}`,
  ];
}

const TRUE_WORDS = ["1", "true", "yes", "y", "on"];
const FALSE_WORDS = ["0", "false", "no", "n", "off", ""];

/** Reads `GATE_ALLOW_NON_LOOPBACK`; null for an invalid value. */
export function readAllowNonLoopback(value: string | undefined): boolean | null {
  const word = (value ?? "").trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : null;
}
