/**
 * The claims about the evidence of a record. They are checked even where the kernel makes the same decision: it accepts
 * as given an acquisition, a verdict, or the value of a statement that waited, which it checks at the submission alone.
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { compareCodePoints } from "../../../canonical/order.ts";
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
import { utf8Length } from "../../../canonical/utf8.ts";
import { checkInDomain } from "../../../law/value/typed_value.ts";
import { providerTrust } from "../../../run/acquired.ts";
import { anchorCounts, anchorFields } from "../../../run/anchor.ts";
import { isClockError } from "../../../run/attempt.ts";
import type { CompiledLaw, CompiledStage } from "../../../run/compile.ts";
import { recordEvidence } from "../../../run/decide/decide_evaluate.ts";
import { hashValue, ITEMS_PER_CONDITION, maximumValueBytes } from "../../../run/evidence.ts";
import { asJson } from "../../../run/primitives.ts";
import { isOfCaller } from "../../../run/qualify.ts";
import { ITEMS_PER_CALL } from "../../../run/record_shapes.ts";
import { waitingFor } from "../../../run/submitted_evidence.ts";
import type { AcquisitionWitness, RecordedEvidence, WaitingEvidence } from "../../../run/types.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { channelOf } from "../../format/contract_facts.ts";
import type { Manifest } from "../../format/types.ts";
import type { ClaimOf, ViolationCode } from "../claims.ts";
import { atItem, atRevision, violation } from "../findings.ts";
import { type AttemptEnvironment, qualificationOf, requalify } from "../requalify.ts";
import { findSourceSignature } from "../source_signature.ts";
import { isValue, itemsOf, type RecordCheck, type Step, type StepItem } from "../step.ts";
import type { Violation } from "../types.ts";

/** The check of each claim about evidence. */
export const EVIDENCE_CHECKS: Readonly<Record<ClaimOf<"evidence">, RecordCheck>> = {
  evidence_structural_admission: checkItems,
  evidence_retention_reconstruction: checkValues,
  evidence_use_policy_satisfaction: checkQualifications,
  acquisition_admission_witness_reconstruction: checkAcquisitions,
};

/** Checks the form of every item, and that its value lies in the domain of its condition. */
function checkItems(step: Step): Violation | null {
  // The first record has no state before it, so only its kind is checked, by another claim.
  if (step.record.record_kind !== "stage_evaluated" || step.before === null) return null;
  const stage = step.law.stages[step.law.stageIndex.get(step.record.body.stage_id) ?? -1];
  // Another claim reports an unknown stage.
  if (stage === undefined) return null;
  const items = itemsOf(step);
  const waiting = waitingFor(step.before, step.record.body.stage_id);
  const code = orderFault(items) ?? countFault(items) ?? waitingFault(items, waiting);
  if (code !== null) return violation(code, atRevision(step.record.revision));
  for (const [index, one] of items.entries()) {
    const fault = itemFault(step, stage, one);
    if (fault !== null) return violation(fault, atItem(step.record.revision, index));
  }
  return null;
}

/** Items of a caller come first, numbered; then those that waited; acquired items follow, ordered by id. */
function orderFault(items: readonly StepItem[]): ViolationCode | null {
  const callers = items.filter(({ item }) => item.channel === "caller_submission").length;
  const given = callers + items.filter(({ item }) => item.channel === "accepted_submission").length;
  for (const [index, { item }] of items.entries()) {
    if (index < callers) {
      if (item.item_id !== `caller:${index}`) return "item_invalid";
      continue;
    }
    if (index < given) {
      const isOwn = item.channel === "accepted_submission" &&
        item.item_id === `submission:${item.submission_record_id}`;
      if (!isOwn) return "item_invalid";
      continue;
    }
    const before = index > given ? items[index - 1]?.item.item_id : undefined;
    const order = before === undefined ? -1 : compareCodePoints(before, item.item_id);
    if (order === 0) return "item_repeated";
    if (order > 0 || isOfCaller(item) || item.item_id !== `binding:${item.binding_id}`) return "item_invalid";
  }
  return null;
}

