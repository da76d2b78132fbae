/**
 * Claims 24 to 29: what no pack can settle, each with what it would need. They stand in every report so that nobody
 * takes their absence for a promise.
 *
 * @module
 */

import type { ClaimName, UnavailableReason } from "../types.ts";

/** The claims, in report order. */
export const BEYOND_A_PACK: readonly { readonly claim: ClaimName; readonly reason: UnavailableReason }[] = [
  { claim: "currentness", reason: "needs_current_head" },
  { claim: "rollback_resistance", reason: "needs_external_checkpoint" },
  { claim: "dispatch_recovery", reason: "needs_dispatch_log" },
  { claim: "effect_recovery", reason: "needs_effect_observation" },
  { claim: "deployment_qualification", reason: "needs_deployment_evidence" },
  { claim: "verifier_build_procedure_provenance", reason: "needs_build_provenance" },
];
