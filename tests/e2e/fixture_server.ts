/**
 * Serves the fixture tools with the real machinery. Its one argument is JSON: `{"docs": bool, "server": {...}}`,
 * whose members replace those of a plain server configuration, and `"http": {...}` for the transports over HTTP.
 *
 * @module
 */

import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import type { ServerConfig } from "@/config/types.ts";
import { createDocumentation } from "@/docs/documentation.ts";
import { host } from "@/server/host.ts";
import { CONNECTION_BOUNDS, type ConnectionBounds } from "@/server/http/listener.ts";
import { readNetworks } from "@/server/audit/peers.ts";
import { offerWith } from "@/server/protocol/offer.ts";
import { fixtureTools } from "./fixture_tools.ts";

const PLAIN: ServerConfig = {
  transport: "stdio",
  bind: null,
  mode: "strict",
  tls: null,
  tls_termination: "server",
  tools: { mode: "filter", allowlist: [], denylist: [] },
  audit: { enabled: false, log_precheck_payloads: false, path: null },
  feedback: {
    scenario_next: {
      default: "summary",
      local_only_default: "trace",
      max: "trace",
      trace_subjects: [],
      trace_roles: [],
      evidence_subjects: [],
      evidence_roles: [],
    },
  },
  auth: null,
  max_body_bytes: 1 << 20,
  limits: { max_inflight: 256, rate_limit: null },
  state_keys: [],
};

interface FixtureOptions {
  readonly server?: Partial<ServerConfig>;
  /** Text of the error with which the tools cannot be loaded. */
  readonly broken?: string;
  /** Offers documents and prompts as well; needs permission to read. */
  readonly docs?: boolean;
  readonly http?: {
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
    readonly trustedProxies?: readonly string[];
    readonly bounds?: Partial<ConnectionBounds>;
    /** Names of stores that are not ready. */
    readonly unready?: readonly string[];
  };
}

const given = JSON.parse(Deno.args[0] ?? "{}") as FixtureOptions;

const networks = readNetworks(given.http?.trustedProxies ?? []);

Deno.exit(
  await host({
    server: { ...PLAIN, ...given.server },
    logLevel: "debug",
    ...(given.docs === true ? { offer: offerWith(createDocumentation(DEFAULT_SETTINGS.docs), () => true) } : {}),
    http: {
      allowedHosts: given.http?.allowedHosts ?? [],
      allowedOrigins: given.http?.allowedOrigins ?? [],
      isTrustedProxy: typeof networks === "function" ? networks : () => false,
      folders: [],
      bounds: { ...CONNECTION_BOUNDS, ...given.http?.bounds },
    },
    loadRuntime: () => {
      if (given.broken !== undefined) return Promise.reject(new Error(given.broken));
      return Promise.resolve({
        tools: fixtureTools(),
        unready: () => Promise.resolve(given.http?.unready ?? []),
        close: () => Promise.resolve(console.info("stores closed")),
      });
    },
  }),
);