/** The items that waited are exactly those of the state: a call can leave out none. */
function waitingFault(items: readonly StepItem[], waiting: readonly WaitingEvidence[]): ViolationCode | null {
  const own = items.flatMap(({ item }) => item.channel === "accepted_submission" ? [item] : []);
  const expected = new Set(waiting.map(({ record_id }) => record_id));
  if (own.some(({ submission_record_id }) => !expected.has(submission_record_id ?? ""))) return "submission_unexpected";
  const found = new Set(own.map(({ submission_record_id }) => submission_record_id));
  if (waiting.some(({ record_id }) => !found.has(record_id))) return "submission_missing";
  if (own.length > waiting.length) return "submission_unexpected";
  return own.every((item, index) => repeats(item, waiting[index])) ? null : "submission_mismatch";
}

/** Whether an item repeats the members of its submission, in its place. */
function repeats(item: RecordedEvidence, waiting: WaitingEvidence | undefined): boolean {
  return waiting !== undefined && item.submission_record_id === waiting.record_id &&
    item.condition_id === waiting.condition_id && item.value_identity === waiting.value_identity &&
    item.value_type === waiting.value_type && item.observed_at === waiting.observed_at &&
    item.content_hash?.value === waiting.content_hash?.value && item.schema_verdict === waiting.schema_verdict &&
    item.anchor === undefined && sameJson(asJson(item.signature ?? {}), asJson(waiting.signature));
}

function countFault(items: readonly StepItem[]): ViolationCode | null {
  const callers = items.filter(({ item }) => item.channel === "caller_submission");
  if (callers.length > ITEMS_PER_CALL) return "items_unexpected";
  const counts = new Map<string, number>();
  for (const { item: { condition_id } } of callers) counts.set(condition_id, (counts.get(condition_id) ?? 0) + 1);
  return [...counts.values()].some((count) => count > ITEMS_PER_CONDITION) ? "items_unexpected" : null;
}

function itemFault({ law, environment }: Step, stage: CompiledStage, { item, value }: StepItem): ViolationCode | null {
  const compiled = law.conditionIndex.get(item.condition_id);
  if (compiled === undefined || !stage.slotOf.has(item.condition_id)) return "condition_mismatch";
  if (item.retention !== compiled.retention) return "retention_mismatch";
  const domain = compiled.condition.observation_domain;
  if (!hasMembers(item)) return "item_invalid";
  if (item.value_type !== undefined && item.value_type !== domain.domain) return "value_type_mismatch";
  const asksVerdict = domain.domain === "Json" && domain.schema !== undefined && item.value_identity !== undefined;
  if (asksVerdict !== (item.schema_verdict !== undefined)) return "schema_verdict_mismatch";
  if (!isValue(value)) return null;
  if (checkInDomain(value, domain) !== null) return "value_invalid";
  const bytes = utf8Length(canonicalize(value.value));
  return bytes > maximumValueBytes(law, environment.profile) ? "value_invalid" : null;
}

/**
 * An item has exactly one of a value, an error and `found_nothing`; an error of the clock is not counted. A caller has
 * a value.
 */
function hasMembers(item: RecordedEvidence): boolean {
  const { value_identity, value_type, content_hash, found_nothing } = item;
  const error = isClockError(item) ? undefined : item.error;
  const valued = value_identity !== undefined;
  if (valued !== (value_type !== undefined) || valued !== (content_hash !== undefined)) return false;
  if ([valued, error !== undefined, found_nothing === true].filter(Boolean).length !== 1) return false;
  if ((item.channel === "accepted_submission") !== (item.submission_record_id !== undefined)) return false;
  if (!isOfCaller(item)) return item.provider_id !== undefined && item.binding_id !== undefined;
  return valued && item.provider_id === undefined && item.binding_id === undefined &&
    item.hash_recomputes === undefined;
}

