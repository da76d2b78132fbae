/** The security posture of a configuration, which every start logs. */

import { offeredTools } from "../../access/offered_tools.ts";
import { ROLE_NAMES } from "../../access/roles.ts";
import { isLiteralToken } from "../../config/bearer_tokens.ts";
import { formatPath, type SettingPath } from "../../config/problems.ts";
import { describeUrl } from "../../config/postgres_address.ts";
import type { PrincipalConfig, RegistryAclConfig } from "../../config/types.ts";
import { TOOL_NAMES } from "../../config/tool_names.ts";
import type { GateConfig } from "../../config/types.ts";
import { authenticationOf } from "../../server/exposure.ts";
import type { LogLevel } from "../../server/process/log.ts";
import { isRuntimeExporting, RUNTIME_EXPORTS } from "../terminal/runtime_telemetry.ts";
import { exposedFiles } from "./exposed_files.ts";

/** One line for standard error. */
export interface PostureLine {
  readonly level: LogLevel;
  readonly message: string;
}

/** Where the principals of the configuration are. */
export const PRINCIPALS: SettingPath = ["server", "auth", "principals"];

/** Minimum characters of a bearer token: 16 random bytes are 22 characters in base64, and 32 in hex. */
const TOKEN_CHARACTERS = 22;

function sourceOf({ config_path, base_dir, run_state_store }: GateConfig): string {
  if (config_path !== null) return `configuration ${config_path}`;
  return run_state_store.type === "memory" ? "built-in defaults" : `starter configuration in ${base_dir}`;
}

/** Describes the security posture in a few lines; the first is a summary. */
export function securityPosture(config: GateConfig): readonly PostureLine[] {
  const { server, namespace, schema_registry: registry, validation } = config;
  const mode = server.auth?.mode ?? "local_only";
  const lines: PostureLine[] = [{
    level: "info",
    message: [
      sourceOf(config),
      `transport ${server.transport}`,
      `auth ${authenticationOf(server.auth)}`,
      `namespace 1 ${namespace.allow_default ? `open to tenants ${namespace.default_tenants.join(", ")}` : "refused"}`,
      `runs in ${storeName(config.run_state_store)}`,
      `schemas in ${storeName(registry)}`,
    ].join("; "),
  }];
  const add = (level: LogLevel, message: string): number => lines.push({ level, message });
  if ((server.auth?.principals.length ?? 0) === 0) {
    const isOAuth = server.auth?.oauth === true;
    const who = isOAuth ? "caller with a stored token" : "admitted caller";
    if (!isOAuth || server.auth?.bearer_tokens.length !== 0) {
      add("info", `server.auth.principals is empty: every ${who} may use every tool`);
    }
  }
  const ineffective = [...unknownRoles(config), ...ineffectiveAclSettings(registry.acl)];
  [...ineffective, ...exposedFiles(config), ...settingWarnings(config)].forEach((message) => add("warn", message));
  if (registry.acl.mode === "builtin" && registry.acl.allow_local_only) {
    add(
      mode === "local_only" ? "info" : "warn",
      "schema_registry.acl.allow_local_only: local callers may register schemas",
    );
  }
  if (config.run_state_store.type === "memory") {
    add("warn", 'run_state_store.type is "memory": every run is lost at exit');
  }
  if (config.run_state_store.type === "sqlite" && config.run_state_store.sync_mode === "normal") {
    add("warn", 'run_state_store.sync_mode is "normal": a power failure may lose the last commits');
  }
  if (!validation.strict) {
    add("warn", "validation.strict is false: precheck does not check conditions against the data shape");
  }
  if (!server.audit.enabled) add("warn", "server.audit.enabled is false: nothing is audited");
  if (server.audit.enabled && server.audit.log_precheck_payloads) {
    add("warn", "server.audit.log_precheck_payloads: the audit log contains the evidence of prechecks as it was sent");
  }
  if (isRuntimeExporting()) {
    add("warn", RUNTIME_EXPORTS);
  }
  const { runpack_storage: storage } = config;
  if (storage !== null) {
    const where = storage.endpoint ?? "the endpoint of its region";
    add("info", `runpack_storage: published runpacks are mirrored to bucket ${storage.bucket} at ${where}`);
    if (/^http:/i.test(where)) {
      add("warn", "runpack_storage.endpoint is http://: runpacks and session credentials are sent in clear text");
    }
  }
  const { ledger } = namespace.authority;
  if (ledger !== null && ledger.auth_token !== null && /^http:/i.test(ledger.base_url)) {
    add("warn", "namespace.authority.ledger.base_url is http://: auth_token is sent in clear text");
  }
  return lines;
}

