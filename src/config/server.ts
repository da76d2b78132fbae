/**
 * The section `server`: its schema, and the rules over several of its members.
 *
 * @module
 */

import { z } from "zod";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS, RATE_LIMIT_DEFAULTS } from "./defaults.ts";
import { isLoopbackAddress, parseBind } from "./bind.ts";
import { integer, path, strings, text, token } from "./primitives.ts";
import { quoteShort, type Report } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";
import { TOOL_NAMES } from "./tool_names.ts";
import { FEEDBACK_LEVELS as LEVELS } from "./server_types.ts";

const D = DEFAULT_SETTINGS.server;

const toolNames = z.array(z.enum(TOOL_NAMES)).max(128);

const tls = z.strictObject({
  cert_path: path().describe("PEM file of the server's certificate chain."),
  key_path: path().describe("PEM file of the server's private key."),
  client_ca_path: path().nullable().default(null).describe(
    "PEM bundle of the authorities that sign client certificates.",
  ),
  require_client_cert: z.boolean().default(true).describe("Refuse clients without a certificate."),
}).describe("TLS of the listener.");

const tools = z.strictObject({
  mode: z.enum(["filter", "passthrough"]).default(D.tools.mode)
    .describe("filter: tools/list names the tools that allowlist and denylist leave; passthrough: it names all."),
  allowlist: toolNames.default([]).describe("Tools that exist for clients; empty for all."),
  denylist: toolNames.default([]).describe("Tools that do not exist for clients; wins over the allowlist."),
}).describe("Which tools exist for clients.");

const audit = z.strictObject({
  enabled: z.boolean().default(D.audit.enabled).describe("Write the structured JSON-lines audit log."),
  log_precheck_payloads: z.boolean().default(D.audit.log_precheck_payloads).describe(
    "Log the raw payloads of prechecks.",
  ),
  path: path().nullable().default(null).describe("File of the audit log; null for standard error."),
}).describe("The audit log.");

const level = z.enum(LEVELS);
const feedbackDefaults = D.feedback.scenario_next;

const scenarioNext = z.strictObject({
  default: level.default(feedbackDefaults.default).describe("Level for calls that are not local."),
  local_only_default: level.default(feedbackDefaults.local_only_default).describe("Level for local calls."),
  max: level.default(feedbackDefaults.max).describe("The highest level for any call; it lowers the two defaults too."),
  trace_subjects: z.array(z.string()).default([...feedbackDefaults.trace_subjects]).describe(
    "Subjects that may have trace.",
  ),
  trace_roles: strings(z.string()).describe("Roles that may have trace."),
  evidence_subjects: strings(z.string()).describe("Subjects that may have evidence."),
  evidence_roles: strings(z.string()).describe("Roles that may have evidence."),
}).describe("How much scenario_next tells, and whom.");

const role = z.strictObject({
  name: z.string().describe("Name of the role."),
  tenant_id: integer(1).nullable().default(null).describe("Tenant that it holds for; null for every one."),
  namespace_id: integer(1).nullable().default(null).describe("Namespace that it holds for; null for every one."),
});

const principal = z.strictObject({
  subject: text().describe("stdio, loopback, token:<sha256 of the token>, or an mTLS subject."),
  policy_class: text().nullable().default(null).describe("Policy class; null and unknown ones count as prod."),
  roles: z.array(role).max(128).default([]).describe("Roles of the subject."),
});

const auth = z.strictObject({
  mode: z.enum(["local_only", "bearer_token", "mtls"]).default(AUTH_DEFAULTS.mode).describe(
    "How callers are told apart.",
  ),
  bearer_tokens: z.array(token().max(256)).max(64).default([]).describe("Accepted bearer tokens."),
  mtls_subjects: z.array(text().max(512)).max(64).default([]).describe("Accepted client certificate subjects."),
  allowed_tools: toolNames.default([]).describe("Tools that may be called; empty for all."),
  principals: z.array(principal).max(64).default([]).describe("What each subject may do; empty for no role checks."),
}).describe("Who may call.");

const rateLimit = z.strictObject({
  max_requests: integer(1, 100000).default(RATE_LIMIT_DEFAULTS.max_requests).describe("Requests in a window."),
  window_ms: integer(100, 60000).default(RATE_LIMIT_DEFAULTS.window_ms).describe("Length of a window in milliseconds."),
  max_entries: integer(1, 65536).default(RATE_LIMIT_DEFAULTS.max_entries).describe("Callers that are counted apart."),
}).describe("Requests that one caller may send; null for no limit.");

const limits = z.strictObject({
  max_inflight: integer(1).default(D.limits.max_inflight).describe("Requests in work at one time."),
  rate_limit: rateLimit.nullable().default(null),
}).describe("Limits on requests.");

