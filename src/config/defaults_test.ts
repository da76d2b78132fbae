import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { problemCollector, type SettingPath } from "./problems.ts";
import { checkSettings } from "./schema.ts";

/** The default of every member (docs/reference/configuration.md). */
const EXPECTED_DEFAULTS: readonly (readonly [path: string, value: unknown])[] = [
  ["anchors.providers", []],
  ["dev.allow_dev_env_credentials", false],
  ["dev.permissive", false],
  ["dev.permissive_exempt_providers", ["ledger_read", "ledger"]],
  ["dev.permissive_scope", "asserted_evidence_only"],
  ["dev.permissive_ttl_days", null],
  ["dev.permissive_warn", true],
  ["docs.enabled", true],
  ["docs.enable_resources", true],
  ["docs.enable_search", true],
  ["docs.include_default_docs", true],
  ["docs.extra_paths", []],
  ["docs.max_doc_bytes", 262144],
  ["docs.max_docs", 32],
  ["docs.max_sections", 10],
  ["docs.max_total_bytes", 1048576],
  ["evidence.allow_raw_values", false],
  ["evidence.require_provider_opt_in", true],
  ["namespace.allow_default", false],
  ["namespace.default_tenants", []],
  ["namespace.authority.mode", "none"],
  ["namespace.authority.ledger", null],
  ["policy.engine", "permit_all"],
  ["policy.static", null],
  ["provider_discovery.allowlist", []],
  ["provider_discovery.denylist", []],
  ["provider_discovery.max_response_bytes", 1048576],
  ["providers", []],
  ["run_state_store.type", "memory"],
  ["run_state_store.path", null],
  ["run_state_store.journal_mode", "wal"],
  ["run_state_store.sync_mode", "full"],
  ["run_state_store.busy_timeout_ms", 5000],
  ["run_state_store.batch_max_bytes", 524288],
  ["run_state_store.batch_max_ops", 64],
  ["run_state_store.batch_max_wait_ms", 2],
  ["run_state_store.read_pool_size", 4],
  ["run_state_store.writer_queue_capacity", 1024],
  ["run_state_store.url", null],
  ["run_state_store.tls_ca_path", null],
  ["run_state_store.connections", 4],
  ["run_state_store.max_versions", null],
  ["runpack_storage", null],
  ["schema_registry.type", "memory"],
  ["schema_registry.path", null],
  ["schema_registry.journal_mode", "wal"],
  ["schema_registry.sync_mode", "full"],
  ["schema_registry.busy_timeout_ms", 5000],
  ["schema_registry.batch_max_bytes", 524288],
  ["schema_registry.batch_max_ops", 64],
  ["schema_registry.batch_max_wait_ms", 2],
  ["schema_registry.read_pool_size", 4],
  ["schema_registry.writer_queue_capacity", 1024],
  ["schema_registry.url", null],
  ["schema_registry.tls_ca_path", null],
  ["schema_registry.connections", 4],
  ["schema_registry.max_schema_bytes", 1048576],
  ["schema_registry.max_entries", null],
  ["schema_registry.acl.mode", "builtin"],
  ["schema_registry.acl.allow_local_only", false],
  ["schema_registry.acl.default", "deny"],
  ["schema_registry.acl.require_signing", false],
  ["schema_registry.acl.rules", []],
  ["server.transport", "stdio"],
  ["server.bind", null],
  ["server.mode", "strict"],
  ["server.tls", null],
  ["server.tls_termination", "server"],
  ["server.tools.mode", "filter"],
  ["server.tools.allowlist", []],
  ["server.tools.denylist", []],
  ["server.audit.enabled", true],
  ["server.audit.log_precheck_payloads", false],
  ["server.audit.path", null],
  ["server.feedback.scenario_next.default", "summary"],
  ["server.feedback.scenario_next.local_only_default", "trace"],
  ["server.feedback.scenario_next.max", "trace"],
  ["server.feedback.scenario_next.trace_subjects", ["loopback", "stdio"]],
  ["server.feedback.scenario_next.trace_roles", []],
  ["server.feedback.scenario_next.evidence_roles", []],
  ["server.feedback.scenario_next.evidence_subjects", []],
  ["server.auth", null],
  ["server.max_body_bytes", 1048576],
  ["server.limits.max_inflight", 256],
  ["server.limits.rate_limit", null],
  ["server.state_keys", []],
  ["trust.default_policy", "audit"],
  ["trust.min_lane", "verified"],
  ["trust.evidence_keys", null],
  ["validation.strict", true],
  ["validation.profile", "strict_core_v1"],
  ["validation.allow_permissive", false],
  ["validation.enable_lexicographic", false],
  ["validation.enable_deep_equals", false],
];

