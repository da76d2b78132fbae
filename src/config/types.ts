/**
 * The configuration as the rest of the service sees it: every member present, every default filled in, every path absolute.
 *
 * Member names are those of the configuration file (interface "Configuration", "Authentication", "Limits"). A member that
 * the interface gives as "null or" is null when the file leaves it out.
 *
 * @module
 */

import type {
  AnchorsConfig,
  EvidenceConfig,
  ProviderConfig,
  ProviderDiscoveryConfig,
  TrustConfig,
} from "./evidence_types.ts";
import type { ServerConfig } from "./server_types.ts";
import type { RunpackStorageConfig, RunStateStoreConfig, SchemaRegistryConfig } from "./store_types.ts";

export type * from "./evidence_types.ts";
export type * from "./server_types.ts";
export type * from "./store_types.ts";

/** The members of a configuration file. */
export interface GateSettings {
  /** What anchors a provider's evidence must carry. */
  readonly anchors: AnchorsConfig;
  /** Relaxations for development. */
  readonly dev: DevConfig;
  /** The documentation catalogue and its search. */
  readonly docs: DocsConfig;
  /** Disclosure of raw evidence values. */
  readonly evidence: EvidenceConfig;
  /** Which namespaces may be used. */
  readonly namespace: NamespaceConfig;
  /** Who may be shown an entry packet. */
  readonly policy: PolicyConfig;
  /** Which provider contracts may be disclosed. */
  readonly provider_discovery: ProviderDiscoveryConfig;
  /** The providers that evidence may come from; one that is not listed is not available. */
  readonly providers: readonly ProviderConfig[];
  /** Where runs are kept. */
  readonly run_state_store: RunStateStoreConfig;
  /** Where exported runpacks are mirrored to, beside the local repository. */
  readonly runpack_storage: RunpackStorageConfig | null;
  /** Where registered schemas are kept, and who may write them. */
  readonly schema_registry: SchemaRegistryConfig;
  /** Transport, authentication, limits and audit. */
  readonly server: ServerConfig;
  /** Evidence signatures and lanes. */
  readonly trust: TrustConfig;
  /** How strictly precheck looks at conditions, and which predicates a law may have. */
  readonly validation: ValidationConfig;
}

/** A loaded configuration. */
export interface GateConfig extends GateSettings {
  /** Absolute path of the file, or null when the built-in defaults are in force. */
  readonly config_path: string | null;
  /** Absolute path of the folder that relative paths were resolved against: the file's, else the working directory. */
  readonly base_dir: string;
}

/** `dev`: relaxations for development. */
export interface DevConfig {
  /** Allow `env://` locators for the credentials of typed providers. */
  readonly allow_dev_env_credentials: boolean;
  /** Lower the minimum evidence lane to `asserted`. */
  readonly permissive: boolean;
  /** Providers that keep `trust.min_lane` even then. */
  readonly permissive_exempt_providers: readonly string[];
  /** What permissive mode relaxes. */
  readonly permissive_scope: "asserted_evidence_only";
  /** Days after the file's last change at which permissive mode turns itself off; null for never. */
  readonly permissive_ttl_days: number | null;
  /** Warn when permissive mode is on or has expired. */
  readonly permissive_warn: boolean;
}

/** `docs`: the documentation catalogue. */
export interface DocsConfig {
  /** Serve documentation at all. */
  readonly enabled: boolean;
  /** Serve it as MCP resources. */
  readonly enable_resources: boolean;
  /** Offer `gate_docs_search`. */
  readonly enable_search: boolean;
  /** Put the service's own documents into the catalogue. */
  readonly include_default_docs: boolean;
  /** Absolute paths of further files or folders, at most 64. */
  readonly extra_paths: readonly string[];
  /** Bytes of one document of `extra_paths`, 1 to 1048576. */
  readonly max_doc_bytes: number;
  /** Documents of `extra_paths`, 1 to 256. */
  readonly max_docs: number;
  /** Sections of one answer, 1 to 10. */
  readonly max_sections: number;
  /** Bytes of all documents of `extra_paths`, 1 to 8388608. */
  readonly max_total_bytes: number;
}

/** `namespace`: which namespaces may be used. */
export interface NamespaceConfig {
  /** Allow namespace 1, to the tenants of `default_tenants` only. */
  readonly allow_default: boolean;
  /** Tenants that may use namespace 1. */
  readonly default_tenants: readonly number[];
  /** Who is asked whether a namespace exists. */
  readonly authority: NamespaceAuthorityConfig;
}

/** `namespace.authority`: `ledger` is set exactly when `mode` is `ledger_http`. */
export interface NamespaceAuthorityConfig {
  readonly mode: "none" | "ledger_http";
  readonly ledger: LedgerConfig | null;
}

/** `namespace.authority.ledger`: the HTTP service that knows the namespaces. */
export interface LedgerConfig {
  readonly base_url: string;
  /** Bearer token; secret. */
  readonly auth_token: string | null;
  /** Milliseconds, 100 to 10000. */
  readonly connect_timeout_ms: number;
  /** Milliseconds, 500 to 30000. */
  readonly request_timeout_ms: number;
}

/** `policy`: `static` is set exactly when `engine` is `static`. */
export interface PolicyConfig {
  readonly engine: "permit_all" | "deny_all" | "static";
  readonly static: StaticPolicyConfig | null;
}

/** `policy.static`: ordered rules, of which the first that matches decides. */
export interface StaticPolicyConfig {
  /** The decision when no rule matches. */
  readonly default: "permit" | "deny";
  readonly rules: readonly PolicyRuleConfig[];
}

/** The kinds of target that an entry packet can be shown to. */
export type TargetKind = "agent" | "session" | "external" | "channel";

/** One rule; every selector that is not empty must hold, and at least one is given. */
export interface PolicyRuleConfig {
  readonly effect: "permit" | "deny" | "error";
  /** Set exactly when `effect` is `error`. */
  readonly error_message: string | null;
  readonly content_types: readonly string[];
  readonly packet_ids: readonly string[];
  readonly scenario_ids: readonly string[];
  readonly schema_ids: readonly string[];
  readonly stage_ids: readonly string[];
  /** Labels that must all be present. */
  readonly require_labels: readonly string[];
  /** Labels of which none may be present, else the rule does not match. */
  readonly forbid_labels: readonly string[];
  /** Tags that must all be present. */
  readonly require_policy_tags: readonly string[];
  /** Tags of which none may be present, else the rule does not match. */
  readonly forbid_policy_tags: readonly string[];
  readonly target_kinds: readonly TargetKind[];
  readonly targets: readonly PolicyTargetConfig[];
}

/** One target selector; a member that is null matches any. */
export interface PolicyTargetConfig {
  readonly target_kind: TargetKind;
  /** Of an agent, session or channel. */
  readonly target_id: string | null;
  /** Of an external target: its system. */
  readonly system: string | null;
  /** Of an external target: its id in that system. */
  readonly target: string | null;
}

/** `validation`: how strictly precheck looks at conditions, and which predicates a law may have (decisions 3). */
export interface ValidationConfig {
  /** Hold conditions against the data shape in precheck. */
  readonly strict: boolean;
  readonly profile: "strict_core_v1";
  /** Must be true when `strict` is false. */
  readonly allow_permissive: boolean;
  /** Allow the four `Lex*` predicates. */
  readonly enable_lexicographic: boolean;
  /** Allow `DeepEquals` and `DeepNotEquals`. */
  readonly enable_deep_equals: boolean;
}
