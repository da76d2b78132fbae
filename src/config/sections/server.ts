/** The section `server`: its schema, and the rules over several of its members. */

import { boolean, integer, listOf, oneOf, orNull, type Read, type Reader, text } from "../../canonical/shape.ts";
import { described, orEmpty, patterned, table, withDefault } from "../../canonical/table_shape.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS, RATE_LIMIT_DEFAULTS } from "../defaults.ts";
import { TOKEN_FORMS } from "../bearer_tokens.ts";
import { isLoopbackAddress, parseBind } from "../bind.ts";
import { filled, path, strings, token } from "../primitives.ts";
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

const toolNames = listOf(oneOf(...TOOL_NAMES), 128);

const tls = table({
  cert_path: described(path(), "PEM file of the server's certificate chain."),
  key_path: described(path(), "PEM file of the server's private key."),
  client_ca_path: withDefault(orNull(path()), null, "PEM bundle of the authorities that sign client certificates."),
  require_client_cert: withDefault(boolean, true, "Reject clients without a certificate."),
}, "TLS of the listener.");

/** `server.tls`. */
export type TlsConfig = Read<typeof tls>;

const tools = table({
  mode: withDefault(
    oneOf("filter", "passthrough"),
    D.tools.mode,
    "filter: tools/list names the tools that allowlist and denylist permit; passthrough: it names all.",
  ),
  allowlist: withDefault(toolNames, [], "Tools that exist for clients; empty for all."),
  denylist: withDefault(toolNames, [], "Tools that do not exist for clients; wins over the allowlist."),
}, "Which tools exist for clients.");

/** `server.tools`. */
export type ToolsConfig = Read<typeof tools>;

const audit = table({
  enabled: withDefault(boolean, D.audit.enabled, "Write the structured JSON-lines audit log."),
  log_precheck_payloads: withDefault(boolean, D.audit.log_precheck_payloads, "Log the raw payloads of prechecks."),
  path: withDefault(orNull(path()), null, "File of the audit log; null for standard error."),
}, "The audit log.");

/** `server.audit`. */
export type AuditConfig = Read<typeof audit>;

const level = oneOf(...LEVELS);
const feedbackDefaults = D.feedback.scenario_next;

const scenarioNext = table({
  default: withDefault(level, feedbackDefaults.default, "Level for remote calls."),
  local_only_default: withDefault(level, feedbackDefaults.local_only_default, "Level for local calls."),
  max: withDefault(level, feedbackDefaults.max, "Highest level of any call; it also limits the two defaults."),
  trace_subjects: withDefault(
    listOf(text),
    [...feedbackDefaults.trace_subjects],
    "Subjects that may have the level trace.",
  ),
  trace_roles: strings(text, "Roles that may have the level trace."),
  evidence_subjects: strings(text, "Subjects that may have the level evidence."),
  evidence_roles: strings(text, "Roles that may have the level evidence."),
}, "Levels of feedback of scenario_next, and the callers that may have them.");

/** `server.feedback.scenario_next`. */
export type ScenarioNextFeedbackConfig = Read<typeof scenarioNext>;

/** A role of a principal. */
export const role = table({
  name: described(text, "Name of the role."),
  tenant_id: withDefault(orNull(integer(1)), null, "Tenant of the role; null for every tenant."),
  namespace_id: withDefault(orNull(integer(1)), null, "Namespace of the role; null for every namespace."),
});

/** `server.auth.principals[].roles[]`. */
export type RoleConfig = Read<typeof role>;

const principal = table({
  subject: described(filled(), "stdio, loopback, token:<SHA-256 of the token>, or an mTLS subject."),
  policy_class: withDefault(orNull(filled()), null, "Policy class; null and unknown classes count as prod."),
  roles: withDefault(listOf(role, 128), [], "Roles of the subject."),
});

/** `server.auth.principals[]`. */
export type PrincipalConfig = Read<typeof principal>;

const TOKEN_EXPECTED =
  'must be "sha256:" and 64 lower-case hex digits, "env:" and the name of a variable without "=", or a token';

const authTable = table({
  mode: withDefault(oneOf("local_only", "bearer_token", "mtls"), AUTH_DEFAULTS.mode, "How callers are authenticated."),
  bearer_tokens: withDefault(
    listOf(patterned(token(256), TOKEN_FORMS, TOKEN_EXPECTED), 64),
    [],
    "Accepted bearer tokens: `sha256:HEX` of one, `env:NAME` of a variable that holds one, or one itself.",
  ),
  mtls_subjects: withDefault(listOf(filled(512), 64), [], "Accepted client certificate subjects."),
  allowed_tools: withDefault(toolNames, [], "Tools that may be called; empty for all."),
  principals: withDefault(listOf(principal, 64), [], "Roles of each subject; empty for no role checks."),
}, "Authentication of callers.");

/** `server.auth`, and whether flags name issuers of access tokens beside it. */
export type AuthConfig = Read<typeof authTable> & { readonly oauth?: true };

const auth: Reader<AuthConfig> = authTable;

const rateLimit = table({
  max_requests: withDefault(integer(1, 100000), RATE_LIMIT_DEFAULTS.max_requests, "Requests in a window."),
  window_ms: withDefault(integer(100, 60000), RATE_LIMIT_DEFAULTS.window_ms, "Length of a window in milliseconds."),
  max_entries: withDefault(integer(1, 65536), RATE_LIMIT_DEFAULTS.max_entries, "Callers that are counted separately."),
}, "Rate limit for each caller; null for no limit.");

/** `server.limits.rate_limit`. */
export type RateLimitConfig = Read<typeof rateLimit>;

const limits = table({
  max_inflight: withDefault(integer(1), D.limits.max_inflight, "Concurrent requests."),
  rate_limit: withDefault(orNull(rateLimit), null),
}, "Limits on requests.");

/** `server.limits`. */
export type LimitsConfig = Read<typeof limits>;

/** The shape of `server`. */
export const serverSchema = table({
  transport: withDefault(oneOf("stdio", "http", "sse"), D.transport, "Transport of the server."),
  bind: withDefault(orNull(text), null, "IP:port to listen on; required for http and sse."),
  mode: withDefault(
    oneOf("strict", "dev_permissive"),
    D.mode,
    "dev_permissive is an older spelling of dev.permissive = true.",
  ),
  tls: withDefault(orNull(tls), null),
  tls_termination: withDefault(
    oneOf("server", "upstream"),
    D.tls_termination,
    "Where TLS ends: in gate, or in a proxy before it.",
  ),
  tools: orEmpty(tools),
  audit: orEmpty(audit),
  feedback: orEmpty(table({ scenario_next: orEmpty(scenarioNext) }), "Feedback of tools."),
  auth: withDefault(orNull(auth), null),
  max_body_bytes: withDefault(integer(1), D.max_body_bytes, "Bytes of one JSON-RPC request, on stdio of one line."),
  limits: orEmpty(limits),
  state_keys: withDefault(
    listOf(path(), 4),
    [],
    "Files of 32 random bytes, raw or base64, that sign cursors and seal tasks: the first signs, all verify. " +
      "Empty: unsigned cursors, no tasks.",
  ),
}, "Transport, authentication, limits and audit.");

/** `server`. */
export type ServerConfig = Read<typeof serverSchema>;

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
