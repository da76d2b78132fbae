/**
 * The types of what evidence may come from and when it is believed: `anchors`, `evidence`, `trust`,
 * `provider_discovery` and `providers[]` with the configurations of the built-in providers.
 *
 * @module
 */

import type { JsonValue } from "../canonical/json.ts";

/** `anchors`. */
export interface AnchorsConfig {
  /** At most one entry a provider. */
  readonly providers: readonly AnchorRequirementConfig[];
}

/** `anchors.providers[]`: the anchor that every item of this provider must carry. */
export interface AnchorRequirementConfig {
  readonly provider_id: string;
  readonly anchor_type: string;
  /** At least one. */
  readonly required_fields: readonly string[];
}

/** `evidence`: disclosure of raw values. */
export interface EvidenceConfig {
  readonly allow_raw_values: boolean;
  /** A provider must also say `allow_raw`. */
  readonly require_provider_opt_in: boolean;
}

/** Whether evidence must be signed. Each key is the path of a public key file, as written: it is also the key's id. */
export type TrustPolicy = "audit" | { readonly require_signature: { readonly keys: readonly string[] } };

/** How far evidence is believed. */
export type TrustLane = "verified" | "asserted";

/** `trust`. */
export interface TrustConfig {
  readonly default_policy: TrustPolicy;
  readonly min_lane: TrustLane;
}

/** `provider_discovery`: which contracts may be shown. The denylist wins; an empty allowlist stands for all. */
export interface ProviderDiscoveryConfig {
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
  /** Bytes of one answer, at least 1. */
  readonly max_response_bytes: number;
}

/** The names that built-in providers have. */
export type BuiltinProviderName = "time" | "env" | "json" | "http" | "rest";

/** The members that all providers share. */
interface CommonProviderConfig {
  readonly name: string;
  /** http or https, without user information; null when there is none. */
  readonly url: string | null;
  /** Program and arguments; empty when there is none. Wins over `url`. */
  readonly command: readonly string[];
  readonly allow_insecure_http: boolean;
  /** Raw values of this provider may be disclosed. */
  readonly allow_raw: boolean;
  readonly auth: ProviderAuthConfig | null;
  /** Absolute path of the capability contract. */
  readonly capabilities_path: string | null;
  /** Absolute path of the runtime profile. */
  readonly runtime_profile_path: string | null;
  readonly typed_protocol: "openapi_http" | "grpc" | null;
  /** Null for `trust.default_policy`. */
  readonly trust: TrustPolicy | null;
  readonly timeouts: ProviderTimeoutsConfig;
}

/** `providers[].auth`. */
export interface ProviderAuthConfig {
  /** Secret. */
  readonly bearer_token: string | null;
}

/** `providers[].timeouts`. */
export interface ProviderTimeoutsConfig {
  /** Milliseconds, 100 to 10000. */
  readonly connect_timeout_ms: number;
  /** Milliseconds, 500 to 30000, not below `connect_timeout_ms`. */
  readonly request_timeout_ms: number;
}

/** A provider of type `mcp`: has `command` or `url`, and `capabilities_path`. */
export interface McpProviderConfig extends CommonProviderConfig {
  readonly type: "mcp";
  /** Not read: a program may read its own settings from the file. */
  readonly config: JsonValue;
}

/** A provider of type `typed`: has `capabilities_path`, `runtime_profile_path` and `typed_protocol`. */
export interface TypedProviderConfig extends CommonProviderConfig {
  readonly type: "typed";
  readonly config: JsonValue;
}

/** The built-in provider `time`. */
export interface TimeProviderEntry extends CommonProviderConfig {
  readonly type: "builtin";
  readonly name: "time";
  readonly config: TimeProviderConfig;
}

/** The built-in provider `env`. */
export interface EnvProviderEntry extends CommonProviderConfig {
  readonly type: "builtin";
  readonly name: "env";
  readonly config: EnvProviderConfig;
}

/** The built-in provider `json`. */
export interface JsonProviderEntry extends CommonProviderConfig {
  readonly type: "builtin";
  readonly name: "json";
  readonly config: JsonProviderConfig;
}

/** The built-in provider `http`. */
export interface HttpProviderEntry extends CommonProviderConfig {
  readonly type: "builtin";
  readonly name: "http";
  readonly config: HttpProviderConfig;
}

/** The built-in provider `rest`. */
export interface RestProviderEntry extends CommonProviderConfig {
  readonly type: "builtin";
  readonly name: "rest";
  readonly config: RestProviderConfig;
}

/** A built-in provider, told apart by `name`. */
export type BuiltinProviderEntry =
  | TimeProviderEntry
  | EnvProviderEntry
  | JsonProviderEntry
  | HttpProviderEntry
  | RestProviderEntry;

/** `providers[]`, told apart by `type`. */
export type ProviderConfig = BuiltinProviderEntry | McpProviderConfig | TypedProviderConfig;

/** `config` of the provider `time`. */
export interface TimeProviderConfig {
  /** Accept logical trigger times. */
  readonly allow_logical: boolean;
}

/** `config` of the provider `env`. */
export interface EnvProviderConfig {
  /** Names that may be read; null for any, empty for none. */
  readonly allowlist: readonly string[] | null;
  /** Names that may not be read; wins. */
  readonly denylist: readonly string[];
  /** Values of the names in it, in place of the environment's; null for no such name. Has no prototype. */
  readonly overrides: { readonly [name: string]: string } | null;
  /** Bytes, at least 0. */
  readonly max_key_bytes: number;
  /** Bytes, at least 0. */
  readonly max_value_bytes: number;
}

/** `config` of the provider `json`. */
export interface JsonProviderConfig {
  /** Absolute path of the folder that files are read from. */
  readonly root: string;
  /** The name of the root in evidence. */
  readonly root_id: string;
  /** Read `.yaml` and `.yml` files as YAML. */
  readonly allow_yaml: boolean;
  /** Bytes of one file, at least 0. */
  readonly max_bytes: number;
}

/** `config` of the provider `http`. */
export interface HttpProviderConfig {
  /** Allow `http://` addresses. */
  readonly allow_http: boolean;
  /** Allow private, link-local and loopback addresses. */
  readonly allow_private_networks: boolean;
  /** Hosts that may be asked; null for any, empty for none. */
  readonly allowed_hosts: readonly string[] | null;
  readonly hash_algorithm: "sha256";
  readonly user_agent: string;
  /** Bytes, at least 0. */
  readonly max_response_bytes: number;
  /** Milliseconds, at least 0. */
  readonly timeout_ms: number;
}

/** `config` of the provider `rest`. */
export interface RestProviderConfig extends HttpProviderConfig {
  /** Headers of every request. Has no prototype. */
  readonly default_headers: { readonly [name: string]: string };
  readonly auth: RestAuthConfig | null;
}

/** `config.auth` of the provider `rest`: each value a literal or `env:NAME`; secret. */
export interface RestAuthConfig {
  readonly api_key_header: string | null;
  readonly api_key_value: string | null;
  readonly basic_username: string | null;
  readonly basic_password: string | null;
  readonly bearer_token: string | null;
}
