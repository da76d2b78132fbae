/** Evidence of an evaluation: items of the caller, checked against the law, and items that gate acquired. */

import type { WordOf } from "../canonical/words.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash, identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { formatPath } from "../canonical/path.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { didYouMean } from "../law/suggest.ts";
import { checkInDomain, type DomainFaultCode } from "../law/value/typed_value.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import type { OperatorProfile } from "./profile.ts";
import { ITEMS_PER_CALL } from "./record_shapes.ts";
import type {
  ContentHash,
  EvidenceAnchor,
  EvidenceSignature,
  Material,
  RecordedEvidence,
  WaitingEvidence,
} from "./types.ts";

/** Most evidence items of one condition in one call. */
export const ITEMS_PER_CONDITION = 64;
/** Rejections of one call with a hint. A hint compares every known name. */
export const HINTS_MAXIMUM = 16;

/** An evidence item as a caller sends it. */
export interface CallerEvidence {
  readonly condition_id: string;
  readonly retention: { readonly retention: "RetainCanonicalValue" | "RetainDigestOnly" };
  readonly value: TypedValue;
  readonly signature?: EvidenceSignature;
  readonly anchor?: EvidenceAnchor;
  /** Unix milliseconds. */
  readonly observed_at?: number;
}

/** An evidence item before qualification, of a caller or acquired. Its lane is the one that the source declares. */
export interface PresentedEvidence extends
  Omit<
    RecordedEvidence,
    "qualified" | "reason" | "submission_record_id" | "value_type" | "hash_recomputes" | "found_nothing"
  > {
  /** Null if nothing was found or an error was observed. */
  readonly value: TypedValue | null;
  /** False if the hash that the source gave does not recompute. */
  readonly hash_recomputes: boolean;
  /** Exactly for evidence that waited. */
  readonly submission?: SubmissionFacts;
}

/** What qualification reads of the record of a submission. */
export type SubmissionFacts = Pick<WaitingEvidence, "record_id" | "public_key" | "submitted_at" | "valid_until">;

/** Why the evidence of a call is rejected. One rejection rejects the whole call, before any record. */
export interface EvidenceRejection {
  readonly code:
    | WordOf<"condition_not_found condition_of_other_stage binding_not_found binding_repeated binding_required">
    | WordOf<"value_type_mismatch value_invalid value_outside_domain value_too_large too_many_items">
    | "retention_mismatch";
  readonly path: string;
  readonly message: string;
}

/**
 * Identity of a typed value, of kind `evidence-value` over `{value, value_type}`, with its canonical text and plain
 * hash.
 */
export function hashValue(
  sha256: Sha256,
  typed: TypedValue,
): { identity: Identity; valueText: string; content_hash: ContentHash } {
  const valueText = canonicalize(typed.value);
  const identity = identifyCanonical(
    sha256,
    "evidence-value",
    `{"value":${valueText},"value_type":"${typed.value_type}"}`,
  );
  return { identity, valueText, content_hash: contentHash(sha256, valueText) };
}

/** The material that keeps the value of an item; null for digest-only items and for items without a value. */
export function valueMaterial(item: PresentedEvidence): Material | null {
  if (item.value === null || item.value_identity === undefined || item.retention === "RetainDigestOnly") return null;
  return {
    kind: "evidence-value",
    identity: item.value_identity,
    body: { value: item.value.value, value_type: item.value.value_type },
  };
}

/** The lower of the operator's and the law's limit on values, in canonical bytes. */
export function maximumValueBytes(law: CompiledLaw, profile: OperatorProfile): number {
  const { value_limits } = law.law;
  const operator = profile.value_limits.maximum_value_bytes;
  return value_limits.selection === "Explicit" ? Math.min(operator, value_limits.maximum_value_bytes) : operator;
}

/** The lower of the operator's and the law's limit on payloads, in bytes. */
export function maximumPayloadBytes(law: CompiledLaw, profile: OperatorProfile): number {
  const { value_limits } = law.law;
  const operator = profile.value_limits.maximum_payload_bytes;
  return value_limits.selection === "Explicit" ? Math.min(operator, value_limits.maximum_payload_bytes) : operator;
}

/** A rejection for each binding that the call did not ask, if its condition requires all of its bindings. */
export function rejectLeftOut(
  { bindings, conditions, slotOf }: CompiledStage,
  isAsked: (bindingId: string) => boolean,
): EvidenceRejection[] {
  return bindings.flatMap(({ binding_id, condition_id }) => {
    const condition = conditions[slotOf.get(condition_id) ?? -1]?.condition;
    if (condition?.evidence_use_policy.requires_all_bindings !== true || isAsked(binding_id)) return [];
    const message = `Condition "${condition_id}" requires all of its bindings, and "${binding_id}" is left out`;
    return [{ code: "binding_required", path: "$.local_acquisition", message }];
  });
}

/** A rejection with the path of a member within the item. */
type ItemRejection = Omit<EvidenceRejection, "path"> & { readonly member: readonly string[] };

/** Stages that a rejection names. */
const NAMED_STAGES = 3;

/** The code of a value outside its domain in rejections, and the member of the typed value at fault. */
export const DOMAIN_CODES = {
  value_type_mismatch: ["value_type_mismatch", "value_type"],
  value_malformed: ["value_invalid", "value"],
  value_out_of_bounds: ["value_outside_domain", "value"],
} as const satisfies Readonly<Record<DomainFaultCode, readonly [code: string, member: string]>>;

