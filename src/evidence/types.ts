/** Providers: their contracts, queries and answers (docs/reference/providers.md). */

import { words } from "../canonical/words.ts";
import type { Identity } from "../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { Timestamp } from "../law/types.ts";
import type { ContentHash, EvidenceAnchor, EvidenceSignature, ObservedError } from "../run/types.ts";
import type { ProviderContract } from "./contract/check.ts";
import type { TlsCode } from "./egress/tls_code.ts";

export type { CheckContract, ProviderContract } from "./contract/check.ts";

/** A loaded contract with its identity (kind `contract`) and its plain hash. */
export interface LoadedContract {
  readonly contract: ProviderContract;
  readonly contract_identity: Identity;
  readonly contract_hash: ContentHash;
  readonly source: "builtin" | "file" | "registry";
  /** Canonical text. */
  readonly text: string;
  /** The version of a typed provider; absent for other kinds. */
  readonly provider_version?: ProviderVersion;
  /** The name of a version of the registry. */
  readonly version?: string;
}

/** A version of a typed provider: its contract with its runtime profile. */
export interface ProviderVersion {
  /** Kind `provider-version`. */
  readonly identity: Identity;
  /** Canonical text of `{contract, profile}`. */
  readonly text: string;
}

/** Which check to run. */
export interface EvidenceQuery {
  readonly provider_id: string;
  readonly check_id: string;
  readonly params?: JsonValue;
}

/** The context that a check runs in. */
export interface EvidenceContext {
  readonly namespace_id: number;
  readonly scenario_id?: string;
  readonly scenario_law_identity?: Identity;
  readonly run_id?: string;
  readonly stage_id?: string;
  readonly operation_id?: string;
  readonly trigger_time: Timestamp;
  readonly correlation_id?: string;
}

/** A value that a provider found: JSON or bytes. */
export type EvidenceValue = { readonly kind: "json"; readonly value: JsonValue } | {
  readonly kind: "bytes";
  readonly base64: string;
};

/** A provider's answer. With `error` set, `value`, `evidence_hash` and `content_type` are null. */
export interface EvidenceResult {
  readonly value: EvidenceValue | null;
  readonly lane: "verified" | "asserted";
  readonly error: ObservedError | null;
  readonly evidence_hash: ContentHash | null;
  readonly evidence_ref: { readonly uri: string } | null;
  readonly evidence_anchor: EvidenceAnchor | null;
  readonly signature: EvidenceSignature | null;
  readonly content_type: string | null;
  /** Unix milliseconds of the observation, as the source states it; a signed statement names it. */
  readonly observed_at?: number;
}

/** Why a check could not be run; such a failure leaves no record. */
export type OperationalCode =
  | "timeout"
  | "dns_failed"
  | TlsCode
  | "destination_refused"
  | "destination_blocked"
  | "connection_failed"
  | "response_truncated"
  | "response_too_large"
  | "worker_died"
  | "provider_unreachable"
  | "provider_protocol_error"
  | "contract_changed"
  /** A credential of a typed provider does not exist, is not private, or is not usable. */
  | "credential_unavailable"
  /** The operator does not grant a credential, or the host, of a typed provider. */
  | "credential_locator_refused"
  | "host_not_allowed"
  | "cancelled";

/** Codes after which repeating the query can succeed. */
export const RETRYABLE: ReadonlySet<OperationalCode> = new Set(
  words("timeout dns_failed connection_failed response_truncated worker_died provider_unreachable"),
);

/** A provider's answer: a result, or an operational failure. */
export type ProviderAnswer =
  | {
    readonly ok: true;
    readonly result: EvidenceResult;
    /** Unix milliseconds at which the answer was complete. */
    readonly acquired_at: number;
    /** The effective grant: root id, host names, environment names, program base name; never a path. */
    readonly grant: JsonObject;
  }
  | { readonly ok: false; readonly code: OperationalCode; readonly message: string; readonly retryable: boolean };

/** A configured provider. */
export interface Provider {
  readonly provider_id: string;
  readonly kind: "builtin" | "mcp" | "typed";
  readonly loaded: LoadedContract;
  /** Whether its entry allows the disclosure of raw values (`providers[].allow_raw`). */
  readonly allow_raw: boolean;
  /** Runs one check within its time limits. Never rejects. */
  readonly query: (query: EvidenceQuery, context: EvidenceContext, signal: AbortSignal) => Promise<ProviderAnswer>;
  /** Ends workers, children and connections. */
  readonly close: () => Promise<void>;
}

/** The configured providers by id. */
export type Providers = ReadonlyMap<string, Provider>;