/** The shape of `server`. */
export const serverSchema = z.strictObject({
  transport: z.enum(["stdio", "http", "sse"]).default(D.transport).describe(
    "The transport that the tools are served over.",
  ),
  bind: z.string().nullable().default(null).describe("IP:port to listen on; required for http and sse."),
  mode: z.enum(["strict", "dev_permissive"]).default(D.mode).describe("Older spelling of dev.permissive."),
  tls: tls.nullable().default(null),
  tls_termination: z.enum(["server", "upstream"]).default(D.tls_termination).describe("Where TLS ends."),
  tools: tools.prefault({}),
  audit: audit.prefault({}),
  feedback: z.strictObject({ scenario_next: scenarioNext.prefault({}) }).prefault({}).describe("Feedback of tools."),
  auth: auth.nullable().default(null),
  max_body_bytes: integer(1).default(D.max_body_bytes).describe("Bytes of one JSON-RPC request; on stdio of one line."),
  limits: limits.prefault({}),
}).describe("Transport, authentication, limits and audit.");

/** The rules over several members of `server` (interface "Authentication"; transport and bind rules). */
export function serverRules(tree: unknown, report: Report): void {
  const transport = at(tree, ["server", "transport"]) ?? D.transport;
  if (transport === "stdio") stdioRules(tree, report);
  if (transport === "http" || transport === "sse") {
    bindRules(tree, transport, report);
    tlsRules(tree, report);
  }
  authRules(tree, report);
}

function authMode(tree: unknown): unknown {
  return at(tree, ["server", "auth", "mode"]) ?? AUTH_DEFAULTS.mode;
}

function stdioRules(tree: unknown, report: Report): void {
  const mode = authMode(tree);
  if (mode === "bearer_token" || mode === "mtls") {
    report(["server", "auth", "mode"], `must be "local_only" when server.transport is "stdio", got "${mode}"`);
  }
  if (at(tree, ["server", "tls"]) !== undefined) {
    report(["server", "tls"], 'must not be set when server.transport is "stdio"');
  }
}

function bindRules(tree: unknown, transport: string, report: Report): void {
  const bind = at(tree, ["server", "bind"]);
  if (bind === undefined) {
    report(["server", "bind"], `is required when server.transport is "${transport}"`);
  } else if (typeof bind === "string") {
    const parsed = parseBind(bind);
    if (parsed === null) {
      report(["server", "bind"], `must be an IP address and a port such as "127.0.0.1:8080", got ${quoteShort(bind)}`);
    } else if (authMode(tree) === "local_only" && !isLoopbackAddress(parsed.hostname)) {
      report(
        ["server", "bind"],
        `must be a loopback address when server.auth.mode is "local_only", got ${quoteShort(bind)}`,
      );
    }
  }
}

/** Where TLS ends, and who checks client certificates. */
function tlsRules(tree: unknown, report: Report): void {
  const mode = authMode(tree);
  const tls = at(tree, ["server", "tls"]);
  if ((at(tree, ["server", "tls_termination"]) ?? D.tls_termination) === "upstream") {
    if (tls !== undefined) report(["server", "tls"], 'must not be set when server.tls_termination is "upstream"');
    return;
  }
  if (mode === "mtls" && at(tls, ["client_ca_path"]) === undefined) {
    report(
      ["server", "tls", "client_ca_path"],
      'is required when server.auth.mode is "mtls" and server.tls_termination is "server"',
    );
  }
  const bind = at(tree, ["server", "bind"]);
  const address = typeof bind === "string" ? parseBind(bind) : null;
  if (address === null || isLoopbackAddress(address.hostname)) return;
  if (mode === "bearer_token" && tls === undefined) {
    report(
      ["server", "tls"],
      'is required when server.bind is not a loopback address, unless server.tls_termination is "upstream"',
    );
  }
  if (mode === "mtls" && at(tls, ["require_client_cert"]) === false) {
    report(
      ["server", "tls", "require_client_cert"],
      'must be true when server.auth.mode is "mtls" and server.bind is not a loopback address',
    );
  }
}

function authRules(tree: unknown, report: Report): void {
  const needed = { bearer_token: "bearer_tokens", mtls: "mtls_subjects" } as const;
  for (const [mode, member] of Object.entries(needed)) {
    const given = at(tree, ["server", "auth", member]) ?? [];
    if (authMode(tree) === mode && Array.isArray(given) && given.length === 0) {
      report(["server", "auth", member], `must have at least 1 item when server.auth.mode is "${mode}"`);
    }
  }
  const seen = new Map<unknown, number>();
  arrayAt(tree, ["server", "auth", "principals"]).forEach((entry, index) => {
    const subject = at(entry, ["subject"]);
    if (typeof subject !== "string") return;
    if (/^token:(?![0-9a-f]{64}$)/s.test(subject)) {
      report(
        ["server", "auth", "principals", index, "subject"],
        'must be "token:" and the SHA-256 of the token as 64 lower-case hex digits',
      );
    }
    const first = seen.get(subject);
    if (first === undefined) seen.set(subject, index);
    else {report(
        ["server", "auth", "principals", index, "subject"],
        `must be unique, but principals[${first}] has the same`,
      );}
  });
}
