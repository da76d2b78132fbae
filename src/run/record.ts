/** Builds records: envelope, acceptance time, admission and identity. */

import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash, identify, identifyCanonical, type Identity } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import type { DecidedRecord, Environment, Request, Stamps } from "./command.ts";
import { asJson } from "./primitives.ts";
import type { AcceptanceTime, OperationFamily, RunKey, RunRecord, RunState, TimeSource } from "./types.ts";

/** Identities of time sources by object: an authority returns the same object for all stamps of one reading. */
const timeSourceIdentities = new WeakMap<TimeSource, Identity>();

function timeSourceIdentity(environment: Environment, time: TimeSource): Identity {
  const known = timeSourceIdentities.get(time);
  if (known !== undefined) return known;
  const identity = identify(environment.primitives.sha256, "time-source", asJson(time));
  timeSourceIdentities.set(time, identity);
  return identity;
}

/** The acceptance time of the record after `state`: the reading, but never before the previous record. */
export function acceptanceTime(environment: Environment, state: RunState | null, time: TimeSource): AcceptanceTime {
  return {
    accepted_audit_instant: Math.max(time.reading_unix_millis, state?.accepted_audit_instant ?? 0),
    authority_revision: time.authority_revision,
    source_material_identity: timeSourceIdentity(environment, time),
    time_authority_id: time.time_authority_id,
  };
}

/** The body of a record kind without `time_source`, which the builder adds. */
export type BodyOf<Kind extends RunRecord["record_kind"]> = Omit<
  Extract<RunRecord, { record_kind: Kind }>["body"],
  "time_source"
>;

/** The operation family of each kind of record. */
export const FAMILY: Readonly<Record<RunRecord["record_kind"], OperationFamily>> = {
  run_created: "create_run",
  stage_opened: "open_stage",
  stage_evaluated: "evaluate_stage",
  artifact_submitted: "submit",
};

/** Builds the record after `state`, with its canonical text and identity. */
export function buildRecord<Kind extends RunRecord["record_kind"]>(
  environment: Environment,
  state: RunState | null,
  runKey: RunKey,
  request: Request,
  stamps: Stamps,
  kind: Kind,
  body: BodyOf<Kind>,
  material: DecidedRecord["material"],
): DecidedRecord {
  const { sha256 } = environment.primitives;
  const provenance = canonicalize(asJson({
    attribution: request.attribution,
    invocation_identity: request.invocation_identity,
  }));
  // Members in canonical order: otherwise the canonical text needs a copy of the record.
  const record = {
    acceptance_time: acceptanceTime(environment, state, stamps.time),
    admission: {
      kind: request.admission_kind,
      profile_id: environment.profile_identity,
      request_provenance_digest: contentHash(sha256, provenance),
    },
    attribution: request.attribution,
    body: { ...body, time_source: stamps.time },
    invocation_identity: request.invocation_identity,
    operation: { family: FAMILY[kind], identity: request.operation_id },
    operator_profile: environment.profile_identity,
    previous_record_id: state?.head.record_id ?? null,
    procedure: environment.procedure,
    record_kind: kind,
    revision: (state?.head.revision ?? 0) + 1,
    run_key: runKey,
  } as unknown as RunRecord;
  const text = canonicalize(asJson(record));
  return {
    record,
    text,
    record_id: identifyCanonical(sha256, "run-record", text),
    material,
    profile: environment.profile,
  };
}

/**
 * The record of a stored text. Its shape is trusted: a store holds only records of {@link buildRecord}, and their
 * identities show a change.
 */
export function readRecord(text: string): RunRecord {
  return readJson(text) as RunRecord;
}
