/**
 * The section `server`: its schema, and the rules over several of its members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS, RATE_LIMIT_DEFAULTS } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { isLoopbackAddress, parseBind } from "../bind.ts";
import { integer, path, strings, text, token } from "../primitives.ts";
import { quoteShort, type Report } from "../problems.ts";
import {
  all,
  any,
  forbids,
  is,
  isFilled,
  isText,
  matches,
  not,
  requires,
  type Rule,
  type Statement,
  uniqueMembers,
} from "../rules.ts";
import { at } from "../toml_tree.ts";
import { TOOL_NAMES } from "../tool_names.ts";
import { FEEDBACK_LEVELS as LEVELS } from "../feedback_levels.ts";

const D = DEFAULT_SETTINGS.server;

const toolNames = z.array(z.enum(TOOL_NAMES)).max(128);

const tls = z.strictObject({
  cert_path: path().describe("PEM file of the server's certificate chain."),
  key_path: path().describe("PEM file of the server's private key."),
  client_ca_path: path().nullable().default(null).describe(
    "PEM bundle of the authorities that sign client certificates.",
  ),
  require_client_cert: z.boolean().default(true).describe("Reject clients without a certificate."),
}).describe("TLS of the listener.");

/** `server.tls`. */
export type TlsConfig = DeepReadonly<z.output<typeof tls>>;

const tools = z.strictObject({
  mode: z.enum(["filter", "passthrough"]).default(D.tools.mode)
    .describe("filter: tools/list names the tools that allowlist and denylist permit; passthrough: it names all."),
  allowlist: toolNames.default([]).describe("Tools that exist for clients; empty for all."),
  denylist: toolNames.default([]).describe("Tools that do not exist for clients; wins over the allowlist."),
}).describe("Which tools exist for clients.");

/** `server.tools`. */
export type ToolsConfig = DeepReadonly<z.output<typeof tools>>;

const audit = z.strictObject({
  enabled: z.boolean().default(D.audit.enabled).describe("Write the structured JSON-lines audit log."),
  log_precheck_payloads: z.boolean().default(D.audit.log_precheck_payloads).describe(
    "Log the raw payloads of prechecks.",
  ),
  path: path().nullable().default(null).describe("File of the audit log; null for standard error."),
}).describe("The audit log.");

/** `server.audit`. */
export type AuditConfig = DeepReadonly<z.output<typeof audit>>;

const level = z.enum(LEVELS);
const feedbackDefaults = D.feedback.scenario_next;

const scenarioNext = z.strictObject({
  default: level.default(feedbackDefaults.default).describe("Level for remote calls."),
  local_only_default: level.default(feedbackDefaults.local_only_default).describe("Level for local calls."),
  max: level.default(feedbackDefaults.max).describe("Highest level of any call; it also limits the two defaults."),
  trace_subjects: z.array(z.string()).default([...feedbackDefaults.trace_subjects]).describe(
    "Subjects that may have the level trace.",
  ),
  trace_roles: strings(z.string()).describe("Roles that may have the level trace."),
  evidence_subjects: strings(z.string()).describe("Subjects that may have the level evidence."),
  evidence_roles: strings(z.string()).describe("Roles that may have the level evidence."),
}).describe("Levels of feedback of scenario_next, and the callers that may have them.");

/** `server.feedback.scenario_next`. */
export type ScenarioNextFeedbackConfig = DeepReadonly<z.output<typeof scenarioNext>>;

const role = z.strictObject({
  name: z.string().describe("Name of the role."),
  tenant_id: integer(1).nullable().default(null).describe("Tenant of the role; null for every tenant."),
  namespace_id: integer(1).nullable().default(null).describe("Namespace of the role; null for every namespace."),
});

/** `server.auth.principals[].roles[]`. */
export type RoleConfig = DeepReadonly<z.output<typeof role>>;

const principal = z.strictObject({
  subject: text().describe("stdio, loopback, token:<SHA-256 of the token>, or an mTLS subject."),
  policy_class: text().nullable().default(null).describe("Policy class; null and unknown classes count as prod."),
  roles: z.array(role).max(128).default([]).describe("Roles of the subject."),
});

