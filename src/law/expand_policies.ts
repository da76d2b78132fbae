/**
 * Replaces policies on evidence that a spec names or leaves out by whole ones (docs/format/scenario_law.md, "Shorter
 * laws"). The law and its identity are those of the long form.
 */

import { isJsonObject, member } from "../canonical/json.ts";
import { pathAt } from "../canonical/path.ts";
import { shape } from "../canonical/shape.ts";
import { readEvidenceUsePolicy } from "./decode_policy.ts";
import type { DraftBinding, DraftPolicy } from "./decode_spec.ts";
import { type Draft, objectOf, type Read, readIdentifier } from "./readers.ts";
import type { Collector } from "./refusals.ts";
import { quote } from "./suggest.ts";
import type { Channel, Condition, EvidenceUsePolicy } from "./types.ts";

/** A policy on evidence as a condition gives it: whole, by the id of an entry of `policies`, or left out. */
export type GivenPolicy = EvidenceUsePolicy | { readonly policy_id: string } | "left_out";

/** A condition as far as it could be read, before its policy is expanded. */
export type GivenCondition = Draft<GivenMembers>;

/** The members of a condition before its policy is expanded. */
export type GivenMembers = Omit<Condition, "evidence_use_policy"> & { readonly evidence_use_policy: GivenPolicy };

const readPolicyId = objectOf({ policy_id: readIdentifier });

/** Reads the policy of a condition: a whole one, or `{policy_id}`. */
export const readGivenPolicy: Read<GivenPolicy> = shape<GivenPolicy, Collector>((refusals, value, path) => {
  const isNamed = isJsonObject(value) && member(value, "policy_id") !== undefined;
  return isNamed ? readPolicyId(refusals, value, path) : readEvidenceUsePolicy(refusals, value, path);
}, ({ of }) => ({
  description: "Left out: all bindings of the condition, or the caller without bindings",
  anyOf: [of(readEvidenceUsePolicy), of(readPolicyId)],
}));

/** The policy of a condition that gives none. */
function defaultPolicy(bindings: readonly DraftBinding[]): EvidenceUsePolicy | undefined {
  const acquired = new Set<Channel>(bindings.flatMap(({ channel }) => channel ?? []));
  // A binding whose channel could not be read is refused already.
  return bindings.length > 0 && acquired.size === 0 ? undefined : plainPolicy([...acquired]);
}

/**
 * The policy of a condition that gives none: it counts what all of its bindings acquire, or the caller's word.
 *
 * @param acquired The channels of its bindings
 */
export function plainPolicy(acquired: readonly Channel[]): EvidenceUsePolicy {
  return {
    allowed_channels: acquired.length === 0 ? ["caller_submission"] : acquired,
    authorization: "embedding_authority",
    combination: { combination: "AllQualifyingAgree" },
    freshness: { freshness: "NotRequired" },
    independence: "distinct_acquisition",
    integrity: "canonical_content_only",
    replay: "full_semantic",
    required_assurance: ["content_integrity", "scope", "schema_compatibility"],
    ...acquired.length === 0 ? {} : { requires_all_bindings: true as const },
    retention: "retain_canonical_value",
    scope: "exact_condition",
  };
}

/** The ids of conditions that left out their policy and have no binding: a caller's word decides them. */
export function callerAsserted(
  conditions: readonly GivenCondition[],
  bindings: readonly DraftBinding[],
): readonly string[] {
  const bound = new Set(bindings.map(({ condition_id }) => condition_id));
  return conditions.flatMap(({ condition_id, evidence_use_policy }) =>
    evidence_use_policy === "left_out" && condition_id !== undefined && !bound.has(condition_id) ? [condition_id] : []
  );
}

/**
 * Gives each condition its whole policy.
 *
 * @param policies The entries of `policies`; undefined if they could not be read
 * @returns The conditions; a policy is undefined after a refusal
 */
export function expandPolicies(
  refusals: Collector,
  conditions: readonly GivenCondition[],
  policies: readonly DraftPolicy[] | undefined,
  bindings: readonly DraftBinding[],
): readonly Draft<Condition>[] {
  const named = new Map(policies?.map(({ policy_id, evidence_use_policy }) => [policy_id, evidence_use_policy]));
  const known = [...named].flatMap(([id, policy]) => id === undefined || policy === null ? [] : [id]);
  const bindingsOf = Map.groupBy(bindings, ({ condition_id }) => condition_id);
  const find = (id: string, index: number): EvidenceUsePolicy | undefined => {
    const found = named.get(id);
    if (found !== null && (named.has(id) || policies === undefined)) return found;
    const hint = refusals.hint(id, known);
    const message = `Policy ${
      quote(id)
    } is not among the policies of the spec that have an "evidence_use_policy"${hint}`;
    refusals.refuse("policy_not_found", pathAt("conditions", index, "evidence_use_policy", "policy_id"), message);
    return undefined;
  };
  return conditions.map((condition, index) => {
    const { condition_id, evidence_use_policy: given } = condition;
    if (given === "left_out") {
      return { ...condition, evidence_use_policy: defaultPolicy(bindingsOf.get(condition_id) ?? []) };
    }
    if (given === undefined || !("policy_id" in given)) return { ...condition, evidence_use_policy: given };
    return { ...condition, evidence_use_policy: find(given.policy_id, index) };
  });
}
