/**
 * Every claim: what it means, the method that decides it, and what its method needs. The checks are in `claims/`.
 *
 * This file holds data only. The tools publish the names of the claims, and loading every check with them would cost
 * the first call of a server about 6 ms.
 */

import { words } from "../../canonical/words.ts";
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
  /** The table of checks in `claims/` that has the claim; null where other code decides it, or no pack can. */
  readonly table: "decision" | "evidence" | "history" | null;
  /** What holds where the claim is satisfied, in a few words. */
  readonly meaning: string;
  /** The codes of its contradictions; the list is closed and documented in docs/format/runpack.md. */
  readonly codes: readonly string[];
  /** Why no pack can decide the claim. */
  readonly unavailable?: UnavailableReason;
}

/** A claim that no pack can decide. */
function undecided<const Name extends string>(
  name: Name,
  meaning: string,
  unavailable: UnavailableReason,
): ClaimEntry & { readonly name: Name; readonly table: null; readonly codes: readonly never[] } {
  return { name, method: null, needs: [], table: null, meaning, codes: [], unavailable };
}

/** Every claim, in the order of the interface, which is the order of every report. */
const LIST = [
  {
    name: "structural_format_validity",
    method: "manifest_constructor_v6",
    needs: [],
    table: null,
    meaning: "the manifest has this format",
    codes: words(
      "manifest_missing manifest_unreadable manifest_too_large manifest_not_canonical format_unsupported",
      "manifest_invalid",
    ),
  },
  {
    name: "runpack_subject_identity",
    method: "manifest_constructor_v6",
    needs: [],
    table: null,
    meaning: "the pack is the one that was requested",
    codes: ["identity_mismatch"],
  },
  {
    name: "artifact_tree_integrity",
    method: "object_tree_traversal_v6",
    needs: [],
    table: null,
    meaning: "every object is present, and hashes to its identity",
    codes: words(
      "archive_invalid object_size_mismatch object_missing object_unreadable object_identity_mismatch",
      "artifacts_invalid tree_shape_invalid node_invalid object_unreferenced",
    ),
  },
  {
    name: "scenario_law_construction",
    method: "law_construction_v6",
    needs: ["first_record"],
    table: null,
    meaning: "the law can be constructed again, and is the law of the run",
    codes: ["law_invalid", "law_identity_mismatch", "key_differs", "parameters_mismatch"],
  },
  {
    name: "scenario_graph_binding",
    method: "graph_identity_v6",
    needs: ["law", "first_record"],
    table: null,
    meaning: "the stages are the ones that the run was bound to",
    codes: ["graph_identity_mismatch", "scenario_mismatch"],
  },
  {
    name: "run_allocation_integrity",
    method: "run_allocation_v6",
    needs: ["law", "history"],
    table: "history",
    meaning: "all records belong to one run, and no artifact is missing or added",
    codes: words(
      "artifact_invalid contract_repeated contract_mismatch provider_version_mismatch schema_repeated",
      "schema_unexpected schema_missing run_key_mismatch run_created_missing run_authority_missing",
      "run_created_unexpected artifact_missing artifact_unexpected",
    ),
  },
  {
    name: "creation_receipt_integrity",
    method: "creation_result_v6",
    needs: ["first_record"],
    table: null,
    meaning: "the receipt of the creation follows from the first record",
    codes: ["receipt_missing", "receipt_invalid", "receipt_mismatch", "result_mismatch"],
  },
  {
    name: "accepted_history_continuity",
    method: "record_chain_v6",
    needs: ["history"],
    table: "history",
    meaning: "the records are one unbroken chain",
    codes: words(
      "record_invalid record_missing procedure_unsupported chain_broken procedure_downgraded record_unexpected",
      "record_tree_mismatch",
    ),
  },
  {
    name: "exact_head_reconstruction",
    method: "head_of_chain_v6",
    needs: ["history"],
    table: "history",
    meaning: "the chain ends at the head of the manifest",
    codes: ["head_mismatch"],
  },
  {
    name: "current_state_equivalence",
    method: "state_fold_v6",
    needs: ["law", "history"],
    table: "history",
    meaning: "the records yield the state of the manifest",
    codes: ["state_mismatch"],
  },
  {
    name: "operation_receipt_consistency",
    method: "operation_results_v6",
    needs: ["law", "history"],
    table: null,
    meaning: "every receipt follows from its record",
    codes: words(
      "receipt_invalid operation_repeated family_mismatch receipt_missing receipt_mismatch result_mismatch",
      "receipt_unexpected",
    ),
  },
  {
    name: "stage_open_consistency",
    method: "stage_open_replay_v6",
    needs: ["law", "history"],
    table: "decision",
    meaning: "every stage was ready when it was opened",
    codes: ["stage_missing", "stage_state_mismatch", "prerequisite_trace_mismatch"],
  },
  {
    name: "evaluation_attempt_consistency",
    method: "attempt_replay_v6",
    needs: ["law", "history"],
    table: "decision",
    meaning: "every outcome follows from its trace",
    codes: words(
      "stage_missing stage_state_mismatch attempt_number_mismatch completed_mismatch trace_mismatch",
      "outcome_mismatch narrowed_bindings_mismatch binding_required scenario_trace_mismatch run_status_mismatch",
    ),
  },
  {
    name: "submission_consistency",
    method: "submission_replay_v6",
    needs: ["law", "history"],
    table: "decision",
    meaning: "every payload is present, and was allowed",
    codes: words(
      "payload_missing payload_invalid payload_mismatch content_hash_mismatch scope_mismatch",
      "content_type_invalid signature_invalid seen_head_mismatch statement_time_invalid evidence_mismatch",
    ),
  },
  {
    name: "intent_consistency",
    method: "intent_replay_v6",
    needs: ["law", "history"],
    table: "decision",
    meaning: "the intents are the ones that the policy permits",
    codes: ["disclosure_mismatch", "intent_mismatch"],
  },
  {
    name: "evidence_structural_admission",
    method: "evidence_admission_v6",
    needs: ["law", "history", "values"],
    table: "evidence",
    meaning: "evidence has the form that its condition requires",
    codes: words(
      "items_unexpected item_repeated item_invalid submission_unexpected submission_missing submission_mismatch",
      "condition_mismatch retention_mismatch value_type_mismatch schema_verdict_mismatch value_invalid",
    ),
  },
  {
    name: "evidence_retention_reconstruction",
    method: "value_reconstruction_v6",
    needs: ["law", "history", "values"],
    table: "evidence",
    meaning: "the values are the ones that the records name",
    codes: words(
      "condition_missing value_mismatch value_type_mismatch content_hash_mismatch value_invalid value_missing",
      "value_unexpected",
    ),
  },
  {
    name: "evidence_use_policy_satisfaction",
    method: "evidence_qualification_v6",
    needs: ["law", "history", "values"],
    table: "evidence",
    meaning: "each item qualified, or failed to, under the law and the profile",
    codes: ["qualification_mismatch", "lane_mismatch"],
  },
  {
    name: "pure_semantic_replay",
    method: "semantic_replay_v6",
    needs: ["law", "history", "values"],
    table: "decision",
    meaning: "deciding each operation again yields the same records",
    codes: ["decision_mismatch"],
  },
  {
    name: "acquisition_admission_witness_reconstruction",
    method: "acquisition_witness_v6",
    needs: ["law", "history"],
    table: "evidence",
    meaning: "acquired evidence agrees with the result of its provider, at times on the producer's word",
    codes: words(
      "witness_unexpected witness_missing binding_mismatch params_mismatch contract_mismatch contract_missing",
      "provider_version_mismatch trigger_time_mismatch witness_invalid provider_result_mismatch",
    ),
  },
  {
    name: "attribution_authorization_availability",
    method: "attribution_binding_v6",
    needs: ["history"],
    table: null,
    meaning: "each record holds its caller and the operator's settings",
    codes: ["profile_missing", "profile_invalid", "profile_mismatch", "auth_method_mismatch", "provenance_mismatch"],
  },
  {
    name: "acceptance_time_witness_structure",
    method: "time_witness_v6",
    needs: ["history"],
    table: null,
    meaning: "times come from the recorded clock, and never decrease",
    codes: ["time_source_mismatch", "acceptance_time_mismatch"],
  },
  {
    name: "source_authenticity",
    method: "source_signatures_v6",
    needs: ["law", "history"],
    table: null,
    meaning: "evidence that qualified is signed by a trusted key",
    codes: ["signature_invalid"],
  },
  undecided("currentness", "no record was accepted since", "needs_current_head"),
  undecided("rollback_resistance", "no record was withdrawn", "needs_external_checkpoint"),
  undecided("dispatch_recovery", "the intents were dispatched", "needs_dispatch_log"),
  undecided("effect_recovery", "the dispatched intents had their effects", "needs_effect_observation"),
  undecided("deployment_qualification", "the service ran where and as it should", "needs_deployment_evidence"),
  undecided(
    "verifier_build_procedure_provenance",
    "this verifier was built from the known source",
    "needs_build_provenance",
  ),
] as const satisfies readonly ClaimEntry[];

