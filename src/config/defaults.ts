/**
 * The built-in defaults: the values of members that a file omits, and of all members where no file exists.
 *
 * Plain data, so that a start without a file loads neither the schemas nor the TOML reader. The schemas read the
 * defaults, and the types follow from the schemas; so nothing here is annotated.
 */

/** The defaults that both stores share. */
export const STORAGE_DEFAULTS = {
  type: "memory",
  path: null,
  journal_mode: "wal",
  sync_mode: "full",
  busy_timeout_ms: 5000,
  batch_max_bytes: 524288,
  batch_max_ops: 64,
  batch_max_wait_ms: 2,
  read_pool_size: 4,
  writer_queue_capacity: 1024,
  url: null,
  tls_ca_path: null,
  connections: 4,
} as const;

/** The members of `server.auth` that the table omits. */
export const AUTH_DEFAULTS = {
  mode: "local_only",
  bearer_tokens: [],
  mtls_subjects: [],
  allowed_tools: [],
  principals: [],
} as const;

/** The members of `server.limits.rate_limit` that the table omits. */
export const RATE_LIMIT_DEFAULTS = { max_requests: 1000, window_ms: 1000, max_entries: 4096 } as const;

/** The members of `namespace.authority.ledger` that have a default. */
export const LEDGER_DEFAULTS = { auth_token: null, connect_timeout_ms: 500, request_timeout_ms: 2000 } as const;

/** The members of `providers[].timeouts` that an entry omits. */
export const PROVIDER_TIMEOUT_DEFAULTS = { connect_timeout_ms: 2000, request_timeout_ms: 10000 } as const;

/** Every member of the configuration with its default. */
export const DEFAULT_SETTINGS = {
  anchors: { providers: [] },
  dev: {
    allow_dev_env_credentials: false,
    permissive: false,
    permissive_exempt_providers: ["ledger_read", "ledger"],
    permissive_scope: "asserted_evidence_only",
    permissive_ttl_days: null,
    permissive_warn: true,
  },
  docs: {
    enabled: true,
    enable_resources: true,
    enable_search: true,
    include_default_docs: true,
    extra_paths: [],
    max_doc_bytes: 262144,
    max_docs: 32,
    max_sections: 10,
    max_total_bytes: 1048576,
  },
  evidence: { allow_raw_values: false, require_provider_opt_in: true },
  namespace: { allow_default: false, default_tenants: [], authority: { mode: "none", ledger: null } },
  policy: { engine: "permit_all", static: null },
  provider_discovery: { allowlist: [], denylist: [], max_response_bytes: 1048576 },
  providers: [],
  run_state_store: { ...STORAGE_DEFAULTS, max_versions: null },
  runpack_storage: null,
  schema_registry: {
    ...STORAGE_DEFAULTS,
    max_schema_bytes: 1048576,
    max_entries: null,
    acl: { mode: "builtin", allow_local_only: false, default: "deny", require_signing: false, rules: [] },
  },
  server: {
    transport: "stdio",
    bind: null,
    mode: "strict",
    tls: null,
    tls_termination: "server",
    tools: { mode: "filter", allowlist: [], denylist: [] },
    audit: { enabled: true, log_precheck_payloads: false, path: null },
    feedback: {
      scenario_next: {
        default: "summary",
        local_only_default: "trace",
        max: "trace",
        trace_subjects: ["loopback", "stdio"],
        trace_roles: [],
        evidence_subjects: [],
        evidence_roles: [],
      },
    },
    auth: null,
    max_body_bytes: 1048576,
    limits: { max_inflight: 256, rate_limit: null },
    state_keys: [],
  },
  trust: { default_policy: "audit", min_lane: "verified", evidence_keys: null },
  validation: {
    strict: true,
    profile: "strict_core_v1",
    allow_permissive: false,
    enable_lexicographic: false,
    enable_deep_equals: false,
  },
} as const;
