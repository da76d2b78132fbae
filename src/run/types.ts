/**
 * Records of a run (docs/format/records.md), and the state that they fold to. Every type has exactly the members of its
 * JSON form, so its values are canonicalised, hashed and stored without a conversion.
 */

import type { Identity } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { ParameterValue } from "../law/types.ts";
import type {
  DISQUALIFICATION_REASONS,
  EvidenceItem,
  Head,
  OperationId,
  PROCEDURES,
  RunKey,
  RunRecord,
  StageEvaluatedBody,
  SubmittedEvidence,
} from "./record_shapes.ts";

export type * from "./record_shapes.ts";

/** The name of a kernel procedure. */
export type ProcedureName = typeof PROCEDURES[number];

/** The procedure of every new record. */
export const PROCEDURE: ProcedureName = "gate-kernel-2";

/** One of {@link DISQUALIFICATION_REASONS}. */
export type DisqualificationReason = typeof DISQUALIFICATION_REASONS[number];

/** One evaluation of a stage. */
export interface Attempt
  extends Pick<StageEvaluatedBody, "attempt_number" | "stage_id" | "outcome" | "completed" | "trace"> {
  readonly record_id: Identity;
  readonly evidence: readonly EvidenceItem[];
}

/** The four record kinds. */
export type RecordKind = RunRecord["record_kind"];

/** The status of a stage. */
export type StageClassification = "blocked" | "ready_unopened" | "open_incomplete" | "complete";

/** The status of a run. A complete run accepts submissions only. */
export type RunStatus = "active" | "complete";

/** The state of one stage. */
export interface StageState {
  readonly stage_id: string;
  readonly classification: StageClassification;
  readonly stage_open_record_id: Identity | null;
  readonly completion_record_id: Identity | null;
  readonly attempt_count: number;
  /** The revision of the record that opened the stage; present for an opened stage that evidence can wait for. */
  readonly stage_open_revision?: number;
}

/** The newest statement of one key for one condition of an open stage. */
export interface WaitingEvidence extends Omit<SubmittedEvidence, "seen_head" | "comment_hash"> {
  readonly stage_id: string;
  /** The record of the submission. */
  readonly record_id: Identity;
  readonly revision: number;
  /** The reading of the time authority at the submission, Unix milliseconds. */
  readonly submitted_at: number;
}

/** The pure fold of a run's records. Its identity is of kind `run-state`. Stages are in the order of the law. */
export interface RunState {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** The values of all parameters of the law, sorted by id; absent in a run of a law without parameters. */
  readonly parameters?: readonly ParameterValue[];
  readonly head: Head;
  readonly status: RunStatus;
  readonly accepted_audit_instant: number;
  readonly stages: readonly StageState[];
  readonly committed_intent_count: number;
  readonly submission_count: number;
  readonly attempt_count: number;
  /** The last 20 attempts, oldest first. */
  readonly recent_attempts: readonly Attempt[];
  /** Evidence that waits for open stages, in revision order; absent when empty. */
  readonly submitted_evidence?: readonly WaitingEvidence[];
}

/** A value or payload that a record names by identity and that a replay needs. The identity is over `body`. */
export interface Material {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
  readonly body: JsonValue;
}

/** An accepted record, with the values that it names and its receipt. */
export interface AcceptedRecord {
  readonly revision: number;
  readonly record_id: Identity;
  /** Canonical text of the record. */
  readonly record: string;
  /** Canonical texts of the objects that the record names, in the order of the names. */
  readonly material: readonly { readonly kind: string; readonly identity: Identity; readonly body: string }[];
  readonly receipt: {
    readonly operation: OperationId;
    readonly invocation_identity: Identity;
    /** JSON text. */
    readonly result: string;
  };
}
