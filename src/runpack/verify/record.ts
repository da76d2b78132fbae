/**
 * Verifies one record at the state before it. The kernel decides it again. Where that yields the same bytes, every
 * claim about the decision holds; otherwise each claim is checked by itself.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { creationResult, operationResult } from "../../run/decide/accept.ts";
import type { RecordedEvidence, RunCreatedBody, RunState } from "../../run/types.ts";
import { DECISION_CHECKS } from "./claims/decision.ts";
import { EVIDENCE_CHECKS, restsOnUnkeptValue } from "./claims/evidence.ts";
import { explainReceipt, receiptLine } from "./claims/operation_receipt_consistency.ts";
import type { SegmentValues } from "./material_values.ts";
import type { PackArtifacts } from "./artifacts.ts";
import { atItem, atRevision, type Findings, violation } from "./findings.ts";
import { gapsOf, isValue, itemsOf, type Step } from "./step.ts";
import { claimsThatNeed, DECISION_CLAIMS, EVIDENCE_CLAIMS } from "./claims.ts";
import type { VerificationPrimitives } from "./types.ts";

const VALUE_CLAIMS = claimsThatNeed("values");

/** Whether the repeated decision of a step yields the same bytes. */
export function wasDecidedAgain({ decision }: Step, line: string): boolean {
  return decision?.outcome === "accepted" && decision.records[0]?.text === line;
}

/** Whether the kernel accepts more of an item as given than its value. */
function isGiven({ conditionIndex }: CompiledLaw, item: RecordedEvidence): boolean {
  const domain = conditionIndex.get(item.condition_id)?.condition.observation_domain;
  const asksVerdict = domain?.domain === "Json" && domain.schema !== undefined;
  return item.channel !== "caller_submission" || asksVerdict || item.schema_verdict !== undefined;
}

/** Checks the claims about the decision of a step. */
export function judgeStep(step: Step, line: string, values: SegmentValues, findings: Findings): void {
  const again = wasDecidedAgain(step, line);
  const items = step.record.record_kind === "stage_evaluated" ? step.record.body.evidence : [];
  if (again && !items.some((item) => isGiven(step.law, item))) {
    for (const { kind, identity, body } of step.decision?.records[0]?.material ?? []) {
      values.confirm(kind, identity, body);
    }
    return;
  }
  if (!again) { for (const claim of DECISION_CLAIMS) findings.note(claim, DECISION_CHECKS[claim](step)); }
  for (const claim of EVIDENCE_CLAIMS) findings.note(claim, EVIDENCE_CHECKS[claim](step));
  for (const gap of gapsOf(step.values)) {
    for (const claim of VALUE_CLAIMS) findings.leaveOpen(claim, gap);
  }
  if (step.values.payload === "value_withheld") {
    findings.leaveOpen("submission_consistency", "value_withheld");
    findings.leaveOpen("pure_semantic_replay", "value_withheld");
  }
  if (items.some(restsOnUnkeptValue)) {
    findings.leaveOpen("acquisition_admission_witness_reconstruction", "value_not_retained");
  }
}

/** The schema that the run binds for the domain of a condition, or null. */
export function boundSchema(
  { conditionIndex }: CompiledLaw,
  conditionId: string,
  schemas: RunCreatedBody["schemas"],
): RunCreatedBody["schemas"][number] | null {
  const domain = conditionIndex.get(conditionId)?.condition.observation_domain;
  const schema = domain?.domain === "Json" ? domain.schema : undefined;
  if (schema === undefined) return null;
  return schemas.find((one) => one.schema_id === schema.schema_id && one.version === schema.version) ?? null;
}

/**
 * Requests the verdicts that a step records from the validator, where the host has one.
 *
 * @returns Whether a recorded verdict was assumed to be right
 */
export async function judgeVerdicts(
  step: Step,
  { validateSchema }: VerificationPrimitives,
  artifacts: PackArtifacts,
  findings: Findings,
): Promise<boolean> {
  let assumed = false;
  for (const [index, { item, value }] of itemsOf(step).entries()) {
    if (item.schema_verdict === undefined) continue;
    const bound = isValue(value) ? boundSchema(step.law, item.condition_id, step.bound.schemas) : null;
    const document = bound === null ? undefined : artifacts.schema(bound.schema_identity);
    if (!isValue(value) || bound === null || document === undefined) continue;
    const verdict = await validateSchema?.(bound.schema_identity, document, value.value) ?? null;
    if (verdict === null) assumed = true;
    else if (verdict !== item.schema_verdict) {
      const place = atItem(step.record.revision, index);
      findings.note("evidence_structural_admission", violation("schema_verdict_mismatch", place));
    }
  }
  return assumed;
}

/** Compares a receipt with the result that its record gives. */
export function judgeReceipt(
  step: Pick<Step, "record" | "recordId"> & { readonly law: Step["law"] | null },
  after: RunState | null,
  line: string | undefined,
  findings: Findings,
): void {
  const { record, recordId, law } = step;
  const claim = record.revision === 1 ? "creation_receipt_integrity" : "operation_receipt_consistency";
  if (line === undefined) {
    findings.note(claim, violation("receipt_missing", atRevision(record.revision)));
    return;
  }
  const result = record.record_kind === "run_created"
    ? creationResult(record, recordId)
    // Without a law no other result follows.
    : law === null || after === null
    ? null
    : operationResult(law, record, recordId, after);
  if (result === null || receiptLine(record, result) === line) return;
  findings.note(claim, explainReceipt(line, record));
}

/** Whether a receipt follows from the repeated decision: the common case, in which no result has to be built again. */
export function isDecidedReceipt(step: Step, line: string | undefined): boolean {
  if (line === undefined || step.decision?.outcome !== "accepted") return false;
  const { operation: { family, identity }, invocation_identity } = step.record;
  const before = `{"invocation_identity":"${invocation_identity}","operation":{"family":"${family}",` +
    `"identity":"${identity}"},"result":`;
  return line.startsWith(before) && line.endsWith("}") &&
    line.slice(before.length, -1) === canonicalize(step.decision.result);
}
