/**
 * The types of `server`: transport, authentication, limits, tools, audit and feedback.
 *
 * @module
 */

import type { ToolName } from "./tool_names.ts";

/** `server`. */
export interface ServerConfig {
  readonly transport: "stdio" | "http" | "sse";
  /** `IP:port`; set when `transport` is `http` or `sse`. */
  readonly bind: string | null;
  /** `dev_permissive` is an older spelling of `dev.permissive = true`. */
  readonly mode: "strict" | "dev_permissive";
  readonly tls: TlsConfig | null;
  /** Where TLS ends: here, or before the service. */
  readonly tls_termination: "server" | "upstream";
  readonly tools: ToolsConfig;
  readonly audit: AuditConfig;
  readonly feedback: FeedbackConfig;
  /** Null stands for `local_only` with no further rule. */
  readonly auth: AuthConfig | null;
  /** Bytes of one JSON-RPC request, at least 1; on stdio of one line. */
  readonly max_body_bytes: number;
  readonly limits: LimitsConfig;
}

/** `server.tls`: PEM files, absolute paths. */
export interface TlsConfig {
  readonly cert_path: string;
  readonly key_path: string;
  readonly client_ca_path: string | null;
  readonly require_client_cert: boolean;
}

/** `server.tools`: which tools exist for clients. The denylist wins; an empty allowlist stands for all. */
export interface ToolsConfig {
  /** Whether `tools/list` names the tools that the lists leave, or all. */
  readonly mode: "filter" | "passthrough";
  readonly allowlist: readonly ToolName[];
  readonly denylist: readonly ToolName[];
}

/** `server.audit`: the structured JSON-lines log. */
export interface AuditConfig {
  readonly enabled: boolean;
  /** Log the raw payloads of prechecks. */
  readonly log_precheck_payloads: boolean;
  /** Absolute path, or null for standard error. */
  readonly path: string | null;
}

/** The levels of feedback of `scenario_next`, from least to most. */
export const FEEDBACK_LEVELS = ["summary", "trace", "evidence"] as const;
/** How much `scenario_next` tells. */
export type FeedbackLevel = typeof FEEDBACK_LEVELS[number];

/** `server.feedback`. */
export interface FeedbackConfig {
  readonly scenario_next: ScenarioNextFeedbackConfig;
}

/** `server.feedback.scenario_next`: levels, and who may have them. */
export interface ScenarioNextFeedbackConfig {
  /** For calls from afar. */
  readonly default: FeedbackLevel;
  /** For local calls. */
  readonly local_only_default: FeedbackLevel;
  /** The most that anybody gets. */
  readonly max: FeedbackLevel;
  readonly trace_subjects: readonly string[];
  readonly trace_roles: readonly string[];
  readonly evidence_subjects: readonly string[];
  readonly evidence_roles: readonly string[];
}

/** `server.auth`: who may call. */
export interface AuthConfig {
  readonly mode: "local_only" | "bearer_token" | "mtls";
  /** At most 64; secret. */
  readonly bearer_tokens: readonly string[];
  /** At most 64. */
  readonly mtls_subjects: readonly string[];
  /** Tools that may be called; empty stands for all. */
  readonly allowed_tools: readonly ToolName[];
  /** At most 64; empty stands for no role checks at all. */
  readonly principals: readonly PrincipalConfig[];
}

/** `server.auth.principals[]`: what a subject may do. */
export interface PrincipalConfig {
  /** `stdio`, `loopback`, `token:<sha256>` or an mTLS subject. */
  readonly subject: string;
  readonly policy_class: string | null;
  /** At most 128. */
  readonly roles: readonly RoleConfig[];
}

/** One role, in one tenant and namespace; null stands for every one. */
export interface RoleConfig {
  readonly name: string;
  readonly tenant_id: number | null;
  readonly namespace_id: number | null;
}

/** `server.limits`. */
export interface LimitsConfig {
  /** Requests in work at one time, at least 1. */
  readonly max_inflight: number;
  /** Null for no rate limit. */
  readonly rate_limit: RateLimitConfig | null;
}

/** `server.limits.rate_limit`. */
export interface RateLimitConfig {
  /** Requests in a window, 1 to 100000. */
  readonly max_requests: number;
  /** Milliseconds, 100 to 60000. */
  readonly window_ms: number;
  /** Callers that are counted apart, 1 to 65536. */
  readonly max_entries: number;
}
