/** Configurations as trees, for the tests of the loader and of the published schema. */

import type { Report } from "./problems.ts";
import { formatProblem, problemCollector } from "./problems.ts";
import { checkSettings } from "./schema.ts";

/** A table of a configuration. */
export type Tree = { readonly [name: string]: unknown };

/** A single provider of type `mcp`. */
export const MCP: Tree = {
  providers: [{ name: "x", type: "mcp", url: "https://x.example", capabilities_path: "x.json" }],
};

/** A copy of a tree with one member set, such as `providers[0].name`. */
export function put(tree: Tree, path: string, value: unknown): Tree {
  const copy = structuredClone(tree) as Record<string, unknown>;
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  let node = copy;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const isItem = /^\d+$/.test(steps[index + 1] ?? "");
    node[step] ??= isItem ? [] : {};
    node = node[step] as Record<string, unknown>;
  }
  node[steps.at(-1) ?? ""] = value;
  return copy;
}

/** The problems that the loader reports for a tree; they do not depend on the machine. */
export async function linesOf(tree: unknown): Promise<readonly string[]> {
  const { report, problems } = problemCollector();
  await loaderOf(tree, report);
  return problems().map(formatProblem);
}

async function loaderOf(tree: unknown, report: Report): Promise<void> {
  await checkSettings(tree, report);
}

const LEDGER: Tree = {
  namespace: { authority: { mode: "ledger_http", ledger: { base_url: "https://names.example" } } },
};
const S3: Tree = { runpack_storage: { type: "object_store", provider: "s3", bucket: "b" } };
const HTTP: Tree = { server: { transport: "http", bind: "127.0.0.1:8080" } };
const LIMIT: Tree = { server: { limits: { rate_limit: {} } } };
const ROLE: Tree = { server: { auth: { principals: [{ subject: "s", roles: [{ name: "r" }] }] } } };
const DATABASE: Tree = { type: "postgres", url: "env:DATABASE_URL" };
const POSTGRES: Tree = { run_state_store: { ...DATABASE }, schema_registry: { ...DATABASE } };
const ACL: Tree = { schema_registry: { acl: { rules: [{ effect: "allow" }] } } };
const RULE: Tree = { policy: { engine: "static", static: { rules: [{ effect: "deny", stage_ids: ["s"] }] } } };
const TARGET: Tree = {
  policy: { engine: "static", static: { rules: [{ effect: "deny", targets: [{ target_kind: "agent" }] }] } },
};

function builtin(name: string, config: Tree = {}): Tree {
  return { providers: [{ name, type: "builtin", config }] };
}

const JSON_FILES = builtin("json", { root: "r", root_id: "r" });
const STORE = ["busy_timeout_ms 0", "batch_max_bytes 1", "batch_max_ops 1", "batch_max_wait_ms 1", "read_pool_size 1"];

/** A number, the members that its table requires, its minimum and maximum; without a maximum, the largest safe integer. */
export const NUMBERS: readonly (readonly [path: string, base: Tree, least: number, most?: number])[] = [
  ["server.max_body_bytes", {}, 1],
  ["server.limits.max_inflight", {}, 1],
  ["server.limits.rate_limit.max_requests", LIMIT, 1, 100000],
  ["server.limits.rate_limit.window_ms", LIMIT, 100, 60000],
  ["server.limits.rate_limit.max_entries", LIMIT, 1, 65536],
  ["server.auth.principals[0].roles[0].tenant_id", ROLE, 1],
  ["server.auth.principals[0].roles[0].namespace_id", ROLE, 1],
  ["docs.max_doc_bytes", {}, 1, 1048576],
  ["docs.max_docs", {}, 1, 256],
  ["docs.max_sections", {}, 1, 10],
  ["docs.max_total_bytes", {}, 1, 8388608],
  ["provider_discovery.max_response_bytes", {}, 1],
  ["schema_registry.max_schema_bytes", {}, 1, 10485760],
  ["schema_registry.max_entries", {}, 1],
  ["schema_registry.acl.rules[0].tenants[0]", ACL, 1],
  ["schema_registry.acl.rules[0].namespaces[0]", ACL, 1],
  ["run_state_store.max_versions", {}, 1],
  ...["run_state_store", "schema_registry"].flatMap((store) =>
    [...STORE, "writer_queue_capacity 1"].map((row): [string, Tree, number] => {
      const [member, least] = row.split(" ");
      return [`${store}.${member}`, {}, Number(least)];
    })
  ),
  ["run_state_store.connections", POSTGRES, 1, 64],
  ["schema_registry.connections", POSTGRES, 1, 64],
  ["dev.permissive_ttl_days", {}, 1],
  ["namespace.default_tenants[0]", {}, 1],
  ["namespace.authority.ledger.connect_timeout_ms", LEDGER, 100, 10000],
  ["namespace.authority.ledger.request_timeout_ms", LEDGER, 500, 30000],
  ["providers[0].timeouts.connect_timeout_ms", MCP, 100, 10000],
  ["providers[0].timeouts.request_timeout_ms", MCP, 500, 30000],
  ["providers[0].config.max_key_bytes", builtin("env"), 0],
  ["providers[0].config.max_value_bytes", builtin("env"), 0],
  ["providers[0].config.max_bytes", JSON_FILES, 0],
  ["providers[0].config.max_response_bytes", builtin("http"), 0],
  ["providers[0].config.timeout_ms", builtin("http"), 0],
  ["providers[0].config.max_response_bytes", builtin("rest"), 0],
  ["providers[0].config.timeout_ms", builtin("rest"), 0],
];

