/**
 * Claim 20: acquired evidence comes from the binding, provider and contract that it names, and agrees with the result
 * of the provider.
 *
 * @module
 */

import { isOfCaller } from "../../../run/qualify.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { anchorFields } from "../../../run/anchor.ts";
import { isClockError } from "../../../run/attempt.ts";
import type { AcquisitionWitness, RecordedEvidence } from "../../../run/types.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { channelOf } from "../../format/contract_facts.ts";
import {
  anything,
  closed,
  contentHash,
  identity,
  integer,
  matches,
  object,
  oneOf,
  orNull,
  text,
} from "../../../canonical/shape.ts";
import { atItem, violation } from "../findings.ts";
import { itemsOf, type Step } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** Compares every acquired item with its binding, its contract and the result of its provider. */
export function checkAcquisitions(step: Step): Violation | null {
  for (const [index, { item }] of itemsOf(step).entries()) {
    const code = faultOf(step, item);
    if (code !== null) return violation(code, atItem(step.record.revision, index));
  }
  return null;
}

/** Errors that gate raises for a result without an error. */
const OBSERVED_BY_GATE = [
  "domain_mismatch",
  "content_type_mismatch",
  "anchor_invalid",
  "result_schema_mismatch",
  "signature_invalid",
];

const resultShape = closed({
  value: orNull(
    closed({
      kind: oneOf("json", "bytes"),
      content_hash: contentHash,
      value_identity: orNull(identity),
    }),
  ),
  lane: oneOf("verified", "asserted"),
  error: orNull(closed({ code: text, message: text }, { details: anything })),
  evidence_hash: orNull(contentHash),
  evidence_ref: orNull(closed({ uri: text })),
  evidence_anchor: orNull(object),
  signature: orNull(object),
  content_type: orNull(text),
}, { observed_at: integer(Number.MIN_SAFE_INTEGER) });

/**
 * Whether the error of an item concerns a value that no pack holds: one outside every domain, or one that fails the
 * schema of its check. Such an error cannot be derived again.
 */
export function restsOnUnkeptValue({ acquisition, error }: RecordedEvidence): boolean {
  const code = error?.code;
  if (acquisition === undefined || (code !== "domain_mismatch" && code !== "result_schema_mismatch")) return false;
  return !isJsonObject(member(acquisition.provider_result, "error"));
}

function faultOf(step: Step, item: RecordedEvidence): ViolationCode | null {
  const witness = item.acquisition;
  if (isOfCaller(item)) return witness === undefined ? null : "witness_unexpected";
  if (witness === undefined) return "witness_missing";
  return bindingFault(step, item, witness) ?? contractFault(step, item, witness) ?? versionFault(step, item, witness) ??
    timeFault(witness) ?? resultFault(item, witness);
}

function bindingFault({ law }: Step, item: RecordedEvidence, witness: AcquisitionWitness): ViolationCode | null {
  const binding = law.bindingIndex.get(witness.binding_id);
  const same = binding !== undefined && item.binding_id === witness.binding_id &&
    item.provider_id === witness.provider_id &&
    binding.condition_id === item.condition_id && binding.provider_id === witness.provider_id &&
    binding.check_id === witness.check_id && binding.channel === item.channel;
  if (!same) return "binding_mismatch";
  // A witness repeats the params exactly if values of the run are in them.
  const params = law.resolvedBindings.has(witness.binding_id) ? binding.params : undefined;
  return sameJson(params ?? null, witness.params ?? null) && (params === undefined) === (witness.params === undefined)
    ? null
    : "params_mismatch";
}

function contractFault(
  { bound, contracts }: Step,
  { channel }: RecordedEvidence,
  witness: AcquisitionWitness,
): ViolationCode | null {
  const named = bound.contracts.find(({ provider_id }) => provider_id === witness.provider_id);
  if (named?.contract_identity !== witness.contract_identity) return "contract_mismatch";
  const contract = contracts.get(witness.contract_identity) ?? null;
  if (contract === null) return "contract_missing";
  const has = contract.provider_id === witness.provider_id && channelOf(contract) === channel &&
    contract.checks.has(witness.check_id);
  return has ? null : "contract_mismatch";
}

/** The anchor of a typed provider names the version that was asked: the one that the run is bound to. */
function versionFault(
  { bound }: Step,
  { anchor }: RecordedEvidence,
  witness: AcquisitionWitness,
): ViolationCode | null {
  const named = bound.contracts.find(({ provider_id }) => provider_id === witness.provider_id);
  if (named?.provider_version_identity === undefined || anchor === undefined) return null;
  const fields = anchorFields(anchor);
  const asked = fields === null ? undefined : member(fields, "provider_version_identity");
  return asked === named.provider_version_identity ? null : "provider_version_mismatch";
}

/** A caller may name any trigger time; the time of the authority is in Unix milliseconds. */
function timeFault({ trigger_time, trigger_time_given }: AcquisitionWitness): ViolationCode | null {
  return trigger_time_given === true || trigger_time.kind === "unix_millis" ? null : "trigger_time_mismatch";
}

function resultFault(item: RecordedEvidence, witness: AcquisitionWitness): ViolationCode | null {
  const result = witness.provider_result;
  if (!matches(resultShape, result)) return "witness_invalid";
  const at = (name: string): JsonValue => member(result, name) ?? null;
  const reference = at("evidence_ref");
  const same = at("lane") === witness.lane && at("content_type") === witness.content_type &&
    (isJsonObject(reference) ? member(reference, "uri") : null) === witness.evidence_ref &&
    sameJson(at("signature"), item.signature ?? null) && sameJson(at("evidence_anchor"), item.anchor ?? null) &&
    at("observed_at") === (item.observed_at ?? null);
  if (!same || !agreesWith(item, result) || hashFails(result) !== (item.hash_recomputes === false)) {
    return "provider_result_mismatch";
  }
  return null;
}

/** Whether the source stated another hash than that of its value. */
function hashFails(result: JsonObject): boolean {
  const given = member(result, "evidence_hash") ?? null;
  const value = member(result, "value") ?? null;
  if (!isJsonObject(given)) return false;
  return !isJsonObject(value) || !sameJson(given, member(value, "content_hash") ?? null);
}

function agreesWith(item: RecordedEvidence, result: JsonObject): boolean {
  const value = member(result, "value") ?? null;
  const error = member(result, "error") ?? null;
  if (error !== null) return item.error !== undefined && sameJson(error, item.error);
  if (item.error !== undefined && !isClockError(item)) return OBSERVED_BY_GATE.includes(item.error.code);
  if (value === null) return item.found_nothing === true;
  return isJsonObject(value) && item.value_identity !== undefined &&
    member(value, "value_identity") === item.value_identity && hashFits(item, value);
}

/** Types that keep JSON unchanged, so that its plain hash is that of the item. The other types rewrite it. */
const AS_IT_COMES: readonly RecordedEvidence["value_type"][] = ["Boolean", "Integer", "Json", "String", "Timestamp"];

function hashFits({ value_type, content_hash }: RecordedEvidence, value: JsonObject): boolean {
  if (member(value, "kind") !== "json" || !AS_IT_COMES.includes(value_type)) return true;
  return sameJson(member(value, "content_hash"), content_hash ?? null);
}