/** `server.auth.principals[]`. */
export type PrincipalConfig = DeepReadonly<z.output<typeof principal>>;

const auth = z.strictObject({
  mode: z.enum(["local_only", "bearer_token", "mtls"]).default(AUTH_DEFAULTS.mode).describe(
    "How callers are authenticated.",
  ),
  bearer_tokens: z.array(token().max(256)).max(64).default([]).describe("Accepted bearer tokens."),
  mtls_subjects: z.array(text().max(512)).max(64).default([]).describe("Accepted client certificate subjects."),
  allowed_tools: toolNames.default([]).describe("Tools that may be called; empty for all."),
  principals: z.array(principal).max(64).default([]).describe("Roles of each subject; empty for no role checks."),
}).describe("Authentication of callers.");

/** `server.auth`. */
export type AuthConfig = DeepReadonly<z.output<typeof auth>>;

const rateLimit = z.strictObject({
  max_requests: integer(1, 100000).default(RATE_LIMIT_DEFAULTS.max_requests).describe("Requests in a window."),
  window_ms: integer(100, 60000).default(RATE_LIMIT_DEFAULTS.window_ms).describe("Length of a window in milliseconds."),
  max_entries: integer(1, 65536).default(RATE_LIMIT_DEFAULTS.max_entries).describe(
    "Callers that are counted separately.",
  ),
}).describe("Rate limit for each caller; null for no limit.");

/** `server.limits.rate_limit`. */
export type RateLimitConfig = DeepReadonly<z.output<typeof rateLimit>>;

const limits = z.strictObject({
  max_inflight: integer(1).default(D.limits.max_inflight).describe("Concurrent requests."),
  rate_limit: rateLimit.nullable().default(null),
}).describe("Limits on requests.");

/** `server.limits`. */
export type LimitsConfig = DeepReadonly<z.output<typeof limits>>;

/** The shape of `server`. */
export const serverSchema = z.strictObject({
  transport: z.enum(["stdio", "http", "sse"]).default(D.transport).describe(
    "Transport of the server.",
  ),
  bind: z.string().nullable().default(null).describe("IP:port to listen on; required for http and sse."),
  mode: z.enum(["strict", "dev_permissive"]).default(D.mode).describe(
    "dev_permissive is an older spelling of dev.permissive = true.",
  ),
  tls: tls.nullable().default(null),
  tls_termination: z.enum(["server", "upstream"]).default(D.tls_termination).describe(
    "Where TLS ends: in gate, or in a proxy before it.",
  ),
  tools: tools.prefault({}),
  audit: audit.prefault({}),
  feedback: z.strictObject({ scenario_next: scenarioNext.prefault({}) }).prefault({}).describe("Feedback of tools."),
  auth: auth.nullable().default(null),
  max_body_bytes: integer(1).default(D.max_body_bytes).describe("Bytes of one JSON-RPC request, on stdio of one line."),
  limits: limits.prefault({}),
  state_keys: z.array(path()).max(4).default([]).describe(
    "Files of 32 random bytes, raw or base64, that sign cursors and seal tasks: the first signs, all verify. " +
      "Empty: unsigned cursors, no tasks.",
  ),
}).describe("Transport, authentication, limits and audit.");

/** `server`. */
export type ServerConfig = DeepReadonly<z.output<typeof serverSchema>>;

const TRANSPORT = ["transport"];
const AUTH_MODE = ["auth", "mode"];
const ON_STDIO = is(TRANSPORT, ["stdio"], D.transport);
const ON_NETWORK = is(TRANSPORT, ["http", "sse"], D.transport);
const IS_UPSTREAM = is(["tls_termination"], ["upstream"], D.tls_termination);

function authenticates(mode: AuthConfig["mode"]): Statement {
  return is(AUTH_MODE, [mode], AUTH_DEFAULTS.mode);
}