/** The end of a message: the stages that use a condition. */
function usersOf(law: CompiledLaw, conditionId: string): string {
  const users = law.stages.filter(({ slotOf }) => slotOf.has(conditionId)).map(({ stage }) => `"${stage.stage_id}"`);
  if (users.length === 0) return ", nor by any other";
  const more = users.length > NAMED_STAGES ? ` and ${users.length - NAMED_STAGES} more` : "";
  return `: it is used by ${users.slice(0, NAMED_STAGES).join(", ")}${more}`;
}

function rejectionOf(
  law: CompiledLaw,
  stage: CompiledStage,
  item: CallerEvidence,
  mayHint: boolean,
): ItemRejection | null {
  const id = item.condition_id;
  const compiled = law.conditionIndex.get(id);
  if (compiled === undefined) {
    const hint = mayHint ? didYouMean(id, stage.slotOf.keys()) : "";
    const message = `Condition "${id}" is not in the law${hint}`;
    return { code: "condition_not_found", member: ["condition_id"], message };
  }
  if (!stage.slotOf.has(id)) {
    const message = `Condition "${id}" is not used by stage "${stage.stage.stage_id}"${
      mayHint ? usersOf(law, id) : ""
    }`;
    return { code: "condition_of_other_stage", member: ["condition_id"], message };
  }
  const fault = checkInDomain(item.value, compiled.condition.observation_domain);
  if (fault !== null) {
    const [code, member] = DOMAIN_CODES[fault.code];
    return { code, member: ["value", member], message: fault.message };
  }
  if (item.retention.retention !== compiled.retention) {
    const message = `Expected retention "${compiled.retention}" of the condition, got "${item.retention.retention}"`;
    return { code: "retention_mismatch", member: ["retention", "retention"], message };
  }
  return null;
}

/** Evidence of a call after its checks: items to qualify, or the rejections. */
export type Presentation =
  | { readonly ok: true; readonly items: readonly PresentedEvidence[] }
  | { readonly ok: false; readonly rejections: readonly EvidenceRejection[] };

function countRejections(evidence: readonly CallerEvidence[]): EvidenceRejection[] {
  if (evidence.length > ITEMS_PER_CALL) {
    const message = `Expected at most ${ITEMS_PER_CALL} evidence items in a call, got ${evidence.length}`;
    return [{ code: "too_many_items", path: "$.caller_evidence", message }];
  }
  const counts = new Map<string, number>();
  for (const { condition_id } of evidence) counts.set(condition_id, (counts.get(condition_id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > ITEMS_PER_CONDITION).map(([id, count]) => ({
    code: "too_many_items",
    path: "$.caller_evidence",
    message: `Expected at most ${ITEMS_PER_CONDITION} evidence items for condition "${id}", got ${count}`,
  }));
}

/** The rejection of a value over {@link maximumValueBytes}. */
export function tooLarge(path: readonly (string | number)[], bytes: number, maximumBytes: number): EvidenceRejection {
  const message = `Expected a value of at most ${maximumBytes} canonical bytes, got ${bytes}`;
  return { code: "value_too_large", path: formatPath(path), message };
}

function presentItem(
  sha256: Sha256,
  item: CallerEvidence,
  index: number,
  verdict: "valid" | "invalid" | undefined,
  maximumBytes: number,
): PresentedEvidence | EvidenceRejection {
  const { identity, valueText, content_hash } = hashValue(sha256, item.value);
  const bytes = utf8Length(valueText);
  if (bytes > maximumBytes) return tooLarge(["caller_evidence", index, "value", "value"], bytes, maximumBytes);
  return {
    item_id: `caller:${index}`,
    condition_id: item.condition_id,
    channel: "caller_submission",
    retention: item.retention.retention,
    lane: "verified",
    value: item.value,
    value_identity: identity,
    content_hash,
    hash_recomputes: true,
    ...item.signature === undefined ? {} : { signature: item.signature },
    ...item.anchor === undefined ? {} : { anchor: item.anchor },
    ...item.observed_at === undefined ? {} : { observed_at: item.observed_at },
    ...verdict === undefined ? {} : { schema_verdict: verdict },
  };
}

/**
 * Checks the caller's evidence of one evaluation, and returns the items to qualify or every rejection.
 *
 * @param verdicts Verdicts of the conditions' JSON Schemas, by index of the item
 */
export function presentCallerEvidence(
  sha256: Sha256,
  law: CompiledLaw,
  stage: CompiledStage,
  profile: OperatorProfile,
  evidence: readonly CallerEvidence[],
  verdicts: ReadonlyMap<number, "valid" | "invalid">,
): Presentation {
  const rejections = countRejections(evidence);
  if (rejections.length > 0) return { ok: false, rejections };
  const maximumBytes = maximumValueBytes(law, profile);
  const items: PresentedEvidence[] = [];
  evidence.forEach((item, index) => {
    const rejection = rejectionOf(law, stage, item, rejections.length < HINTS_MAXIMUM);
    if (rejection !== null) {
      const { member, ...rest } = rejection;
      rejections.push({ ...rest, path: formatPath(["caller_evidence", index, ...member]) });
      return;
    }
    const presented = presentItem(sha256, item, index, verdicts.get(index), maximumBytes);
    if ("code" in presented) rejections.push(presented);
    else items.push(presented);
  });
  return rejections.length > 0 ? { ok: false, rejections } : { ok: true, items };
}
