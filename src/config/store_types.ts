/**
 * The types of `run_state_store`, `schema_registry` and `runpack_storage`.
 *
 * @module
 */

/** The members that both stores share. */
export interface StorageConfig {
  readonly type: "memory" | "sqlite";
  /** Absolute path of the database; set exactly when `type` is `sqlite`. */
  readonly path: string | null;
  readonly journal_mode: "wal" | "delete";
  /** With `normal`, the last commits may be lost when the power fails. */
  readonly sync_mode: "full" | "normal";
  /** Milliseconds to wait for another process, at least 0. */
  readonly busy_timeout_ms: number;
  /** Bytes of one writer batch, at least 1. */
  readonly batch_max_bytes: number;
  /** Operations of one writer batch, at least 1. */
  readonly batch_max_ops: number;
  /** Milliseconds that a batch waits to fill, at least 1. */
  readonly batch_max_wait_ms: number;
  /** Connections for reading, at least 1. */
  readonly read_pool_size: number;
  /** Operations that may wait for the writer, at least 1. */
  readonly writer_queue_capacity: number;
}

/** `run_state_store`. */
export interface RunStateStoreConfig extends StorageConfig {
  /** Snapshots of its state kept for a run; null for two. */
  readonly max_versions: number | null;
}

/** `schema_registry`. */
export interface SchemaRegistryConfig extends StorageConfig {
  /** Bytes of one schema, 1 to 10485760. */
  readonly max_schema_bytes: number;
  /** Schemas of one tenant in one namespace; null for no limit. Each counts for the tenants of who registered it. */
  readonly max_entries: number | null;
  readonly acl: RegistryAclConfig;
}

/** What can be done to the schema registry. */
export type RegistryAction = "register" | "list" | "get";

/** `schema_registry.acl`: `builtin` reads roles, `custom` reads `rules`. */
export interface RegistryAclConfig {
  readonly mode: "builtin" | "custom";
  /** Builtin: a local caller may do everything. */
  readonly allow_local_only: boolean;
  /** Custom: the decision when no rule matches. */
  readonly default: "deny" | "allow";
  /** Writes must carry signing metadata. */
  readonly require_signing: boolean;
  /** Custom: ordered, at most 256; the first that matches decides. */
  readonly rules: readonly RegistryAclRuleConfig[];
}

/** One rule; a selector that is empty matches any. */
export interface RegistryAclRuleConfig {
  readonly effect: "allow" | "deny";
  readonly actions: readonly RegistryAction[];
  readonly namespaces: readonly number[];
  readonly tenants: readonly number[];
  readonly policy_classes: readonly string[];
  readonly roles: readonly string[];
  readonly subjects: readonly string[];
}

/** `runpack_storage`: the object store that published runpacks are mirrored to. */
export interface RunpackStorageConfig {
  readonly type: "object_store";
  readonly provider: "s3";
  readonly bucket: string;
  readonly endpoint: string | null;
  readonly prefix: string | null;
  readonly region: string | null;
  readonly force_path_style: boolean;
  /** Must be true when `endpoint` begins with `http://`. */
  readonly allow_http: boolean;
}