/** An IPv4 address and a port. The pattern accepts every text in brackets that consists of characters of an IPv6 address. */
const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const PORT = "(?:0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const REST = `(?:\\.${BYTE}){3}:${PORT}$`;
const IPV6 = `\\[[0-9A-Fa-f:.]+\\]:${PORT}$`;
const OTHER_BYTE = "(?:25[0-5]|2[0-4][0-9]|1(?:[013-9][0-9]|2[0-689])|[1-9]?[0-9])";

const BIND = isText(["bind"], (bind) => parseBind(bind) !== null, `^(?:${BYTE}${REST}|${IPV6})`);
const IS_LOOPBACK = isText(["bind"], (bind) => isLoopback(bind) !== false, `^(?:127${REST}|${IPV6})`);
const IS_OPEN = isText(["bind"], (bind) => isLoopback(bind) === false, `^${OTHER_BYTE}${REST}`);

/** Whether an address is a loopback address; null where the text is not an address. */
function isLoopback(bind: string): boolean | null {
  const address = parseBind(bind);
  return address === null ? null : isLoopbackAddress(address.hostname);
}

function shownBind(server: unknown): string {
  return quoteShort(at(server, ["bind"]));
}

const networkRules: readonly Rule[] = [
  requires(["bind"], ON_NETWORK, (server) => `is required when server.transport is "${at(server, TRANSPORT)}"`),
  {
    when: all(ON_NETWORK, isText(["bind"], () => true, "")),
    then: BIND,
    at: ["bind"],
    message: (server) => `must be an IP address and a port such as "127.0.0.1:8080", got ${shownBind(server)}`,
  },
  {
    when: all(ON_NETWORK, authenticates("local_only"), BIND),
    then: IS_LOOPBACK,
    at: ["bind"],
    message: (server) => `must be a loopback address when server.auth.mode is "local_only", got ${shownBind(server)}`,
  },
];

/** The place where TLS ends, and the check of client certificates. */
const tlsRules: readonly Rule[] = [
  forbids(["tls"], all(ON_NETWORK, IS_UPSTREAM), 'must not be set when server.tls_termination is "upstream"'),
  requires(
    ["tls", "client_ca_path"],
    all(ON_NETWORK, not(IS_UPSTREAM), authenticates("mtls")),
    'is required when server.auth.mode is "mtls" and server.tls_termination is "server"',
  ),
  requires(
    ["tls"],
    all(ON_NETWORK, not(IS_UPSTREAM), authenticates("bearer_token"), IS_OPEN),
    'is required when server.bind is not a loopback address, unless server.tls_termination is "upstream"',
  ),
  {
    when: all(ON_NETWORK, not(IS_UPSTREAM), authenticates("mtls"), IS_OPEN),
    then: not(is(["tls", "require_client_cert"], [false])),
    at: ["tls", "require_client_cert"],
    message: 'must be true when server.auth.mode is "mtls" and server.bind is not a loopback address',
  },
];

/** The rules over several members of `server`. */
export const serverRules: readonly Rule[] = [
  {
    when: ON_STDIO,
    then: not(any(authenticates("bearer_token"), authenticates("mtls"))),
    at: AUTH_MODE,
    message: (server) => `must be "local_only" when server.transport is "stdio", got "${at(server, AUTH_MODE)}"`,
  },
  forbids(["tls"], ON_STDIO, 'must not be set when server.transport is "stdio"'),
  ...networkRules,
  ...tlsRules,
  ...([["bearer_token", "bearer_tokens"], ["mtls", "mtls_subjects"]] as const).map(([mode, list]): Rule => ({
    when: authenticates(mode),
    then: isFilled(["auth", list]),
    at: ["auth", list],
    message: `must have at least 1 item when server.auth.mode is "${mode}"`,
  })),
  {
    each: ["auth", "principals"],
    rules: [{
      when: matches(["subject"], "^token:"),
      then: matches(["subject"], "^token:[0-9a-f]{64}$"),
      at: ["subject"],
      message: 'must be "token:" and the SHA-256 of the token as 64 lower-case hex digits',
    }],
  },
];

/** Reports repeated subjects, which no rule over members can express. */
export function principalChecks(tree: unknown, report: Report): void {
  uniqueMembers(tree, ["server", "auth", "principals"], "subject", report);
}
