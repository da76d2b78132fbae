/**
 * Every claim: what it means, the method that decides it, and what its method needs. The checks are in `claims/`.
 *
 * This file holds data only. The tools publish the names of the claims, and loading every check with them would cost the
 * first call of a server about 6 ms.
 *
 * @module
 */

import type { UnavailableReason } from "./types.ts";

/** What a method needs beyond intact material. */
export type ClaimNeed =
  /** The law of the run. */
  | "law"
  /** The first record, even where later ones are invalid. */
  | "first_record"
  /** Every record. */
  | "history"
  /** Every value that an item of evidence names; all else is still checked where one is absent. */
  | "values";

interface ClaimEntry {
  readonly name: string;
  /** Null where no pack can decide the claim. */
  readonly method: string | null;
  /** Empty where the integrity profile decides the claim, or where no pack can. */
  readonly needs: readonly ClaimNeed[];
  /** What holds where the claim is satisfied, in a few words. */
  readonly meaning: string;
  /** Why no pack can decide the claim. */
  readonly unavailable?: UnavailableReason;
}

/** Every claim, in the order of the interface, which is the order of every report. */
const LIST = [
  {
    name: "structural_format_validity",
    method: "manifest_constructor_v6",
    needs: [],
    meaning: "the manifest has this format",
  },
  {
    name: "runpack_subject_identity",
    method: "manifest_constructor_v6",
    needs: [],
    meaning: "the pack is the one that was requested",
  },
  {
    name: "artifact_tree_integrity",
    method: "object_tree_traversal_v6",
    needs: [],
    meaning: "every object is present, and hashes to its identity",
  },
  {
    name: "scenario_law_construction",
    method: "law_construction_v6",
    needs: ["first_record"],
    meaning: "the law can be constructed again, and is the law of the run",
  },
  {
    name: "scenario_graph_binding",
    method: "graph_identity_v6",
    needs: ["law", "first_record"],
    meaning: "the stages are the ones that the run was bound to",
  },
  {
    name: "run_allocation_integrity",
    method: "run_allocation_v6",
    needs: ["law", "history"],
    meaning: "all records belong to one run, and no artifact is missing or added",
  },
  {
    name: "creation_receipt_integrity",
    method: "creation_result_v6",
    needs: ["first_record"],
    meaning: "the receipt of the creation follows from the first record",
  },
  {
    name: "accepted_history_continuity",
    method: "record_chain_v6",
    needs: ["history"],
    meaning: "the records are one unbroken chain",
  },
  {
    name: "exact_head_reconstruction",
    method: "head_of_chain_v6",
    needs: ["history"],
    meaning: "the chain ends at the head of the manifest",
  },
  {
    name: "current_state_equivalence",
    method: "state_fold_v6",
    needs: ["law", "history"],
    meaning: "the records yield the state of the manifest",
  },
  {
    name: "operation_receipt_consistency",
    method: "operation_results_v6",
    needs: ["law", "history"],
    meaning: "every receipt follows from its record",
  },
  {
    name: "stage_open_consistency",
    method: "stage_open_replay_v6",
    needs: ["law", "history"],
    meaning: "every stage was ready when it was opened",
  },
  {
    name: "evaluation_attempt_consistency",
    method: "attempt_replay_v6",
    needs: ["law", "history"],
    meaning: "every outcome follows from its trace",
  },
  {
    name: "submission_consistency",
    method: "submission_replay_v6",
    needs: ["law", "history"],
    meaning: "every payload is present, and was allowed",
  },
  {
    name: "intent_consistency",
    method: "intent_replay_v6",
    needs: ["law", "history"],
    meaning: "the intents are the ones that the policy permits",
  },
  {
    name: "evidence_structural_admission",
    method: "evidence_admission_v6",
    needs: ["law", "history", "values"],
    meaning: "evidence has the form that its condition requires",
  },
  {
    name: "evidence_retention_reconstruction",
    method: "value_reconstruction_v6",
    needs: ["law", "history", "values"],
    meaning: "the values are the ones that the records name",
  },
  {
    name: "evidence_use_policy_satisfaction",
    method: "evidence_qualification_v6",
    needs: ["law", "history", "values"],
    meaning: "each item qualified, or failed to, under the law and the profile",
  },
  {
    name: "pure_semantic_replay",
    method: "semantic_replay_v6",
    needs: ["law", "history", "values"],
    meaning: "deciding each operation again yields the same records",
  },
  {
    name: "acquisition_admission_witness_reconstruction",
    method: "acquisition_witness_v6",
    needs: ["law", "history"],
    meaning: "acquired evidence agrees with the result of its provider",
  },
  {
    name: "attribution_authorization_availability",
    method: "attribution_binding_v6",
    needs: ["history"],
    meaning: "each record holds its caller and the operator's settings",
  },
  {
    name: "acceptance_time_witness_structure",
    method: "time_witness_v6",
    needs: ["history"],
    meaning: "times come from the recorded clock, and never decrease",
  },
  {
    name: "source_authenticity",
    method: "source_signatures_v6",
    needs: ["law", "history"],
    meaning: "evidence that qualified is signed by a trusted key",
  },
  {
    name: "currentness",
    method: null,
    needs: [],
    meaning: "no record was accepted since",
    unavailable: "needs_current_head",
  },
  {
    name: "rollback_resistance",
    method: null,
    needs: [],
    meaning: "no record was withdrawn",
    unavailable: "needs_external_checkpoint",
  },
  {
    name: "dispatch_recovery",
    method: null,
    needs: [],
    meaning: "the intents were dispatched",
    unavailable: "needs_dispatch_log",
  },
  {
    name: "effect_recovery",
    method: null,
    needs: [],
    meaning: "the dispatched intents had their effects",
    unavailable: "needs_effect_observation",
  },
  {
    name: "deployment_qualification",
    method: null,
    needs: [],
    meaning: "the service ran where and as it should",
    unavailable: "needs_deployment_evidence",
  },
  {
    name: "verifier_build_procedure_provenance",
    method: null,
    needs: [],
    meaning: "this verifier was built from the known source",
    unavailable: "needs_build_provenance",
  },
] as const satisfies readonly ClaimEntry[];

/** The name of a claim. */
export type ClaimName = typeof LIST[number]["name"];

/** A claim. */
export interface Claim extends ClaimEntry {
  readonly name: ClaimName;
}

/** Every claim, in report order. */
export const CLAIMS: readonly Claim[] = LIST;

/** The names, in report order. */
export const CLAIM_NAMES: readonly ClaimName[] = CLAIMS.map(({ name }) => name);

/** The claims that intact material alone decides: those of the integrity profile. */
export const INTEGRITY_CLAIMS: readonly ClaimName[] = namesOf(({ method, needs }) =>
  method !== null && needs.length === 0
);

/** The claims that only a replay decides. */
export const REPLAY_CLAIMS: readonly ClaimName[] = namesOf(({ needs }) => needs.length > 0);

/** The claims whose method needs something. */
export function claimsThatNeed(need: ClaimNeed): readonly ClaimName[] {
  return namesOf(({ needs }) => needs.includes(need));
}

function namesOf(filter: (claim: Claim) => boolean): readonly ClaimName[] {
  return CLAIMS.filter(filter).map(({ name }) => name);
}
