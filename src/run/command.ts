/** Commands, stamps and decisions: the input and output of the kernel. */

import type { WordOf } from "../canonical/words.ts";
import type { Identity } from "../canonical/identity.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { ParameterValue, Payload } from "../law/types.ts";
import type { TypedValue } from "../law/value/types.ts";
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
  type RunCreatedBody,
  type RunKey,
  type RunRecord,
  type RunState,
  type SubmissionScope,
  type TimeSource,
} from "./types.ts";

/** Stamps of the authorities, minted before a decision. */
export interface Stamps {
  readonly time: TimeSource;
}

/** The run id that the run-id authority allocated for a creation. */
export interface Allocation {
  readonly authority_id: string;
  readonly run_id: string;
}

/** The caller of a mutation, with the operation and invocation identity. */
export interface Request {
  /** 32 lower-case hex digits. */
  readonly operation_id: string;
  readonly invocation_identity: Identity;
  readonly attribution: Attribution;
  readonly admission_kind: Admission["kind"];
}

/** What a caller gives a run at its start. */
export type Genesis =
  | { readonly kind: "empty" }
  | { readonly kind: "declared"; readonly payload: Payload }
  | { readonly kind: "parameters"; readonly parameters: readonly ParameterValue[] };

/** Starts a run. */
export interface CreateCommand extends Request {
  readonly kind: "create";
  readonly correlation: Correlation;
  readonly genesis: Genesis;
  readonly allocation: Allocation;
  readonly contracts: RunCreatedBody["contracts"];
  readonly schemas: RunCreatedBody["schemas"];
}

/** Opens a ready stage. */
export interface OpenCommand extends Request {
  readonly kind: "open";
  readonly expected_head: Head;
  readonly stage_id: string;
}

/** An operational failure of an acquisition. */
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
  /** The acquired items, in binding id order. */
  readonly acquired: readonly PresentedEvidence[];
  /** The values of the evidence that waits for the stage, by identity; absent where none waits. */
  readonly submitted_values?: ReadonlyMap<Identity, TypedValue>;
  readonly acquisition_failures: readonly AcquisitionFailure[];
}

/** Stores an artifact. */
export interface SubmitCommand extends Request {
  readonly kind: "submit";
  readonly expected_head: Head;
  readonly content_type: string;
  readonly payload: Payload;
  readonly scope: SubmissionScope;
  /** For evidence that waits: the record of the run at the revision of its `seen_head`; absent where no record has it. */
  readonly seen_record_id?: Identity;
  /** For evidence that waits: the verdict of the condition's JSON Schema on its value. */
  readonly schema_verdict?: "valid" | "invalid";
}

/** Any mutation that the kernel decides. */
export type Command = CreateCommand | OpenCommand | EvaluateCommand | SubmitCommand;

/** What every decision reads beside law, state, command and stamps. */
export interface Environment {
  /** The rules of the decision: the current ones for a new record, those of the record for a replay. */
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
  /** What the record was decided under: its member `operator_profile` has the identity. */
  readonly profile: OperatorProfile;
}

/** The refusals that the kernel decides. Other refusals precede the kernel: they need no state. */
export type RefusalOutcome =
  | WordOf<"genesis_rejected correlation_rejected stale stage_not_found stage_not_ready stage_already_opened">
  | WordOf<"policy_denied stage_not_open evidence_rejected acquisition_failed stage_open_mismatch">
  | WordOf<"content_type_rejected payload_rejected">;

/** A refusal: no record. */
export interface Refused {
  readonly outcome: RefusalOutcome;
  readonly records: readonly [];
  readonly result: JsonObject;
}

/** An acceptance: the record that it mints, and the state after it. */
export interface Accepted {
  readonly outcome: "accepted";
  readonly records: readonly [DecidedRecord];
  readonly state: RunState;
  readonly result: JsonObject;
}

/** The decision on a command. Only `accepted` has records. */
export type Decision = Accepted | Refused;

/** The run key of a namespace and run id, in member order. */
export function runKeyOf(namespaceId: number, runId: string): RunKey {
  return { namespace_id: namespaceId, run_id: runId };
}

/** The environment of new records under an operator profile. */
export function environmentUnder(primitives: Primitives, profile: OperatorProfile): Environment {
  return {
    procedure: PROCEDURE,
    primitives,
    profile,
    profile_identity: profileIdentity(primitives.sha256, profile),
    keys: trustedKeys(profile),
  };
}
