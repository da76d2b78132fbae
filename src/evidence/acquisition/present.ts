/**
 * Converts a provider's answer to an evidence item: the value in the condition's domain, with the witness that a replay
 * needs.
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { Timestamp } from "../../law/types.ts";
import { fitProviderResult } from "../../law/value/typed_value.ts";
import type { CompiledCondition } from "../../run/compile.ts";
import { hashValue, type PresentedEvidence } from "../../run/evidence.ts";
import { asJson } from "../../run/primitives.ts";
import type { AcquisitionWitness, ContentHash, ObservedError } from "../../run/types.ts";
import { sha256 } from "../host_primitives.ts";
import type { EvidenceResult, EvidenceValue, LoadedContract, ProviderAnswer } from "../types.ts";
import type { SelectedBinding } from "./select.ts";

/** A successful answer. */
type Answered = Extract<ProviderAnswer, { ok: true }>;

/** The context of an answer. */
export interface Presenting {
  readonly selected: SelectedBinding;
  /** The trigger time of the query. */
  readonly trigger_time: Timestamp;
  readonly condition: CompiledCondition;
  readonly loaded: LoadedContract;
  /** Whether the params of the binding hold values of the run. */
  readonly resolved: boolean;
}

/** Size and plain hash of a source's value as received. */
export interface SourceValue {
  /** Bytes of the canonical JSON, or of the bytes themselves. */
  readonly bytes: number;
  readonly content_hash: ContentHash;
}

/** Measures and hashes a value: JSON in its canonical form, bytes as received. */
export function measureValue(value: EvidenceValue): SourceValue {
  if (value.kind === "json") {
    const text = canonicalize(value.value);
    return { bytes: utf8Length(text), content_hash: { algorithm: "sha256", value: sha256(text) } };
  }
  const bytes = decodeBase64(value.base64) ?? new Uint8Array();
  return { bytes: bytes.length, content_hash: { algorithm: "sha256", value: sha256(bytes) } };
}

/**
 * Converts an answer to an evidence item.
 *
 * @param source Measure of its value; null without a value
 * @param error The observed error; null without one
 */
export function presentAnswer(
  presenting: Presenting,
  answer: Answered,
  source: SourceValue | null,
  error: ObservedError | null,
): PresentedEvidence {
  const { result } = answer;
  const { condition, retention } = presenting.condition;
  const { binding } = presenting.selected;
  const fitted = error === null && result.value?.kind === "json"
    ? fitProviderResult(result.value.value, condition.observation_domain)
    : null;
  const misfit = error === null && result.value !== null && fitted === null
    ? misfitError(presenting, result.value)
    : null;
  const observed = error ?? misfit;
  const hashed = fitted === null ? null : hashValue(sha256, fitted);
  return {
    item_id: `binding:${binding.binding_id}`,
    condition_id: binding.condition_id,
    channel: binding.channel,
    retention,
    lane: result.lane,
    value: fitted,
    ...hashed === null ? {} : { value_identity: hashed.identity, content_hash: hashed.content_hash },
    ...observed === null ? {} : { error: observed },
    provider_id: binding.provider_id,
    binding_id: binding.binding_id,
    ...result.signature === null ? {} : { signature: result.signature },
    ...result.evidence_anchor === null ? {} : { anchor: result.evidence_anchor },
    ...result.observed_at === undefined ? {} : { observed_at: result.observed_at },
    hash_recomputes: hashRecomputes(result, source),
    acquisition: witness(presenting, answer, source, hashed?.identity ?? null),
  };
}

/** Whether the source's hash of its value is correct; true where the source sent no hash. */
export function hashRecomputes(result: EvidenceResult, source: SourceValue | null): boolean {
  return result.evidence_hash === null || result.evidence_hash.value === source?.content_hash.value;
}

function misfitError({ condition }: Presenting, value: EvidenceValue): ObservedError {
  const { condition_id, observation_domain } = condition.condition;
  const what = value.kind === "bytes" ? "Bytes are of no domain" : "The result does not fit";
  return {
    code: "domain_mismatch",
    message: `${what}: condition "${condition_id}" expects a value of domain "${observation_domain.domain}"`,
  };
}

function witness(
  { selected: { binding, trigger_time: given }, trigger_time, loaded, resolved }: Presenting,
  { result, acquired_at, grant }: Answered,
  source: SourceValue | null,
  valueIdentity: string | null,
): AcquisitionWitness {
  return {
    binding_id: binding.binding_id,
    provider_id: binding.provider_id,
    check_id: binding.check_id,
    contract_identity: loaded.contract_identity,
    ...resolved && binding.params !== undefined ? { params: binding.params } : {},
    trigger_time,
    ...given === undefined ? {} : { trigger_time_given: true as const },
    acquired_at,
    lane: result.lane,
    evidence_ref: result.evidence_ref?.uri ?? null,
    content_type: result.content_type,
    provider_result: resultWithoutValue(result, source, valueIdentity),
    grant,
  };
}

/**
 * A result as received, with hashes in place of its value. `content_hash` is the plain hash of the received value,
 * which the source's `evidence_hash` has to equal. `value_identity` identifies the value in the condition's domain;
 * null where it does not fit.
 */
function resultWithoutValue(
  result: EvidenceResult,
  source: SourceValue | null,
  valueIdentity: string | null,
): JsonObject {
  const value: JsonValue = result.value === null || source === null
    ? null
    : asJson({ kind: result.value.kind, content_hash: source.content_hash, value_identity: valueIdentity });
  return { ...asJson(result) as JsonObject, value };
}
