/**
 * Conditions of a law in plain words: what each asks for, and which evidence counts for it.
 *
 * @module
 */

import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import type { AcquisitionBinding, Condition, EvidenceUsePolicy, ScenarioLaw } from "../../law/types.ts";
import { PREDICATES } from "../../law/value/predicates.ts";
import type { ObservationDomain, Predicate, TypedValue } from "../../law/value/types.ts";
import { shown } from "../terminal/text.ts";

/** Characters of a value that are shown. */
const VALUE_CHARACTERS = 200;

/** What a condition asks for: `a boolean that equals true`. */
export function conditionWords({ observation_domain, predicate }: Condition): string {
  return `${domainWords(observation_domain)} that ${predicateWords(predicate)}`;
}

function range(minimum: string | number | undefined, maximum: string | number | undefined): string {
  if (minimum === undefined) return maximum === undefined ? "" : ` up to ${maximum}`;
  return maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function domainWords(domain: ObservationDomain): string {
  switch (domain.domain) {
    case "String":
      return `a text of ${domain.minimum_bytes} to ${domain.maximum_bytes} bytes`;
    case "Boolean":
      return "a boolean";
    case "Integer":
      return `an integer${range(domain.minimum, domain.maximum)}`;
    case "Decimal":
      return `a decimal${range(domain.minimum, domain.maximum)}`;
    case "Timestamp":
      return "a timestamp";
    case "Digest":
      return "a SHA-256 digest";
    case "Json": {
      const schema = domain.schema === undefined
        ? ""
        : `, valid under schema ${shown(domain.schema.schema_id)} version ${shown(domain.schema.version)}`;
      return `JSON of at most ${domain.maximum_bytes} bytes${schema},`;
    }
  }
}

function predicateWords(predicate: Predicate): string {
  const { words: verb } = PREDICATES[predicate.predicate];
  if (!("expected" in predicate)) return verb;
  const { expected } = predicate;
  const values: readonly TypedValue[] = Array.isArray(expected) ? expected : [expected as TypedValue];
  return `${verb} ${values.map(({ value }) => valueWords(value)).join(", ")}`;
}

function valueWords(value: JsonValue): string {
  const text = shown(JSON.stringify(value));
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS)}…`;
}

/** Which evidence counts for a condition of a law: where it comes from, then what is asked of it, a line each. */
export function evidenceWords(
  law: Pick<ScenarioLaw, "acquisition_bindings">,
  { condition_id, predicate, evidence_use_policy: policy }: Condition,
): string[] {
  const bindings = law.acquisition_bindings.filter((binding) => binding.condition_id === condition_id);
  const isAbsence = predicate.predicate === "NotExists";
  const isSent = policy.allowed_channels.includes("caller_submission") && !isAbsence;
  const sources = [...isSent ? ["sent by the caller"] : [], ...bindings.map(bindingWords)];
  const none = `none can come: no binding, and callers ${isAbsence ? "cannot show that" : "may not send any"}`;
  return [`evidence: ${sources.length === 0 ? none : sources.join("; ")}`, ...demands(policy, isSent)];
}

function bindingWords({ binding_id, provider_id, check_id, params }: AcquisitionBinding): string {
  const asked = paramsWords(provider_id, params);
  return `gathered by gate with check ${shown(check_id)} of ${shown(provider_id)}${asked} (binding ${
    shown(binding_id)
  })`;
}

/** Parameters of built-in providers whose names are no plain words. */
const PARAM_WORDS: Readonly<Record<string, string>> = {
  "env.key": "variable",
  "json.jsonpath": "query",
  "rest.jsonpath": "query",
  "time.timestamp": "time",
};

/** What a provider is asked for: `: file "results.json", query "$.tests"`. */
function paramsWords(provider: string, params: JsonValue | undefined): string {
  if (params === undefined) return "";
  if (!isJsonObject(params)) return `: ${valueWords(params)}`;
  const words = Object.entries(params).map(([name, value]) =>
    `${PARAM_WORDS[`${provider}.${name}`] ?? shown(name.replaceAll("_", " "))} ${valueWords(value)}`
  );
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

function demands(policy: EvidenceUsePolicy, isSent: boolean): string[] {
  const { combination, freshness, integrity, authorization, authorized_key_ids: keys, required_assurance } = policy;
  const lines: string[] = [];
  if (authorization === "signature") {
    lines.push(`signed by ${keys === undefined ? "a trusted key" : `one of the keys ${keys.map(shown).join(", ")}`}`);
  } else if (integrity === "signed_content" || required_assurance.includes("source_signature")) {
    lines.push("signed by a trusted key");
  }
  if (integrity === "anchored_content" || required_assurance.includes("source_anchor")) {
    lines.push("with an anchor to its source");
  }
  if (freshness.freshness === "MaximumAge") {
    const signed = isSent ? "; what the caller sends needs a signed time for that" : "";
    lines.push(`at most ${durationWords(freshness.maximum_age_millis)} old${signed}`);
  }
  if (policy.requires_all_bindings === true) lines.push("all of it gathered: no call may leave out a part");
  if (combination.combination === "AnyQualifying") lines.push("one item that holds is enough");
  if (combination.combination === "Quorum") lines.push(`${combination.minimum} items that hold, and fewer that do not`);
  if (policy.independence === "distinct_provider") lines.push("from different providers, or signed by different keys");
  if (policy.retention === "retain_digest_only") lines.push("only the hash of the value is kept");
  return lines;
}

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]] as const;

function durationWords(millis: number): string {
  const unit = UNITS.find(([, size]) => millis >= size && millis % size === 0);
  return unit === undefined ? `${millis} ms` : countOf(millis / unit[1], unit[0]);
}
