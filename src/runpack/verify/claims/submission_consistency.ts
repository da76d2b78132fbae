/**
 * Claim 14: every stored payload is present, matches its record, and was allowed in the state before it.
 *
 * @module
 */

import type { JsonValue } from "../../../canonical/json.ts";
import type { Environment } from "../../../run/command.ts";
import type { CompiledLaw } from "../../../run/compile.ts";
import { decide } from "../../../run/decide/decide.ts";
import { submitsEvidence } from "../../../run/decide/decide_submit.ts";
import { isJsonContentType, isMediaType } from "../../../law/content_type.ts";
import { maximumPayloadBytes } from "../../../run/evidence.ts";
import { hashPayload } from "../../../run/payload.ts";
import { asJson } from "../../../run/primitives.ts";
import { checkSubmitted } from "../../../run/submitted_evidence.ts";
import type { ContentHash, RunRecord, RunState } from "../../../run/types.ts";
import type { Identity } from "../../../canonical/identity.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { submitCommandOf } from "../decide_again.ts";
import { atRevision, violation } from "../findings.ts";
import type { Step } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** Checks the payload, its content type and its scope; of evidence that waits also its statement. */
export function checkSubmission(step: Step): Violation | null {
  const code = faultOf(step);
  return code === null ? null : violation(code, atRevision(step.record.revision));
}

function faultOf(step: Step): ViolationCode | null {
  const { record } = step;
  if (record.record_kind === "run_created") {
    return record.body.genesis.kind === "declared" ? payloadFault(step, record.body.genesis) : null;
  }
  if (record.record_kind !== "artifact_submitted") return null;
  return payloadFault(step, record.body) ?? placeFault(step, record);
}

function payloadFault(
  { values: { payload }, law, environment }: Step,
  named: { readonly payload_identity: Identity; readonly content_hash: ContentHash },
): ViolationCode | null {
  if (payload === "value_withheld") return null;
  if (payload === null) return "payload_missing";
  const hashed = hashPayload(environment.primitives.sha256, payload);
  if (hashed === null) return "payload_invalid";
  if (hashed.identity !== named.payload_identity) return "payload_mismatch";
  if (hashed.content_hash.value !== named.content_hash.value) return "content_hash_mismatch";
  return hashed.bytes > maximumPayloadBytes(law, environment.profile) ? "payload_invalid" : null;
}

type Submission = Extract<RunRecord, { record_kind: "artifact_submitted" }>;

/** The violation of scope, content type or statement that the kernel finds. */
function placeFault(
  { before, law, environment, values, seenRecordId }: Step,
  record: Submission,
): ViolationCode | null {
  const { payload } = values;
  if (before === null || payload === null) return null;
  if (payload === "value_withheld") return withheldFault(law, before, environment, record, seenRecordId);
  const command = submitCommandOf(record, before, payload, seenRecordId);
  const { outcome, records, result } = decide(law, before, command, { time: record.body.time_source }, environment);
  switch (outcome) {
    case "accepted":
      return isDecidedEvidence(record, records[0]?.record) ? null : "evidence_mismatch";
    case "content_type_rejected":
      return "content_type_invalid";
    case "payload_rejected":
      return codeOf(result["code"]);
    default:
      return "scope_mismatch";
  }
}

function isDecidedEvidence({ body }: Submission, decided: RunRecord | undefined): boolean {
  if (decided?.record_kind !== "artifact_submitted") return false;
  return sameJson(asJson(decided.body.evidence ?? {}), asJson(body.evidence ?? {}));
}

/** The statement of a withheld payload: everything but the value is in the record. */
function withheldFault(
  law: CompiledLaw,
  before: RunState,
  environment: Environment,
  { body: { content_type, scope, evidence, time_source } }: Submission,
  seenRecordId: Identity | undefined,
): ViolationCode | null {
  const stage = scope.kind === "stage_open" ? before.stages[law.stageIndex.get(scope.stage_id) ?? -1] : undefined;
  const isOpen = stage?.classification === "open_incomplete" && before.status === "active";
  if (scope.kind !== "stage_open" || !isOpen || stage.stage_open_record_id !== scope.stage_open_record_id) {
    return "scope_mismatch";
  }
  if (!isMediaType(content_type) || !isJsonContentType(content_type)) return "content_type_invalid";
  if (evidence === undefined || !submitsEvidence({ content_type }, environment)) return "evidence_mismatch";
  const reading = time_source.reading_unix_millis;
  const fault = checkSubmitted(law, before, environment, scope, evidence, seenRecordId, reading);
  return fault === null ? null : codeOf(fault.code);
}

/** The code of a rejected statement. A rejected payload of another kind has none. */
function codeOf(code: JsonValue | undefined): ViolationCode {
  switch (code) {
    case "signature_invalid":
      return "signature_invalid";
    case "seen_head_unknown":
      return "seen_head_mismatch";
    case "statement_not_newer":
    case "statement_in_future":
    case "statement_expired":
      return "statement_time_invalid";
    default:
      return "payload_invalid";
  }
}
