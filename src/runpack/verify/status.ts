/**
 * From findings to statuses: the method of each claim, and what a replay that ended early leaves open.
 *
 * @module
 */

import { TIME_WITNESS } from "./claims/acceptance_time_witness_structure.ts";
import { RECORD_CHAIN } from "./claims/accepted_history_continuity.ts";
import { ACQUISITION_WITNESS } from "./claims/acquisition_admission_witness_reconstruction.ts";
import { OBJECT_TREE_TRAVERSAL } from "./claims/artifact_tree_integrity.ts";
import { ATTRIBUTION_BINDING } from "./claims/attribution_authorization_availability.ts";
import { BEYOND_A_PACK } from "./claims/beyond_a_pack.ts";
import { CREATION_RECEIPT } from "./claims/creation_receipt_integrity.ts";
import { STATE_FOLD } from "./claims/current_state_equivalence.ts";
import { EVALUATION_ATTEMPT } from "./claims/evaluation_attempt_consistency.ts";
import { EVIDENCE_RETENTION } from "./claims/evidence_retention_reconstruction.ts";
import { EVIDENCE_ADMISSION } from "./claims/evidence_structural_admission.ts";
import { EVIDENCE_USE_POLICY } from "./claims/evidence_use_policy_satisfaction.ts";
import { HEAD_OF_CHAIN } from "./claims/exact_head_reconstruction.ts";
import { INTENT } from "./claims/intent_consistency.ts";
import { OPERATION_RESULTS } from "./claims/operation_receipt_consistency.ts";
import { SEMANTIC_REPLAY } from "./claims/pure_semantic_replay.ts";
import { RUN_ALLOCATION } from "./claims/run_allocation_integrity.ts";
import { SUBJECT_IDENTITY } from "./claims/runpack_subject_identity.ts";
import { GRAPH_IDENTITY } from "./claims/scenario_graph_binding.ts";
import { LAW_CONSTRUCTION } from "./claims/scenario_law_construction.ts";
import { SOURCE_SIGNATURES } from "./claims/source_authenticity.ts";
import { STAGE_OPEN } from "./claims/stage_open_consistency.ts";
import { MANIFEST_CONSTRUCTOR } from "./claims/structural_format_validity.ts";
import { SUBMISSION } from "./claims/submission_consistency.ts";
import type { Course } from "./state.ts";
import { claimsBetween, type Findings } from "./findings.ts";
import type { ClaimName } from "./types.ts";

/** The method of each claim; null where no pack can settle it. */
export const METHODS: Readonly<Record<ClaimName, string | null>> = {
  structural_format_validity: MANIFEST_CONSTRUCTOR,
  runpack_subject_identity: SUBJECT_IDENTITY,
  artifact_tree_integrity: OBJECT_TREE_TRAVERSAL,
  scenario_law_construction: LAW_CONSTRUCTION,
  scenario_graph_binding: GRAPH_IDENTITY,
  run_allocation_integrity: RUN_ALLOCATION,
  creation_receipt_integrity: CREATION_RECEIPT.method,
  accepted_history_continuity: RECORD_CHAIN,
  exact_head_reconstruction: HEAD_OF_CHAIN,
  current_state_equivalence: STATE_FOLD,
  operation_receipt_consistency: OPERATION_RESULTS,
  stage_open_consistency: STAGE_OPEN.method,
  evaluation_attempt_consistency: EVALUATION_ATTEMPT.method,
  submission_consistency: SUBMISSION.method,
  intent_consistency: INTENT.method,
  evidence_structural_admission: EVIDENCE_ADMISSION.method,
  evidence_retention_reconstruction: EVIDENCE_RETENTION.method,
  evidence_use_policy_satisfaction: EVIDENCE_USE_POLICY.method,
  pure_semantic_replay: SEMANTIC_REPLAY.method,
  acquisition_admission_witness_reconstruction: ACQUISITION_WITNESS.method,
  attribution_authorization_availability: ATTRIBUTION_BINDING,
  acceptance_time_witness_structure: TIME_WITNESS,
  source_authenticity: SOURCE_SIGNATURES,
  currentness: null,
  rollback_resistance: null,
  dispatch_recovery: null,
  effect_recovery: null,
  deployment_qualification: null,
  verifier_build_procedure_provenance: null,
};

/** Claims that need the law. */
const LAW_CLAIMS: readonly ClaimName[] = [
  "scenario_graph_binding",
  "run_allocation_integrity",
  ...claimsBetween("current_state_equivalence", "acquisition_admission_witness_reconstruction"),
  "source_authenticity",
];
/** Claims that need the first record, whatever follows it. */
const CREATION_CLAIMS: readonly ClaimName[] = [
  "scenario_law_construction",
  "scenario_graph_binding",
  "creation_receipt_integrity",
];
/** Claims that need every record. */
const HISTORY_CLAIMS: readonly ClaimName[] = [
  "run_allocation_integrity",
  ...claimsBetween("accepted_history_continuity", "source_authenticity"),
];

/** Takes over what a replay found, and says what it left open. A replay that never counted has said so already. */
export function settleReplay(findings: Findings, course: Course | null): void {
  if (course === null) return;
  if (course.law === null) { for (const claim of LAW_CLAIMS) course.findings.lack(claim, "law_not_constructed"); }
  if (course.stage === "history_broken" || course.stage === "budget_exhausted") {
    for (const claim of HISTORY_CLAIMS) course.findings.lack(claim, course.stage);
    if (course.previous === null) course.findings.lack("creation_receipt_integrity", course.stage);
  }
  if (course.created === null) {
    const reason = course.stage === "budget_exhausted" ? course.stage : "history_broken";
    for (const claim of CREATION_CLAIMS) course.findings.lack(claim, reason);
  }
  findings.adopt(course.findings, claimsBetween("scenario_law_construction", "source_authenticity"));
}

/** What no pack can settle. */
export function settleBeyond(findings: Findings): void {
  for (const { claim, reason } of BEYOND_A_PACK) findings.lack(claim, reason);
}
