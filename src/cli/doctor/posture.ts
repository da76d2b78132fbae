/**
 * What the service lets callers do, said at every start.
 *
 * @module
 */

import { offeredTools } from "../../access/offered_tools.ts";
import { ROLE_NAMES } from "../../access/roles.ts";
import { formatPath } from "../../config/problems.ts";
import type { RegistryAclConfig } from "../../config/types.ts";
import { TOOL_NAMES, UNAVAILABLE_TOOLS } from "../../config/tool_names.ts";
import type { GateConfig } from "../../config/types.ts";
import type { LogLevel } from "../../server/process/log.ts";
import { exposedFiles } from "./exposed_files.ts";

/** One line for standard error. */
export interface PostureLine {
  readonly level: LogLevel;
  readonly message: string;
}

/** The least characters of a bearer token: 16 random bytes have 22 in base64, 32 in hex. */
const TOKEN_CHARACTERS = 22;

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
  const idle = [...strangeRoles(config), ...idleAcl(registry.acl)];
  [...idle, ...exposedFiles(config), ...looseSettings(config)].forEach((message) => say("warn", message));
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
  if (!validation.strict) {
    say("warn", "validation.strict is false: precheck does not hold conditions against the data shape");
  }
  if (!server.audit.enabled) say("warn", "server.audit.enabled is false: nothing is audited");
  if (server.audit.enabled && server.audit.log_precheck_payloads) {
    say("warn", "server.audit.log_precheck_payloads: evidence of prechecks stands in the audit log as it was sent");
  }
  const { runpack_storage: storage } = config;
  if (storage !== null) {
    const where = storage.endpoint ?? "the endpoint of its region";
    say("info", `runpack_storage: published runpacks are mirrored to bucket ${storage.bucket} at ${where}`);
    if (/^http:/i.test(where)) {
      say(
        "warn",
        "runpack_storage.endpoint is http://: runpacks and credentials of a session cross the network in the clear",
      );
    }
  }
  const { ledger } = namespace.authority;
  if (ledger !== null && ledger.auth_token !== null && /^http:/i.test(ledger.base_url)) {
    say("warn", "namespace.authority.ledger.base_url is http://: auth_token crosses the network in the clear");
  }
  return lines;
}

/**
 * What is to be said of roles that are of no use: they are not built in, and no other setting speaks of them. Most are
 * misspelt, and lock their subject out.
 */
export function strangeRoles({ server, schema_registry }: GateConfig): readonly string[] {
  const { trace_roles, evidence_roles } = server.feedback.scenario_next;
  const rules = schema_registry.acl.mode === "custom" ? schema_registry.acl.rules : [];
  const known = new Set([...ROLE_NAMES, ...trace_roles, ...evidence_roles, ...rules.flatMap(({ roles }) => roles)]);
  return (server.auth?.principals ?? []).flatMap(({ roles }, principal) =>
    roles.flatMap(({ name }, index) => {
      if (known.has(name)) return [];
      const where = formatPath(["server", "auth", "principals", principal, "roles", index, "name"]);
      return [`${where}: role ${JSON.stringify(name)} grants nothing; built in are ${ROLE_NAMES.join(", ")}`];
    })
  );
}

/** What is to be said of the settings of one kind of access list while the other is in force. */
export function idleAcl({ mode, allow_local_only, rules, default: otherwise }: RegistryAclConfig): readonly string[] {
  const idle = mode === "custom"
    ? allow_local_only ? ["allow_local_only"] : []
    : [...rules.length > 0 ? ["rules"] : [], ...otherwise === "allow" ? ["default"] : []];
  return idle.map((member) =>
    `schema_registry.acl.${member} has no effect while schema_registry.acl.mode is "${mode}"`
  );
}

/** What is to be said where schemas have to be signed and no key is known: a signature under an unknown key is not verified. */
function unverifiedSchemas({ schema_registry, trust, providers }: GateConfig): readonly string[] {
  const isKnown = [trust.default_policy, ...providers.map(({ trust }) => trust)].some((policy) =>
    policy !== null && policy !== "audit"
  );
  if (!schema_registry.acl.require_signing || isKnown) return [];
  return [
    "schema_registry.acl.require_signing: no key is configured in trust.default_policy or providers[].trust, so the signatures of " +
    "schemas are not verified",
  ];
}

/** Names in the lists of tools that the configuration accepts and this version does not serve. */
export function unservedTools({ server: { tools, auth } }: GateConfig): readonly string[] {
  const lists = [
    ["server.tools.allowlist", tools.allowlist],
    ["server.tools.denylist", tools.denylist],
    ["server.auth.allowed_tools", auth?.allowed_tools ?? []],
  ] as const;
  return lists.flatMap(([list, names]) =>
    names.flatMap((name, index) =>
      UNAVAILABLE_TOOLS.includes(name) ? [`${list}[${index}]: this version does not serve the tool "${name}"`] : []
    )
  );
}

/**
 * What is to be said of names of tools that are not served, of lists that leave no tool, of bearer tokens, and of values
 * that every provider gives away.
 */
export function looseSettings(config: GateConfig): readonly string[] {
  const { evidence, server } = config;
  return [
    ...unservedTools(config),
    ...offersTools(config) ? [] : ["server.tools and server.auth.allowed_tools leave no tool: nothing can be called"],
    ...unverifiedSchemas(config),
    ...weakTokens(server.auth?.bearer_tokens ?? []),
    ...evidence.allow_raw_values && !evidence.require_provider_opt_in
      ? ["evidence.require_provider_opt_in is false: raw values of every provider are disclosed"]
      : [],
  ];
}

/** What is to be said of bearer tokens that can be guessed, or stand twice; a token itself is never told. */
function weakTokens(tokens: readonly string[]): readonly string[] {
  const place = (index: number): string => formatPath(["server", "auth", "bearer_tokens", index]);
  return tokens.flatMap((token, index) => [
    ...token.length < TOKEN_CHARACTERS
      ? [`${place(index)} is short: ${TOKEN_CHARACTERS} characters are the least that hold 128 bits of chance`]
      : [],
    ...tokens.indexOf(token) < index ? [`${place(index)} is the same as ${place(tokens.indexOf(token))}`] : [],
  ]);
}

/** Whether the lists of tools leave any that there is. */
function offersTools({ server, docs }: GateConfig): boolean {
  const isOffered = offeredTools(server);
  const missing = docs.enabled && docs.enable_search ? UNAVAILABLE_TOOLS : [...UNAVAILABLE_TOOLS, "gate_docs_search"];
  return TOOL_NAMES.some((name) => isOffered(name) && !missing.includes(name));
}

function storeName(path: string | null): string {
  return path ?? "memory";
}
