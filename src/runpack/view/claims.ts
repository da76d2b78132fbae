/**
 * The claims of a report, and its verdict.
 *
 * @module
 */

import type { ClaimName, ClaimStatus, VerificationReport } from "../verify/types.ts";
import { all, element, type Markup } from "./markup.ts";
import { row, table } from "./timeline.ts";
import { counted } from "./words.ts";

/** What each claim is about, in a few words. */
const MEANINGS: Readonly<Record<ClaimName, string>> = {
  structural_format_validity: "the manifest is one of this format",
  runpack_subject_identity: "it is the pack that was asked for",
  artifact_tree_integrity: "every object is there, and is what its name says",
  scenario_law_construction: "the law can be built anew, and is the law of the run",
  scenario_graph_binding: "the stages are those that the run was bound to",
  run_allocation_integrity: "all records are of one run, and nothing is missing or added",
  creation_receipt_integrity: "the creation was answered as recorded",
  accepted_history_continuity: "the records are one unbroken chain",
  exact_head_reconstruction: "the chain ends at the head named",
  current_state_equivalence: "the records come to the state named",
  operation_receipt_consistency: "every call was answered as its record says",
  stage_open_consistency: "every stage was opened when it could be",
  evaluation_attempt_consistency: "every outcome follows from its trace",
  submission_consistency: "every payload is there, and was allowed",
  intent_consistency: "what was proposed is what the policy permits",
  evidence_structural_admission: "evidence has the form that its condition asks for",
  evidence_retention_reconstruction: "the values are those that the records name",
  evidence_use_policy_satisfaction: "every item counted, or not, as the law says",
  pure_semantic_replay: "deciding everything again gives the same records",
  acquisition_admission_witness_reconstruction: "acquired evidence says what its provider said",
  attribution_authorization_availability: "who asked, and under which settings, is on record",
  acceptance_time_witness_structure: "times are those of the recorded clock, never backwards",
  source_authenticity: "what counted is signed by a supplied key",
  currentness: "nothing was accepted since",
  rollback_resistance: "nothing was taken back",
  dispatch_recovery: "what was done with intents",
  effect_recovery: "what came of it in the world",
  deployment_qualification: "where and how the service ran",
  verifier_build_procedure_provenance: "who built this verifier",
};

/** How many claims have a status. */
export function countOf({ claims }: VerificationReport, status: ClaimStatus["status"]): number {
  return claims.filter((entry) => entry.status.status === status).length;
}

/** The verdict in one line, and what to make of it. */
export function renderVerdict(report: VerificationReport): Markup {
  const violated = countOf(report, "violated");
  const satisfied = countOf(report, "satisfied");
  const open = countOf(report, "unavailable");
  const counts = `${satisfied} satisfied, ${violated} violated, ${open} not settled`;
  if (violated > 0) {
    const warning = `${counted(violated, "claim")} violated: do not believe what this page shows.`;
    return element("p", { class: "banner bad", role: "alert" }, element("b", {}, warning), ` ${counts}.`);
  }
  const good = satisfied > 0 ? "Nothing contradicts this runpack." : "Nothing was settled.";
  const tone = satisfied > 0 ? "good" : "warning";
  return element("p", { class: `banner ${tone}`, role: "status" }, element("b", {}, good), ` ${counts}.`);
}

/** Every claim with its status. */
export function renderClaims(report: VerificationReport): Markup {
  const rows = report.claims.map(({ claim, status }) =>
    row(
      all(element("code", {}, claim), element("div", { class: "quiet" }, MEANINGS[claim])),
      element("span", { class: `status ${status.status}` }, status.status.replace("_", " ")),
      "reason" in status ? status.reason : "method" in status ? status.method : "",
    )
  );
  const { assumptions, trusted_bases, budget, profile, report_identity, verifier_procedure } = report;
  const assumed = assumptions.length === 0 ? "" : ` It takes as they stand: ${assumptions.join(", ")}.`;
  return all(
    table(["Claim", "Status", "Why, or how"], rows),
    element("p", {}, `Profile ${profile} by ${verifier_procedure}. It rests on ${trusted_bases.join(", ")}.${assumed}`),
    element(
      "p",
      { class: "quiet" },
      `Read ${counted(budget.objects, "object")}, ${counted(budget.bytes_read, "byte")}, `,
      `${counted(budget.records, "record")}. Report `,
      element("code", {}, report_identity),
    ),
  );
}
