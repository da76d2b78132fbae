/**
 * The evidence-use policy that asks for the least, as tests begin with it.
 *
 * @module
 */

/** A policy under which what any caller submits is evidence. */
export const LEAST_POLICY = {
  allowed_channels: ["caller_submission"],
  authorization: "embedding_authority",
  combination: { combination: "AllQualifyingAgree" },
  freshness: { freshness: "NotRequired" },
  independence: "distinct_acquisition",
  integrity: "canonical_content_only",
  replay: "full_semantic",
  required_assurance: ["content_integrity", "scope", "schema_compatibility"],
  retention: "retain_canonical_value",
  scope: "exact_condition",
};
