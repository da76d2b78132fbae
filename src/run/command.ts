/**
 * Commands, stamps and decisions: what goes into the kernel and what comes out.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { Payload } from "../law/types.ts";
import type { CallerEvidence, PresentedEvidence } from "./evidence.ts";
import type { Primitives } from "./primitives.ts";
import { type OperatorProfile, profileIdentity, type TrustedKey, trustedKeys } from "./profile.ts";
import {
  type Admission,
  type Attribution,
  type Correlation,
  type Head,
  type Material,
  PROCEDURE,
  type ProcedureName,
  type RunKey,
  type RunRecord,
  type RunState,
  type SubmissionScope,
  type TimeSource,
} from "./types.ts";

/** Stamps of the named authorities, minted before a decision. */
export interface Stamps {
  readonly time: TimeSource;
}

/** What a run creation needs beside its stamps: the identity that the run-id authority allocated. */
export interface Allocation {
  readonly authority_id: string;
  readonly run_id: string;
}

/** Who asks, under which operation and invocation identity. */
export interface Request {
  /** 32 lower-case hex digits. */
  readonly operation_id: string;
  readonly invocation_identity: Identity;
  readonly attribution: Attribution;
  readonly admission_kind: Admission["kind"];
}

/** Starts a run. */
export interface CreateCommand extends Request {
  readonly kind: "create";
  readonly correlation: Correlation;
  readonly genesis: { readonly kind: "empty" } | { readonly kind: "declared"; readonly payload: Payload };
  readonly allocation: Allocation;
  readonly contracts: readonly { readonly provider_id: string; readonly contract_identity: Identity }[];
  readonly schemas: readonly {
    readonly schema_id: string;
    readonly version: string;
    readonly schema_identity: Identity;
  }[];
}

/** Opens a ready stage. */
export interface OpenCommand extends Request {
  readonly kind: "open";
  readonly expected_head: Head;
  readonly stage_id: string;
}

/** An acquisition that failed operationally. */
export interface AcquisitionFailure {
  readonly binding_id: string;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** Evaluates an open stage. */
export interface EvaluateCommand extends Request {
  readonly kind: "evaluate";
  readonly expected_head: Head;
  readonly stage_id: string;
  readonly caller_evidence: readonly CallerEvidence[];
  /** Verdicts of the conditions' JSON Schemas on the caller's values, by index. */
  readonly schema_verdicts: ReadonlyMap<number, "valid" | "invalid">;
  /** What was acquired, in binding id order. */
  readonly acquired: readonly PresentedEvidence[];
  readonly acquisition_failures: readonly AcquisitionFailure[];
}

/** Stores an artifact. */
export interface SubmitCommand extends Request {
  readonly kind: "submit";
  readonly expected_head: Head;
  readonly content_type: string;
  readonly payload: Payload;
  readonly scope: SubmissionScope;
}

/** Every mutation the kernel decides. */
export type Command = CreateCommand | OpenCommand | EvaluateCommand | SubmitCommand;

/** What every decision reads beside law, state and command. */
export interface Environment {
  /** The rules to decide by: the current ones for a new record, the record's own for a replay. */
  readonly procedure: ProcedureName;
  readonly primitives: Primitives;
  readonly profile: OperatorProfile;
  readonly profile_identity: Identity;
  readonly keys: ReadonlyMap<string, TrustedKey>;
}

/** One record that a decision mints. */
export interface DecidedRecord {
  readonly record: RunRecord;
  readonly record_id: Identity;
  /** Canonical text. */
  readonly text: string;
  /** Objects that the record names, as canonical text. */
  readonly material: readonly { readonly kind: Material["kind"]; readonly identity: Identity; readonly body: string }[];
}

/** The refusals that the kernel decides; all other outcomes are decided before there is a state to decide at. */
export type RefusalOutcome =
  | "genesis_rejected"
  | "correlation_rejected"
  | "stale"
  | "stage_not_found"
  | "stage_not_ready"
  | "stage_already_opened"
  | "policy_denied"
  | "stage_not_open"
  | "evidence_rejected"
  | "acquisition_failed"
  | "stage_open_mismatch"
  | "content_type_rejected"
  | "payload_rejected";

/** A decision to record nothing. */
export interface Refused {
  readonly outcome: RefusalOutcome;
  readonly records: readonly [];
  readonly result: JsonObject;
}

/** A decision with the record that it mints and the state after it. */
export interface Accepted {
  readonly outcome: "accepted";
  readonly records: readonly [DecidedRecord];
  readonly state: RunState;
  readonly result: JsonObject;
}

/** What the kernel decided. Only `accepted` has records. */
export type Decision = Accepted | Refused;

/** The run key of a namespace and run id, in member order. */
export function runKeyOf(namespaceId: number, runId: string): RunKey {
  return { namespace_id: namespaceId, run_id: runId };
}

/** What new records are decided under, given the operator's settings. */
export function environmentUnder(primitives: Primitives, profile: OperatorProfile): Environment {
  return {
    procedure: PROCEDURE,
    primitives,
    profile,
    profile_identity: profileIdentity(primitives.sha256, profile),
    keys: trustedKeys(profile),
  };
}
