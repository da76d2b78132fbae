import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { shown } from "../../canonical/shown.ts";
import { oneSignerSuffices } from "../../law/lint.ts";
import type { AcquisitionBinding, Condition, EvidenceUsePolicy, ScenarioLaw } from "../../law/types.ts";
import { readPlaceholder } from "../../law/placeholders.ts";
import { durationText, shownType } from "../../law/words.ts";

/** Maximum characters of a displayed value. */
const VALUE_CHARACTERS = 200;

function describeValue(value: JsonValue): string {
  const text = shown(JSON.stringify(value));
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS)}…`;
}

/** Describes the evidence that counts for a condition: its sources, then one line for each requirement. */
export function describeEvidence(
  law: Pick<ScenarioLaw, "acquisition_bindings" | "parameters">,
  { condition_id, predicate, observation_domain, evidence_use_policy: policy }: Condition,
): string[] {
  const bindings = law.acquisition_bindings.filter((binding) => binding.condition_id === condition_id);
  const isAbsence = predicate.predicate === "NotExists";
  const isSent = policy.allowed_channels.includes("caller_submission") && !isAbsence;
  const isKept = policy.allowed_channels.includes("accepted_submission") && !isAbsence;
  const sources = [
    ...isSent ? ["sent by the caller"] : [],
    ...isKept ? ["submitted while the stage is open, kept until it is complete"] : [],
    ...bindings.map((one) => describeBinding(one, law.parameters !== undefined)),
  ];
  const none = `not possible: no binding, and callers ${isAbsence ? "cannot show absence" : "may not send any"}`;
  return [
    `evidence: ${shownType(observation_domain)}, ${sources.length === 0 ? none : sources.join("; ")}`,
    ...describeRequirements(policy, isSent || isKept),
  ];
}

function describeBinding(
  { binding_id, provider_id, check_id, params }: AcquisitionBinding,
  hasParameters: boolean,
): string {
  const query = describeParams(provider_id, params, hasParameters);
  const check = `check ${shown(check_id)} of ${shown(provider_id)}${query}`;
  return `gathered by gate with ${check} (binding ${shown(binding_id)})`;
}

/** Plain words for parameters of built-in providers. */
const PARAM_LABELS: Readonly<Record<string, string>> = {
  "env.key": "variable",
  "json.jsonpath": "query",
  "rest.jsonpath": "query",
  "time.timestamp": "time",
};

/** Describes the parameters of a query, such as `: file "results.json", query "$.tests"`. */
function describeParams(provider: string, params: JsonValue | undefined, hasParameters: boolean): string {
  if (params === undefined) return "";
  const describe = hasParameters ? describePlaceholder : describeValue;
  if (!isJsonObject(params)) return `: ${describeValue(params)}`;
  const words = Object.entries(params).map(([name, value]) =>
    `${PARAM_LABELS[`${provider}.${name}`] ?? shown(name.replaceAll("_", " "))} ${describe(value)}`
  );
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

/** A param of a law with parameters, such as `parameter commit` or `"https://ci.example/{commit}"`. */
function describePlaceholder(value: JsonValue): string {
  const placeholder = isJsonObject(value) ? readPlaceholder(value) : null;
  if (placeholder === null || typeof placeholder === "string") return describeValue(value);
  if (placeholder.kind === "parameter") return `parameter ${shown(placeholder.parameters[0])}`;
  const { literals, parameters } = placeholder.template;
  return describeValue(
    literals.map((literal, at) => literal + (at in parameters ? `{${parameters[at]}}` : "")).join(""),
  );
}

function describeRequirements(policy: EvidenceUsePolicy, isSent: boolean): string[] {
  const { combination, freshness, integrity, authorization, authorized_key_ids: keys, required_assurance } = policy;
  const lines: string[] = [];
  if (authorization === "signature") {
    const pinned = policy.authorized_public_keys === undefined ? "" : ", which the law pins";
    const signers = keys === undefined ? "a trusted key" : `one of the keys ${keys.map(shown).join(", ")}${pinned}`;
    lines.push(`signed by ${signers}`);
  } else if (integrity === "signed_content" || required_assurance.includes("source_signature")) {
    lines.push("signed by a trusted key");
  }
  if (integrity === "anchored_content" || required_assurance.includes("source_anchor")) {
    lines.push("with an anchor to its source");
  }
  if (freshness.freshness === "MaximumAge") {
    const signed = isSent ? "; evidence from the caller needs a signed time" : "";
    lines.push(`at most ${durationText(freshness.maximum_age_millis)} old${signed}`);
  }
  if (policy.requires_all_bindings === true) lines.push("every binding must be gathered in the same call");
  if (combination.combination === "AnyQualifying") lines.push("one item that holds is enough");
  if (combination.combination === "Quorum") {
    lines.push(describeQuorum(policy, combination.minimum));
  }
  if (policy.independence === "distinct_provider") lines.push("from different providers, or signed by different keys");
  if (policy.retention === "retain_digest_only") lines.push("only the hash of the value is kept");
  return lines;
}

/** Describes who has to agree for a quorum. A signature by the same key counts once, unless the policy waives it. */
function describeQuorum(policy: EvidenceUsePolicy, minimum: number): string {
  if (policy.authorization !== "signature" || minimum === 1) {
    return `at least ${minimum} ${minimum === 1 ? "item that holds" : "items that hold"}, and fewer that do not`;
  }
  const signers = oneSignerSuffices(policy)
    ? `${minimum} signatures, perhaps of one person,`
    : `${minimum} different people`;
  return `at least ${signers} for items that hold, and fewer for items that do not`;
}
