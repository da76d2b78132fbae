/**
 * The configuration as the rest of the service reads it: every member present, every default filled in, every path
 * absolute.
 *
 * Each type follows from the schema of its section, which describes the members. The schemas are imported as types
 * only, so that a start without a configuration file does not load them. A member that a file may omit without a
 * default is null.
 */

import type { AnchorsConfig, EvidenceConfig, ProviderDiscoveryConfig, TrustConfig } from "./sections/evidence.ts";
import type { DevConfig, DocsConfig, ValidationConfig } from "./sections/general.ts";
import type { NamespaceConfig } from "./sections/namespace.ts";
import type { PolicyConfig } from "./sections/policy.ts";
import type { ProviderConfig } from "./sections/providers.ts";
import type { ServerConfig } from "./sections/server.ts";
import type { RunpackStorageConfig, RunStateStoreConfig, SchemaRegistryConfig } from "./sections/stores.ts";

export type { BuiltinProviderName } from "./builtin_names.ts";
export type { BuiltinProviderConfig } from "./sections/builtin.ts";
export type { EvidenceConfig, ProviderDiscoveryConfig, TrustPolicy } from "./sections/evidence.ts";
export type { FeedbackLevel } from "./feedback_levels.ts";
export type { DocsConfig } from "./sections/general.ts";
export type { LedgerConfig, NamespaceConfig } from "./sections/namespace.ts";
export type { PolicyRuleConfig } from "./sections/policy.ts";
export type {
  BuiltinProviderEntry,
  McpProviderConfig,
  ProviderConfig,
  TypedProviderConfig,
} from "./sections/providers.ts";
export type {
  AuditConfig,
  AuthConfig,
  LimitsConfig,
  PrincipalConfig,
  RateLimitConfig,
  RoleConfig,
  ScenarioNextFeedbackConfig,
  ServerConfig,
  TlsConfig,
  ToolsConfig,
} from "./sections/server.ts";
export type {
  RegistryAclConfig,
  RegistryAclRuleConfig,
  RegistryAction,
  RunpackStorageConfig,
  SchemaRegistryConfig,
} from "./sections/stores.ts";

/** The sections of a configuration file. */
export interface GateSettings {
  readonly anchors: AnchorsConfig;
  readonly dev: DevConfig;
  readonly docs: DocsConfig;
  readonly evidence: EvidenceConfig;
  readonly namespace: NamespaceConfig;
  readonly policy: PolicyConfig;
  readonly provider_discovery: ProviderDiscoveryConfig;
  readonly providers: readonly ProviderConfig[];
  readonly run_state_store: RunStateStoreConfig;
  readonly runpack_storage: RunpackStorageConfig | null;
  readonly schema_registry: SchemaRegistryConfig;
  readonly server: ServerConfig;
  readonly trust: TrustConfig;
  readonly validation: ValidationConfig;
}

/** A loaded configuration. */
export interface GateConfig extends GateSettings {
  /** Absolute path of the file, or null when the built-in defaults are in force. */
  readonly config_path: string | null;
  /** Absolute path of the folder that relative paths are resolved against: the file's, else the working directory. */
  readonly base_dir: string;
}
