/**
 * When the service may listen, and what it tells about it: to listen beyond this machine takes several settings that
 * nobody makes by accident.
 *
 * @module
 */

import { isLoopbackAddress, parseBind } from "../config/bind.ts";
import type { ServerConfig } from "../config/types.ts";

/** What else decides about exposure. */
export interface ExposureOptions {
  /** `--allow-non-loopback` or `GATE_ALLOW_NON_LOOPBACK`. */
  readonly allowNonLoopback: boolean;
  /** How many `--trusted-proxy` there are. */
  readonly trustedProxies: number;
  /** How many `--allowed-host` there are. */
  readonly allowedHosts: number;
}

/** A reason not to listen, with what to do about it. */
export interface ExposureRefusal {
  readonly message: string;
  readonly hint: string;
}

/** Why the service may not listen with these flags. What depends on the configuration alone was checked with it. */
export function exposureRefusals(
  { transport, auth, tls_termination, bind }: ServerConfig,
  options: ExposureOptions,
): readonly ExposureRefusal[] {
  if (transport === "stdio") return [];
  const refusals: ExposureRefusal[] = [];
  if (auth?.mode === "mtls" && tls_termination === "upstream" && options.trustedProxies === 0) {
    refusals.push({
      message:
        "Cannot listen: server.auth.mode is mtls and TLS ends upstream, but nobody is trusted to name the subject",
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

/** One thing that is said at the start. */
export interface ExposureNotice {
  readonly level: "info" | "warn";
  readonly message: string;
}

/** What is said at the start about who can reach the service. */
export function exposureNotices(server: ServerConfig, options: ExposureOptions): readonly ExposureNotice[] {
  const { auth, tls_termination, bind, transport } = server;
  if (transport === "stdio") return [];
  const notices: ExposureNotice[] = [];
  const say = (level: ExposureNotice["level"], message: string): number => notices.push({ level, message });
  if (transport === "sse") say("warn", 'server.transport "sse" is deprecated: use "http"');
  if (options.trustedProxies > 0 && (auth?.mode !== "mtls" || tls_termination !== "upstream")) {
    say(
      "warn",
      '--trusted-proxy has no effect: it takes server.auth.mode "mtls" and server.tls_termination "upstream"',
    );
  }
  const isLoopback = isLoopbackAddress(parseBind(bind ?? "")?.hostname ?? "");
  if (!isLoopback) say("warn", `listening on ${bind}: reachable from other machines`);
  else if (isForwarded(server)) {
    say(
      "info",
      `listening on ${bind}: reachable from this machine, and from others where a proxy on it passes them on`,
    );
  } else {
    say("info", `listening on ${bind}: reachable from this machine alone`);
    return notices;
  }
  for (const message of defences(server)) say("info", message);
  if (server.limits.rate_limit === null) {
    say("warn", "server.limits.rate_limit is not set: one caller may send as many requests as it likes");
  }
  if (options.allowedHosts === 0) say("info", "no --allowed-host: only this machine's own names are answered");
  return notices;
}

/** Whether a proxy may speak for others: with `local_only` what one has passed on is refused. */
function isForwarded({ auth, tls_termination }: ServerConfig): boolean {
  return tls_termination === "upstream" || (auth?.mode ?? "local_only") !== "local_only";
}

/** What stands between callers and the tools. */
function defences({ auth, tls, tls_termination, audit, limits }: ServerConfig): readonly string[] {
  const clients = (tls?.client_ca_path ?? null) === null
    ? "no client certificates"
    : `client certificates ${tls?.require_client_cert === true ? "required" : "optional"}`;
  const here = tls === null ? "no TLS" : `TLS ends here, ${clients}`;
  return [
    `authentication ${auth?.mode ?? "local_only"}; ${tls_termination === "upstream" ? "TLS ends upstream" : here}`,
    `audit ${audit.enabled ? audit.path ?? "on standard error" : "off"}; ` +
    `rate limit ${limits.rate_limit === null ? "off" : "on"}`,
  ];
}

const TRUE_WORDS = ["1", "true", "yes", "y", "on"];
const FALSE_WORDS = ["0", "false", "no", "n", "off", ""];

/** Reads `GATE_ALLOW_NON_LOOPBACK`; null for what is neither yes nor no. */
export function readAllowNonLoopback(value: string | undefined): boolean | null {
  const word = (value ?? "").trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : null;
}