/** Whether the law has every withheld condition. */
export function checkWithheld({ conditionIndex }: CompiledLaw, { withheld_conditions }: Manifest): Violation | null {
  const index = withheld_conditions.findIndex((id) => !conditionIndex.has(id));
  return index < 0 ? null : violation("condition_missing", `withheld_conditions/${index}`);
}

/** Compares each value with its identity, its type and its hash; a whole segment is compared by its values. */
function checkValues(step: Step): Violation | null {
  const { sha256 } = step.environment.primitives;
  for (const [index, { item, value }] of itemsOf(step).entries()) {
    if (!isValue(value)) continue;
    const place = atItem(step.record.revision, index);
    const { identity, content_hash } = hashValue(sha256, value);
    if (identity !== item.value_identity) return violation("value_mismatch", place);
    if (value.value_type !== item.value_type) return violation("value_type_mismatch", place);
    if (content_hash.value !== item.content_hash?.value) return violation("content_hash_mismatch", place);
  }
  return null;
}

/** Qualifies every item again, and compares. */
function checkQualifications(step: Step): Violation | null {
  const qualification = qualificationOf(step);
  const { revision } = step.record;
  if (qualification === null) return null;
  const items = itemsOf(step);
  const anew = requalify(step, qualification);
  if (anew === null) return violation("qualification_mismatch", atRevision(revision));
  for (const [index, one] of items.entries()) {
    const found = anew.evidence[index];
    const code = found === undefined
      ? "qualification_mismatch"
      : qualificationFault(one, recordEvidence(found)) ?? errorFault(step, qualification.environment, one);
    if (code !== null) return violation(code, atItem(revision, index));
  }
  return null;
}

function qualificationFault({ item }: StepItem, anew: RecordedEvidence): ViolationCode | null {
  if (anew.lane !== item.lane) return "lane_mismatch";
  if (item.qualified !== (item.reason === undefined && item.error === undefined)) return "qualification_mismatch";
  const isSame = anew.reason === item.reason && sameJson(anew.error ?? null, item.error ?? null);
  return isSame ? null : "qualification_mismatch";
}

/** Whether an item with an error of gate about its signature or anchor was really unsigned or unanchored. */
function errorFault(step: Step, environment: AttemptEnvironment, one: StepItem): ViolationCode | null {
  const { item } = one;
  const { acquisition: witness, error, provider_id, channel } = item;
  if (error === undefined || witness === undefined || provider_id === undefined) return null;
  if (isJsonObject(member(witness.provider_result, "error"))) return null;
  if (error.code === "anchor_invalid") {
    const { anchors } = environment.profile;
    const owes = anchors.some((one) => one.provider_id === provider_id) &&
      !anchorCounts(item.anchor, provider_id, anchors);
    const check = step.contracts.get(witness.contract_identity)?.checks.get(witness.check_id);
    const types = check?.anchor_types ?? [];
    const undeclared = item.anchor !== undefined && types.length > 0 && !types.includes(item.anchor.anchor_type);
    return owes || undeclared ? null : "qualification_mismatch";
  }
  if (error.code !== "signature_invalid") return null;
  const trust = providerTrust(environment.profile, provider_id, channel);
  if (trust === "audit") return "qualification_mismatch";
  const isSigned = findSourceSignature(environment, trust.require_signature.keys, one) === "signed";
  return isSigned ? "qualification_mismatch" : null;
}

/** Compares every acquired item with its binding, its contract and the result of its provider. */
function checkAcquisitions(step: Step): Violation | null {
  for (const [index, { item }] of itemsOf(step).entries()) {
    const code = acquisitionFault(step, item);
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
    closed({ kind: oneOf("json", "bytes"), content_hash: contentHash, value_identity: orNull(identity) }),
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

function acquisitionFault(step: Step, item: RecordedEvidence): ViolationCode | null {
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

/**
 * A caller may name any trigger time; that of the authority is in Unix milliseconds. Clocks step, so its value has no
 * bound.
 */
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