/** Warns of roles that are neither built in nor used by another setting. Most are misspelt, and lock their subject out. */
export function unknownRoles(
  { server, schema_registry }: GateConfig,
  principals: readonly Pick<PrincipalConfig, "roles">[] = server.auth?.principals ?? [],
  place: SettingPath = PRINCIPALS,
): readonly string[] {
  const { trace_roles, evidence_roles } = server.feedback.scenario_next;
  const rules = schema_registry.acl.mode === "custom" ? schema_registry.acl.rules : [];
  const known = new Set([...ROLE_NAMES, ...trace_roles, ...evidence_roles, ...rules.flatMap(({ roles }) => roles)]);
  return principals.flatMap(({ roles }, principal) =>
    roles.flatMap(({ name }, index) => {
      if (known.has(name)) return [];
      const where = formatPath([...place, principal, "roles", index, "name"]);
      return [`${where}: role ${JSON.stringify(name)} grants nothing; built in are ${ROLE_NAMES.join(", ")}`];
    })
  );
}

/** Warns of access settings of the registry that the mode ignores. */
export function ineffectiveAclSettings(acl: RegistryAclConfig): readonly string[] {
  const { mode, allow_local_only, rules } = acl;
  const members: string[] = [];
  if (mode === "custom" && allow_local_only) members.push("allow_local_only");
  if (mode !== "custom" && rules.length > 0) members.push("rules");
  if (mode !== "custom" && acl.default === "allow") members.push("default");
  return members.map((member) =>
    `schema_registry.acl.${member} has no effect while schema_registry.acl.mode is "${mode}"`
  );
}

/** Warns if schemas must be signed while no key is configured: signatures with an unknown key are not verified. */
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

/** Warns of tool lists without a tool, weak bearer tokens, disclosed raw values, and exposed credentials. */
export function settingWarnings(config: GateConfig): readonly string[] {
  const { evidence, server } = config;
  return [
    ...offersTools(config) ? [] : ["server.tools and server.auth.allowed_tools allow no tool: nothing can be called"],
    ...unverifiedSchemas(config),
    ...server.transport === "sse" && config.run_state_store.type === "postgres"
      ? [
        'server.transport is "sse": a session belongs to one server, so the load balancer must send its messages there',
      ]
      : [],
    ...weakTokens(server.auth?.bearer_tokens ?? []),
    ...evidence.allow_raw_values && !evidence.require_provider_opt_in
      ? ["evidence.require_provider_opt_in is false: raw values of every provider are disclosed"]
      : [],
    ...config.dev.allow_dev_env_credentials
      ? [
        "dev.allow_dev_env_credentials is true: profiles of typed providers may send environment variables as credentials",
      ]
      : [],
    ...config.providers.flatMap(({ type, allow_insecure_http }, index) =>
      type === "typed" && allow_insecure_http
        ? [`providers[${index}].allow_insecure_http: checks and credentials may be sent in clear text`]
        : []
    ),
  ];
}

/** Warns of bearer tokens that stand in the file, can be guessed or are repeated. A message never contains a token. */
function weakTokens(tokens: readonly string[]): readonly string[] {
  const pathOf = (index: number): string => formatPath(["server", "auth", "bearer_tokens", index]);
  return tokens.flatMap((token, index) => [
    ...isLiteralToken(token)
      ? [`${pathOf(index)} is a token itself, so each reader of the file has it: expected sha256:HEX or env:NAME`]
      : [],
    ...isLiteralToken(token) && token.length < TOKEN_CHARACTERS
      ? [`${pathOf(index)} is short: 128 random bits need at least ${TOKEN_CHARACTERS} characters`]
      : [],
    ...tokens.indexOf(token) < index ? [`${pathOf(index)} is the same as ${pathOf(tokens.indexOf(token))}`] : [],
  ]);
}

/** Whether the lists of tools allow at least one served tool. */
function offersTools({ server, docs }: GateConfig): boolean {
  const isOffered = offeredTools(server);
  const hasSearch = docs.enabled && docs.enable_search;
  return TOOL_NAMES.some((name) => isOffered(name) && (hasSearch || name !== "gate_docs_search"));
}

function storeName({ path, url }: { readonly path: string | null; readonly url: string | null }): string {
  return url === null ? path ?? "memory" : describeUrl(url);
}
