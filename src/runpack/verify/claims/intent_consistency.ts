/**
 * Claim 15: opening a stage proposed exactly the intents that its packets and the disclosure policy yield.
 *
 * @module
 */

import { decide } from "../../../run/decide/decide.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { requestOf } from "../procedure_request.ts";
import { atRevision, violation } from "../findings.ts";
import type { Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** Compares the intents and disclosures of an opened stage with those that the kernel decides. */
export function checkIntents({ record, before, law, environment }: Step): Violation | null {
  if (record.record_kind !== "stage_opened" || before === null) return null;
  const { stage_id, time_source } = record.body;
  const command = { kind: "open", ...requestOf(record), expected_head: before.head, stage_id } as const;
  const decision = decide(law, before, command, { time: time_source }, environment);
  const place = atRevision(record.revision);
  // Another claim reports a stage that could not be opened. Where the policy denies, no intent can have been proposed.
  if (decision.outcome === "policy_denied") return violation("disclosure_mismatch", place);
  const decided = decision.outcome === "accepted" ? decision.records[0]?.record : undefined;
  if (decided?.record_kind !== "stage_opened") return null;
  if (!sameJson(decided.body.disclosures, record.body.disclosures)) return violation("disclosure_mismatch", place);
  return sameJson(decided.body.intents, record.body.intents) ? null : violation("intent_mismatch", place);
}
