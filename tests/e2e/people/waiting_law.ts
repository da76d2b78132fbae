/**
 * A law that waits for signatures of people, for tests of approvals.
 *
 * @module
 */

/** The ids of a law, and what differs from a plain one. */
export interface WaitingLawOptions {
  readonly scenario?: string;
  readonly stage?: string;
  readonly condition?: string;
  /** Stages behind the first one, one after the other. Default: none. */
  readonly following?: readonly string[];
  /** Whether the condition asks for a number of at least 5 in place of a boolean. */
  readonly asksNumber?: boolean;
  /** Whether a run has the parameter `version`. */
  readonly hasVersion?: boolean;
}

/**
 * The text of a law whose first stage people have to sign.
 *
 * @param signatures So many of Alice and Bob; `all` for everyone who may sign, who then have to agree
 */
export function waitingLaw(signatures: number | "all", options: WaitingLawOptions = {}): string {
  const { scenario = "release", stage = "release", condition = "approved", following = [] } = options;
  const completion_requirement = { Condition: condition };
  return JSON.stringify({
    spec_version: "dag-v3",
    scenario_id: scenario,
    namespace_id: 2,
    ...options.hasVersion === true
      ? {
        parameters: [{ parameter_id: "version", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 256 } }],
      }
      : {},
    conditions: [{
      condition_id: condition,
      observation_domain: options.asksNumber === true
        ? { domain: "Integer", minimum: 0, maximum: 9 }
        : { domain: "Boolean" },
      predicate: options.asksNumber === true
        ? { predicate: "GreaterThanOrEqual", expected: { value: 5, value_type: "Integer" } }
        : { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
      evidence_use_policy: {
        allowed_channels: ["accepted_submission"],
        authorization: "signature",
        ...signatures === "all" ? {} : { authorized_key_ids: ["alice", "bob"] },
        combination: signatures === "all"
          ? { combination: "AllQualifyingAgree" }
          : { combination: "Quorum", minimum: signatures },
        freshness: { freshness: "NotRequired" },
        independence: "distinct_acquisition",
        integrity: "canonical_content_only",
        replay: "full_semantic",
        required_assurance: ["content_integrity", "scope", "schema_compatibility"],
        retention: "retain_canonical_value",
        scope: "exact_condition",
      },
    }],
    stages: [
      { stage_id: stage, prerequisite: { kind: "root" }, completion_requirement },
      ...following.map((stage_id, index) => ({
        stage_id,
        prerequisite: { kind: "requires", requirement: { Condition: following[index - 1] ?? stage } },
        completion_requirement,
      })),
    ],
    completion_requirement: { Condition: following.at(-1) ?? stage },
  });
}
