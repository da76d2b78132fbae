/** Evidence that waits in words: who stated, refused or withdrew what. */

import { FALSE, TRUE } from "../../law/value/truth.ts";
import type { RecordedEvidence, RunRecord, SubmittedEvidence } from "../../run/types.ts";
import type { PackView, ViewedRecord } from "../material_view.ts";
import { instantText } from "../../canonical/instant_text.ts";

type Submission = Extract<RunRecord, { record_kind: "artifact_submitted" }>["body"];

/** What a submission of evidence does with its condition, as a verb; null for any other submission. */
export function statementVerb({ law }: Pick<PackView, "law">, { record, statement }: ViewedRecord): string | null {
  const body = evidenceBody(record);
  if (body === null) return null;
  const { condition_id, value_identity } = body.evidence;
  if (value_identity === null) return "withdrew its statement on";
  const value = statement?.value ?? null;
  if (value === null) return "stated a value that is not shown for";
  switch (law.conditionIndex.get(condition_id)?.judge(value, body.time_source.reading_unix_millis)) {
    case TRUE:
      return "stated a value that satisfies";
    case FALSE:
      return "refused";
    default:
      return "stated a value that does not decide";
  }
}

/** What else a submission of evidence says: what its signer saw, its times and its comment. */
export function statementDetails({ record, statement }: ViewedRecord): readonly string[] {
  const body = evidenceBody(record);
  if (body === null) return [];
  const { seen_head, observed_at, valid_until, comment_hash } = body.evidence;
  return [
    `signed at revision ${seen_head.revision}, observed ${instantText(observed_at)}`,
    ...valid_until === undefined ? [] : [`valid until ${instantText(valid_until)}`],
    ...comment_hash === undefined ? [] : [statement?.comment ?? "comment not shown"],
  ];
}

/** The body of a record that submits evidence; null for any other record. */
export function evidenceBody(record: RunRecord): Submission & { readonly evidence: SubmittedEvidence } | null {
  if (record.record_kind !== "artifact_submitted") return null;
  const { evidence } = record.body;
  return evidence === undefined ? null : { ...record.body, evidence };
}

/** Where an item of evidence comes from, and who signed it. */
export function sourceText(
  { revisionOf }: Pick<PackView, "revisionOf">,
  { provider_id, binding_id = "", submission_record_id, signature }: RecordedEvidence,
): string {
  const revision = submission_record_id === undefined ? undefined : revisionOf(submission_record_id);
  const caller = submission_record_id === undefined ? "caller" : "submission";
  const source = provider_id === undefined
    ? `${caller}${revision === undefined ? "" : ` of revision ${revision}`}`
    : `${provider_id} / ${binding_id}`;
  return signature === undefined ? source : `${source}, signed by ${signature.key_id}`;
}
