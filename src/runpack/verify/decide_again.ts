/** Rebuilds the command of a record and decides it again, by the procedure of the record. */

import type { Payload } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { Command, Decision, EvaluateCommand, SubmitCommand } from "../../run/command.ts";
import { isClockError } from "../../run/attempt.ts";
import { decide } from "../../run/decide/decide.ts";
import type { CallerEvidence, PresentedEvidence, SubmissionFacts } from "../../run/evidence.ts";
import { isOfCaller } from "../../run/qualify.ts";
import type { RecordedEvidence, RunRecord, RunState, StageEvaluatedBody } from "../../run/types.ts";
import type { Identity } from "../../canonical/identity.ts";
import { requestOf } from "./procedure_request.ts";
import { isValue, type Step, type StepValues } from "./step.ts";

/** The state and environment in which a record is decided again. */
export type DecisionInputs = Pick<Step, "law" | "before" | "environment" | "values" | "seenRecordId">;

/**
 * A recorded item as it was presented to qualification; without its value where that is absent. The error of a clock
 * behind the run is omitted: qualification finds it again.
 *
 * @param submission Of an item that waited: what the record of its submission says
 */
export function presentRecorded(
  item: RecordedEvidence,
  value: TypedValue | null,
  submission?: SubmissionFacts,
): PresentedEvidence {
  const { qualified: _qualified, reason: _reason, value_type: _type, found_nothing: _nothing, error, ...kept } = item;
  const { submission_record_id: _record, ...rest } = kept;
  return {
    ...rest,
    ...submission === undefined ? {} : { submission },
    ...error === undefined || isClockError(item) ? {} : { error },
    lane: item.acquisition?.lane ?? "verified",
    value,
    hash_recomputes: item.hash_recomputes !== false,
  };
}

function callerItem(item: RecordedEvidence, value: TypedValue): CallerEvidence {
  return {
    condition_id: item.condition_id,
    retention: { retention: item.retention },
    value,
    ...item.signature === undefined ? {} : { signature: item.signature },
    ...item.anchor === undefined ? {} : { anchor: item.anchor },
    ...item.observed_at === undefined ? {} : { observed_at: item.observed_at },
  };
}

type Evidence = Required<
  Pick<EvaluateCommand, "caller_evidence" | "schema_verdicts" | "acquired" | "submitted_values">
>;

/** The evidence of an evaluation; null where a value is absent. */
function evidenceOf({ evidence }: StageEvaluatedBody, values: StepValues): Evidence | null {
  const caller_evidence: CallerEvidence[] = [];
  const schema_verdicts = new Map<number, "valid" | "invalid">();
  const acquired: PresentedEvidence[] = [];
  const submitted_values = new Map<Identity, TypedValue>();
  for (const [index, item] of evidence.entries()) {
    const value = values.evidence[index] ?? null;
    if (typeof value === "string") return null;
    if (!isOfCaller(item)) {
      acquired.push(presentRecorded(item, value));
      continue;
    }
    if (!isValue(value)) return null;
    if (item.channel === "accepted_submission") {
      submitted_values.set(item.value_identity ?? "", value);
      continue;
    }
    if (item.schema_verdict !== undefined) schema_verdicts.set(caller_evidence.length, item.schema_verdict);
    caller_evidence.push(callerItem(item, value));
  }
  return { caller_evidence, schema_verdicts, acquired, submitted_values };
}

/** The command of a submission. */
export function submitCommandOf(
  record: Extract<RunRecord, { record_kind: "artifact_submitted" }>,
  before: RunState,
  payload: Payload,
  seenRecordId: Identity | undefined,
): SubmitCommand {
  const { content_type, scope, evidence } = record.body;
  return {
    kind: "submit",
    ...requestOf(record),
    expected_head: before.head,
    content_type,
    scope,
    payload,
    ...seenRecordId === undefined ? {} : { seen_record_id: seenRecordId },
    ...evidence?.schema_verdict === undefined ? {} : { schema_verdict: evidence.schema_verdict },
  };
}

function commandOf(record: RunRecord, { before, values, seenRecordId }: DecisionInputs): Command | null {
  const request = requestOf(record);
  if (record.record_kind === "run_created") {
    const { correlation, genesis, run_allocation: { authority_id }, contracts, schemas } = record.body;
    const given = genesis.kind === "declared" ? declaredOf(values.payload) : genesis;
    if (given === null) return null;
    const allocation = { authority_id, run_id: record.run_key.run_id };
    return { kind: "create", ...request, correlation, genesis: given, allocation, contracts, schemas };
  }
  if (before === null) return null;
  const expected_head = before.head;
  switch (record.record_kind) {
    case "stage_opened":
      return { kind: "open", ...request, expected_head, stage_id: record.body.stage_id };
    case "stage_evaluated": {
      const evidence = evidenceOf(record.body, values);
      if (evidence === null) return null;
      const { stage_id } = record.body;
      return { kind: "evaluate", ...request, expected_head, stage_id, ...evidence, acquisition_failures: [] };
    }
    case "artifact_submitted": {
      const { payload } = values;
      if (payload === null || typeof payload === "string") return null;
      return submitCommandOf(record, before, payload, seenRecordId);
    }
  }
}

function declaredOf(payload: StepValues["payload"]): { readonly kind: "declared"; readonly payload: Payload } | null {
  return payload === null || typeof payload === "string" ? null : { kind: "declared", payload };
}

/** The repeated decision; null where a value is absent, or where the kernel cannot make it. */
export function decideAgain(record: RunRecord, inputs: DecisionInputs): Decision | null {
  const command = commandOf(record, inputs);
  if (command === null) return null;
  try {
    return decide(inputs.law, inputs.before, command, { time: record.body.time_source }, inputs.environment);
  } catch (error) {
    // The kernel throws for input that no caller can have sent, so such a record was never accepted.
    if (error instanceof Error) return null;
    throw error;
  }
}
