/**
 * A query outside of any run. The result is checked against the provider's contract, its trust policy and its anchors
 * policy.
 */

import { findTrustError, signsBareHash } from "../../run/acquired.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import type { ObservedError } from "../../run/types.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import { verifyEd25519 } from "../host_primitives.ts";
import type {
  CheckContract,
  EvidenceContext,
  EvidenceQuery,
  EvidenceResult,
  Provider,
  ProviderAnswer,
} from "../types.ts";
import { examineResult } from "./examine.ts";
import { hashRecomputes, measureValue, type SourceValue } from "./present.ts";

/** A query and its dependencies. */
export interface SingleQuery {
  readonly provider: Provider;
  readonly check: CheckContract;
  readonly query: EvidenceQuery;
  readonly context: EvidenceContext;
  readonly profile: OperatorProfile;
  readonly schemas: SchemaSandbox;
  readonly signal: AbortSignal;
}

/**
 * Runs the query. The result has the hash of its value even if the provider sent none. A result that violates a policy
 * has the error in place of its value.
 *
 * @throws {SchemaSandboxError} Where the result schema gave no verdict
 */
export async function querySingle(single: SingleQuery): Promise<ProviderAnswer> {
  const { provider, query, context, signal, profile } = single;
  const answer = await provider.query(query, context, signal);
  if (!answer.ok) return answer;
  const { result } = answer;
  const source = result.value === null ? null : measureValue(result.value);
  const { maximum_value_bytes: maximum } = profile.value_limits;
  if (source !== null && source.bytes > maximum) {
    const message = `Expected a value of at most ${maximum} canonical bytes, got ${source.bytes}`;
    return { ok: false, code: "response_too_large", message, retryable: false };
  }
  const error = await examineResult(single.schemas, provider.loaded, single.check, result) ??
    findResultError(single.provider, single.profile, result, source);
  const lane = laneAtGivenTime(provider, result);
  const examined: EvidenceResult = error === null
    ? { ...result, lane, evidence_hash: source?.content_hash ?? null }
    : { ...result, lane, error, value: null, evidence_hash: null, content_type: null };
  return { ...answer, result: examined };
}

/** The lane of a result at a trigger time of the caller: a check of time then only repeats what the caller asserted. */
export function laneAtGivenTime(
  { provider_id, kind }: Pick<Provider, "provider_id" | "kind">,
  { lane }: Pick<EvidenceResult, "lane">,
): EvidenceResult["lane"] {
  const isClock = kind === "builtin" && (provider_id === "time" || provider_id === "calendar");
  return isClock ? "asserted" : lane;
}

/** The error of a result under the operator's policies; null without one. */
export function findResultError(
  provider: Pick<Provider, "provider_id" | "kind">,
  profile: OperatorProfile,
  result: EvidenceResult,
  source: SourceValue | null,
): ObservedError | null {
  const { provider_id, kind } = provider;
  if (!hashRecomputes(result, source)) {
    return { code: "hash_mismatch", message: "The hash of the provider differs from that of its value" };
  }
  const channel = kind === "builtin" ? "local_acquisition" : "provider_acquisition";
  const anchor = result.evidence_anchor ?? undefined;
  return findTrustError(profile, provider_id, channel, anchor, (trusted) => {
    const key = trusted.find(({ key_id }) => key_id === result.signature?.key_id);
    if (key === undefined || result.signature === null || source === null) return false;
    return signsBareHash({ verifyEd25519 }, key, result.signature, [source.content_hash]);
  });
}