/** The defaults of tables that are absent by default: a text that creates one, its path, and its members. */
const NESTED_DEFAULTS: readonly (readonly [tree: unknown, path: SettingPath, value: unknown])[] = [
  [{ server: { auth: {} } }, ["server", "auth"], {
    mode: "local_only",
    bearer_tokens: [],
    mtls_subjects: [],
    allowed_tools: [],
    principals: [],
  }],
  [{ server: { auth: { principals: [{ subject: "s", roles: [{ name: "n" }] }] } } }, ["server", "auth", "principals"], [
    { subject: "s", policy_class: null, roles: [{ name: "n", tenant_id: null, namespace_id: null }] },
  ]],
  [{ server: { limits: { rate_limit: {} } } }, ["server", "limits", "rate_limit"], {
    max_requests: 1000,
    window_ms: 1000,
    max_entries: 4096,
  }],
  [
    { server: { transport: "http", bind: "127.0.0.1:1", tls: { cert_path: "c", key_path: "k" } } },
    ["server", "tls"],
    { cert_path: "c", key_path: "k", client_ca_path: null, require_client_cert: true },
  ],
  [
    { namespace: { authority: { mode: "ledger_http", ledger: { base_url: "https://a.example" } } } },
    ["namespace", "authority", "ledger"],
    { base_url: "https://a.example", auth_token: null, connect_timeout_ms: 500, request_timeout_ms: 2000 },
  ],
  [{ policy: { engine: "static", static: {} } }, ["policy", "static"], { default: "deny", rules: [] }],
  [
    { policy: { engine: "static", static: { rules: [{ effect: "deny", target_kinds: ["agent"] }] } } },
    ["policy", "static", "rules", 0],
    {
      effect: "deny",
      error_message: null,
      content_types: [],
      packet_ids: [],
      scenario_ids: [],
      schema_ids: [],
      stage_ids: [],
      require_labels: [],
      forbid_labels: [],
      require_policy_tags: [],
      forbid_policy_tags: [],
      target_kinds: ["agent"],
      targets: [],
    },
  ],
  [{ runpack_storage: { type: "object_store", provider: "s3", bucket: "b" } }, ["runpack_storage"], {
    type: "object_store",
    provider: "s3",
    bucket: "b",
    endpoint: null,
    prefix: null,
    region: null,
    force_path_style: false,
    allow_http: false,
  }],
  [{ schema_registry: { acl: { rules: [{ effect: "allow" }] } } }, ["schema_registry", "acl", "rules", 0], {
    effect: "allow",
    actions: [],
    namespaces: [],
    tenants: [],
    policy_classes: [],
    roles: [],
    subjects: [],
  }],
  [{ providers: [{ name: "time", type: "builtin" }] }, ["providers", 0], {
    name: "time",
    type: "builtin",
    url: null,
    command: [],
    allow_insecure_http: false,
    allow_raw: false,
    auth: null,
    capabilities_path: null,
    runtime_profile_path: null,
    typed_protocol: null,
    config: { allow_logical: true },
    trust: null,
    timeouts: { connect_timeout_ms: 2000, request_timeout_ms: 10000 },
  }],
  [{ providers: [{ name: "env", type: "builtin" }] }, ["providers", 0, "config"], {
    allowlist: null,
    denylist: [],
    overrides: null,
    max_key_bytes: 255,
    max_value_bytes: 65536,
  }],
  [
    { providers: [{ name: "json", type: "builtin", config: { root: "r", root_id: "r" } }] },
    ["providers", 0, "config"],
    { root: "r", root_id: "r", allow_yaml: true, max_bytes: 1048576 },
  ],
  [{ providers: [{ name: "http", type: "builtin" }] }, ["providers", 0, "config"], {
    allow_http: false,
    allow_private_networks: false,
    allowed_hosts: null,
    hash_algorithm: "sha256",
    user_agent: "gate/0.1",
    max_response_bytes: 1048576,
    timeout_ms: 5000,
  }],
  [{ providers: [{ name: "rest", type: "builtin", config: { auth: {} } }] }, ["providers", 0, "config"], {
    allow_http: false,
    allow_private_networks: false,
    allowed_hosts: null,
    hash_algorithm: "sha256",
    user_agent: "gate/0.1",
    max_response_bytes: 1048576,
    timeout_ms: 5000,
    default_headers: {},
    auth: {
      api_key_header: null,
      api_key_value: null,
      basic_username: null,
      basic_password: null,
      bearer_token: null,
    },
  }],
];

/** The leaf members of a value, with their paths. */
function leaves(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, item]) => leaves(item, path === "" ? name : `${path}.${name}`));
}

Deno.test("DEFAULT_SETTINGS has exactly the documented defaults", () => {
  const byPath = (left: readonly [string, unknown], right: readonly [string, unknown]): number =>
    left[0] < right[0] ? -1 : 1;
  assert.deepEqual(leaves(DEFAULT_SETTINGS, "").sort(byPath), EXPECTED_DEFAULTS.toSorted(byPath));
});

Deno.test("checkSettings() returns DEFAULT_SETTINGS for an empty file and for empty sections", async () => {
  const { report, problems } = problemCollector();
  assert.deepEqual(await checkSettings({}, report), DEFAULT_SETTINGS);
  const sections = Object.fromEntries(
    Object.keys(DEFAULT_SETTINGS).filter((name) => name !== "runpack_storage").map((
      name,
    ) => [name, name === "providers" ? [] : {}]),
  );
  assert.deepEqual(await checkSettings(sections, report), DEFAULT_SETTINGS);
  assert.deepEqual(problems(), []);
});

Deno.test("checkSettings() fills the defaults of tables that are absent by default", async () => {
  for (const [tree, path, value] of NESTED_DEFAULTS) {
    const { report, problems } = problemCollector();
    const settings = await checkSettings(tree, report);
    assert.deepEqual(problems(), []);
    const found = path.reduce<unknown>((node, segment) => (node as Record<string, unknown>)[segment], settings);
    assert.deepEqual(structuredClone(found), value, path.join("."));
  }
});
