/** The claims about the chain of records: each record beside the one before it, and the whole history. */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { identify, type Sha256 } from "../../../canonical/identity.ts";
import { stateIdentity } from "../../../run/fold.ts";
import { asJson } from "../../../run/primitives.ts";
import { PROCEDURES } from "../../../run/record_shapes.ts";
import type { Admission, Attribution, Head, RunRecord } from "../../../run/types.ts";
import type { ClaimOf } from "../claims.ts";
import { atRevision, violation } from "../findings.ts";
import type { ReplayState } from "../state.ts";
import type { ChainStep } from "../step.ts";
import type { Violation } from "../types.ts";

/** What each claim about the whole history checks after the last record. */
export const HISTORY_CHECKS: Readonly<Record<ClaimOf<"history">, (replay: ReplayState) => Violation | null>> = {
  run_allocation_integrity: ({ named, artifacts }) => named.check(artifacts.listed()),
  accepted_history_continuity: checkRecordTree,
  exact_head_reconstruction: checkHead,
  current_state_equivalence: checkState,
};

/** The members that link a record to the one before it. */
interface Link {
  readonly revision: number;
  readonly previous_record_id: string | null;
}

/** Whether a record follows the one before it; null precedes the first. */
export function checkLink(record: Link, before: Head | null): Violation | null {
  const follows = record.revision === (before?.revision ?? 0) + 1 &&
    record.previous_record_id === (before?.record_id ?? null);
  return follows ? null : violation("chain_broken", atRevision((before?.revision ?? 0) + 1));
}

/** Whether the procedure of a record is at least that of the record before it; null precedes the first. */
export function checkProcedure({ procedure, revision }: RunRecord, before: RunRecord | null): Violation | null {
  const wentBack = before !== null && PROCEDURES.indexOf(procedure) < PROCEDURES.indexOf(before.procedure);
  return wentBack ? violation("procedure_downgraded", atRevision(revision)) : null;
}

/** Whether the tree over all records has the root of the manifest. */
function checkRecordTree({ tree, manifest: { record_tree } }: ReplayState): Violation | null {
  const same = tree.size() === record_tree.size && tree.root() === record_tree.root;
  return same ? null : violation("record_tree_mismatch");
}

/** Compares the last record with the manifest's head. */
function checkHead({ head: last, manifest: { head } }: ReplayState): Violation | null {
  return last?.record_id === head.record_id && last.revision === head.revision ? null : violation("head_mismatch");
}

/** Compares the folded state, which a replay without a law does not have, with the manifest's. */
function checkState({ primitives: { sha256 }, state, manifest }: ReplayState): Violation | null {
  if (state === null) return null;
  return stateIdentity(sha256, state) === manifest.state_identity ? null : violation("state_mismatch");
}

/** The authentication method of each kind of admission; null where any is possible. */
const METHOD: Readonly<Record<Admission["kind"], Attribution["auth_method"] | null>> = {
  local: "local",
  bearer: "bearer_token",
  mtls: "mtls",
  derived: null,
};

/** Checks the members that need no hashing, so that each record can be checked. */
export function checkAdmission({ record }: ChainStep): Violation | null {
  const place = atRevision(record.revision);
  if (record.operator_profile !== record.admission.profile_id) return violation("profile_mismatch", place);
  const method = METHOD[record.admission.kind];
  if (method !== null && method !== record.attribution.auth_method) return violation("auth_method_mismatch", place);
  return null;
}

/** Whether the provenance digest covers the attribution and the invocation. */
export function checkProvenance(sha256: Sha256, { record }: ChainStep): Violation | null {
  const { attribution, invocation_identity } = record;
  const digest = sha256(canonicalize(asJson({ attribution, invocation_identity })));
  if (digest === record.admission.request_provenance_digest.value) return null;
  return violation("provenance_mismatch", atRevision(record.revision));
}

/** Compares a record's acceptance time with its reading and with the record before. */
export function checkTime(sha256: Sha256, { record, previous }: ChainStep): Violation | null {
  const place = atRevision(record.revision);
  const { acceptance_time: time, body: { time_source } } = record;
  const isSource = identify(sha256, "time-source", asJson(time_source)) === time.source_material_identity &&
    time_source.time_authority_id === time.time_authority_id &&
    time_source.authority_revision === time.authority_revision;
  if (!isSource) return violation("time_source_mismatch", place);
  const least = previous?.acceptance_time.accepted_audit_instant ?? 0;
  const instant = Math.max(time_source.reading_unix_millis, least);
  return instant === time.accepted_audit_instant ? null : violation("acceptance_time_mismatch", place);
}
