/**
 * What the service lets callers do, said at every start.
 *
 * @module
 */

import type { GateConfig } from "../config/types.ts";
import type { LogLevel } from "../server/log.ts";

/** One line for standard error. */
export interface PostureLine {
  readonly level: LogLevel;
  readonly message: string;
}

/** The security posture of a configuration, in a few lines; the first is a summary. */
export function securityPosture(config: GateConfig): readonly PostureLine[] {
  const { server, namespace, schema_registry: registry, validation } = config;
  const mode = server.auth?.mode ?? "local_only";
  const lines: PostureLine[] = [{
    level: "info",
    message: [
      config.config_path === null ? "built-in defaults" : `configuration ${config.config_path}`,
      `transport ${server.transport}`,
      `auth ${mode}`,
      `namespace 1 ${namespace.allow_default ? `open to tenants ${namespace.default_tenants.join(", ")}` : "refused"}`,
      `runs in ${storeName(config.run_state_store.path)}`,
      `schemas in ${storeName(registry.path)}`,
    ].join("; "),
  }];
  const say = (level: LogLevel, message: string): number => lines.push({ level, message });
  if ((server.auth?.principals.length ?? 0) === 0) {
    say("info", "server.auth.principals is empty: every caller that is let in may use every tool");
  }
  if (registry.acl.mode === "builtin" && registry.acl.allow_local_only) {
    say(
      mode === "local_only" ? "info" : "warn",
      "schema_registry.acl.allow_local_only: local callers may register schemas",
    );
  }
  if (config.run_state_store.type === "memory") {
    say("warn", 'run_state_store.type is "memory": every run is forgotten at exit');
  }
  if (config.run_state_store.type === "sqlite" && config.run_state_store.sync_mode === "normal") {
    say("warn", 'run_state_store.sync_mode is "normal": a power failure may lose the last commits');
  }
  if (!validation.strict) say("warn", "validation.strict is false: comparators are not checked against types");
  if (!server.audit.enabled) say("warn", "server.audit.enabled is false: nothing is audited");
  if (server.audit.enabled && server.audit.log_precheck_payloads) {
    say("warn", "server.audit.log_precheck_payloads: evidence of prechecks stands in the audit log as it was sent");
  }
  const { ledger } = namespace.authority;
  if (ledger !== null && ledger.auth_token !== null && /^http:/i.test(ledger.base_url)) {
    say("warn", "namespace.authority.ledger.base_url is http://: auth_token crosses the network in the clear");
  }
  return lines;
}

function storeName(path: string | null): string {
  return path ?? "memory";
}