/** The name of a claim. */
export type ClaimName = typeof LIST[number]["name"];

/** The name of a claim that a table of checks has. */
export type ClaimOf<Table extends ClaimEntry["table"]> = Extract<
  typeof LIST[number],
  { readonly table: Table }
>["name"];

/** The code of a contradiction. */
export type ViolationCode = typeof LIST[number]["codes"][number];

/** A claim. */
export interface Claim extends ClaimEntry {
  readonly name: ClaimName;
}

/** Every claim, in report order. */
export const CLAIMS: readonly Claim[] = LIST;

/** The names, in report order. */
export const CLAIM_NAMES: readonly ClaimName[] = CLAIMS.map(({ name }) => name);

/** The claims that intact material alone decides: those of the integrity profile. */
export const INTEGRITY_CLAIMS: readonly ClaimName[] = claimNames(({ method, needs }) =>
  method !== null && needs.length === 0
);

/** The claims that only a replay decides. */
export const REPLAY_CLAIMS: readonly ClaimName[] = claimNames(({ needs }) => needs.length > 0);

/** The claims that the table of checks of decisions has. */
export const DECISION_CLAIMS: readonly ClaimOf<"decision">[] = LIST.flatMap((claim) =>
  claim.table === "decision" ? [claim.name] : []
);
/** The claims that the table of checks of evidence has. */
export const EVIDENCE_CLAIMS: readonly ClaimOf<"evidence">[] = LIST.flatMap((claim) =>
  claim.table === "evidence" ? [claim.name] : []
);
/** The claims that the table of checks of the whole history has. */
export const HISTORY_CLAIMS: readonly ClaimOf<"history">[] = LIST.flatMap((claim) =>
  claim.table === "history" ? [claim.name] : []
);

/** The claims whose method needs something. */
export function claimsThatNeed(need: ClaimNeed): readonly ClaimName[] {
  return claimNames(({ needs }) => needs.includes(need));
}

function claimNames(filter: (claim: Claim) => boolean): readonly ClaimName[] {
  return CLAIMS.filter(filter).map(({ name }) => name);
}
