/**
 * The built-in defaults: what is in force where a file says nothing, or where there is no file.
 *
 * Plain data, so that a start without a file loads neither the schema nor the TOML reader.
 *
 * @module
 */

import type {
  AuthConfig,
  GateSettings,
  LedgerConfig,
  ProviderTimeoutsConfig,
  RateLimitConfig,
  StorageConfig,
} from "./types.ts";

/** The defaults that both stores share (interface "Configuration", "Limits"). */
export const STORAGE_DEFAULTS: StorageConfig = {
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
};

/** The members of `server.auth` where the file has that table and leaves them out. */
export const AUTH_DEFAULTS: AuthConfig = {
  mode: "local_only",
  bearer_tokens: [],
  mtls_subjects: [],
  allowed_tools: [],
  principals: [],
};

/** The members of `server.limits.rate_limit` where the file has that table and leaves them out. */
export const RATE_LIMIT_DEFAULTS: RateLimitConfig = { max_requests: 1000, window_ms: 1000, max_entries: 4096 };

/** The members of `namespace.authority.ledger` that have a default. */
export const LEDGER_DEFAULTS: Omit<LedgerConfig, "base_url"> = {
  auth_token: null,
  connect_timeout_ms: 500,
  request_timeout_ms: 2000,
};

/** The members of `providers[].timeouts`. */
export const PROVIDER_TIMEOUT_DEFAULTS: ProviderTimeoutsConfig = {
  connect_timeout_ms: 2000,
  request_timeout_ms: 10000,
};

/** Every member of the configuration with its default. */
export const DEFAULT_SETTINGS: GateSettings = {
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
  },
  trust: { default_policy: "audit", min_lane: "verified" },
  validation: {
    strict: true,
    profile: "strict_core_v1",
    allow_permissive: false,
    enable_lexicographic: false,
    enable_deep_equals: false,
  },
};