const TOKENS = { bearer_tokens: ["t"] };
const CERTIFICATES = { cert_path: "c", key_path: "k", client_ca_path: "a" };

/** A choice, and the members that each of its values requires. */
export const CHOICES: readonly (readonly [path: string, values: Readonly<Record<string, Tree>>])[] = [
  ["server.transport", { stdio: {}, http: HTTP, sse: HTTP }],
  ["server.mode", { strict: {}, dev_permissive: {} }],
  ["server.tls_termination", { server: {}, upstream: {} }],
  ["server.tools.mode", { filter: {}, passthrough: {} }],
  ["server.auth.mode", {
    local_only: {},
    bearer_token: put(HTTP, "server.auth", TOKENS),
    mtls: put(put(HTTP, "server.auth", { mtls_subjects: ["CN=a"] }), "server.tls", CERTIFICATES),
  }],
  ...["default", "local_only_default", "max"].map((member): [string, Record<string, Tree>] => [
    `server.feedback.scenario_next.${member}`,
    { summary: {}, trace: {}, evidence: {} },
  ]),
  ["namespace.authority.mode", { none: {}, ledger_http: LEDGER }],
  ["policy.engine", { permit_all: {}, deny_all: {}, static: { policy: { static: {} } } }],
  ["policy.static.default", { permit: RULE, deny: RULE }],
  ["policy.static.rules[0].effect", {
    permit: RULE,
    deny: RULE,
    error: put(RULE, "policy.static.rules[0].error_message", "m"),
  }],
  ["policy.static.rules[0].target_kinds[0]", { agent: RULE, session: RULE, external: RULE, channel: RULE }],
  ["policy.static.rules[0].targets[0].target_kind", {
    agent: TARGET,
    session: TARGET,
    channel: TARGET,
    external: put(TARGET, "policy.static.rules[0].targets[0].system", "s"),
  }],
  ...["run_state_store", "schema_registry"].flatMap((store): [string, Record<string, Tree>][] => [
    [`${store}.type`, { memory: {}, sqlite: { [store]: { path: "gate.db" } }, postgres: POSTGRES }],
    [`${store}.journal_mode`, { wal: {}, delete: {} }],
    [`${store}.sync_mode`, { full: {}, normal: {} }],
  ]),
  ["schema_registry.acl.mode", { builtin: {}, custom: {} }],
  ["schema_registry.acl.default", { deny: {}, allow: {} }],
  ["schema_registry.acl.rules[0].effect", { allow: ACL, deny: ACL }],
  ["schema_registry.acl.rules[0].actions[0]", { register: ACL, list: ACL, get: ACL }],
  ["runpack_storage.type", { object_store: S3 }],
  ["runpack_storage.provider", { s3: S3 }],
  ["trust.min_lane", { verified: {}, asserted: {} }],
  ["trust.default_policy", { audit: {} }],
  ["providers[0].trust", { audit: MCP }],
  ["dev.permissive_scope", { asserted_evidence_only: {} }],
  ["validation.profile", { strict_core_v1: {} }],
  ["providers[0].type", { mcp: MCP, builtin: { providers: [{ name: "time" }] } }],
  ["providers[0].config.hash_algorithm", { sha256: builtin("http") }],
  ["providers[0].config.hash_algorithm", { sha256: builtin("rest") }],
];
