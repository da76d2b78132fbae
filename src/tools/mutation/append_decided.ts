/** The one append of accepted decisions: their records and receipts, with the artifacts that their replay needs. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Accepted, Decision } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { asJson } from "../../run/primitives.ts";
import type { Head, RunState } from "../../run/types.ts";
import type { Artifact, Receipt, StoredRecord } from "../../store/types.ts";
import type { Services } from "../services/services.ts";
import { type Outcome, runArchived, runNotFound, stale } from "./outcome.ts";

/** Accepted decisions that become the next records of one run. */
export interface DecidedRecords {
  readonly law: CompiledLaw;
  /** The head that the decisions were made at; null where they create the run. */
  readonly expectedHead: Head | null;
  readonly decisions: readonly Accepted[];
  /** The state after the last decision. */
  readonly state: RunState;
  /** Artifacts that the run is bound to, beside the operator profiles. */
  readonly artifacts?: readonly Artifact[];
}

/**
 * The records as stored; or the receipt that the operation has already; or the outcome where the head is another one.
 */
export type AppendedRecords = { readonly records: readonly StoredRecord[] } | { readonly receipt: Receipt } | Outcome;

/** Whether a decision has records. */
export function isAccepted(decision: Decision): decision is Accepted {
  return decision.records.length > 0;
}

/**
 * Appends decided records in one transaction and advances the projection of their run.
 *
 * @throws {StoreError} Where the store fails; then nothing was appended
 */
export async function appendDecided(services: Services, decided: DecidedRecords): Promise<AppendedRecords> {
  const { law, state } = decided;
  const records = decided.decisions.flatMap(storedRecords);
  const artifacts = [...profileArtifacts(services, decided.decisions), ...decided.artifacts ?? []];
  const appended = await services.runs.append({
    run_key: state.run_key,
    scenario_id: law.law.scenario_id,
    scenario_law_identity: law.scenario_law_identity,
    expected_head: decided.expectedHead,
    records,
    artifacts,
  });
  switch (appended.outcome) {
    case "accepted":
      for (const { identity } of artifacts) services.storedArtifacts.add(identity);
      services.projections.advance(law, state);
      for (const decision of decided.decisions) services.decisions.decided(law.law.scenario_id, decision);
      return { records };
    case "operation_exists":
      return { receipt: appended.receipt };
    case "stale":
    case "run_exists":
      return stale(appended.head);
    case "archived":
      return runArchived(appended.archived);
    case "run_not_found":
      return runNotFound(state.run_key);
  }
}

/** The stored form of a decision's records, each with the receipt of its operation. */
function storedRecords(decision: Accepted): StoredRecord[] {
  const result = JSON.stringify(decision.result);
  return decision.records.map(({ record, record_id, text, material }) => ({
    revision: record.revision,
    record_id,
    record: text,
    material,
    receipt: { operation: record.operation, invocation_identity: record.invocation_identity, result },
  }));
}

/** The operator profiles of decisions that this process has not stored yet. Others may be in force by now. */
function profileArtifacts({ storedArtifacts }: Services, decisions: readonly Accepted[]): Artifact[] {
  const profiles = new Map(
    decisions.flatMap(({ records }) => records.map(({ record, profile }) => [record.operator_profile, profile])),
  );
  return [...profiles].flatMap(([identity, profile]) =>
    storedArtifacts.has(identity) ? [] : [{ kind: "operator-profile", identity, body: canonicalize(asJson(profile)) }]
  );
}
