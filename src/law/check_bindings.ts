/** Checks acquisition bindings against the configured providers (docs/format/scenario_law.md, "Bindings"). */

import { PREDICATES } from "./value/predicates.ts";
import type { Draft } from "./readers.ts";
import type { DraftBinding, DraftSpec } from "./decode_spec.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import { checkPlaceholders, type ParameterDomains } from "./check_parameters.ts";
import { quote, quoteAll } from "./suggest.ts";
import type { CheckFacts, Condition, LawEnvironment } from "./types.ts";
import type { ValueType } from "./value/types.ts";

/** By domain: the JSON types of a check's result that can be read as a value of the domain. */
const RESULT_TYPES: Readonly<Record<ValueType, readonly CheckFacts["result_types"][number][]>> = {
  String: ["string"],
  Boolean: ["boolean"],
  Integer: ["integer"],
  Decimal: ["integer", "number", "string"],
  Timestamp: ["string"],
  // A digest is a string of 64 hex digits, or an object with algorithm and value.
  Digest: ["string", "object"],
  Json: ["string", "integer", "number", "boolean", "null", "object", "array"],
};

/** Checks every binding: its check exists, accepts the params, and has results that the condition can use. */
export function checkBindings(
  refusals: Collector,
  draft: DraftSpec,
  parameters: ParameterDomains,
  environment: LawEnvironment,
): void {
  const conditions = new Map<string, Draft<Condition>>();
  for (const condition of draft.conditions ?? []) {
    if (condition.condition_id !== undefined) conditions.set(condition.condition_id, condition);
  }
  draft.acquisition_bindings?.forEach((binding, index) => {
    const path = pathAt("acquisition_bindings", index);
    const condition = conditions.get(binding.condition_id ?? "");
    checkAllowed(refusals, binding, condition, path);
    const facts = findCheck(refusals, binding, path, environment);
    if (facts !== null) checkFacts(refusals, binding, condition, facts, path);
    checkParams(refusals, binding, parameters, facts, below(path, "params"));
  });
}

function checkAllowed(
  refusals: Collector,
  binding: DraftBinding,
  condition: Draft<Condition> | undefined,
  path: JsonPath,
): void {
  const allowed = condition?.evidence_use_policy?.allowed_channels;
  if (allowed === undefined || binding.channel === undefined || allowed.includes(binding.channel)) return;
  const message = `Condition ${quote(binding.condition_id ?? "")} allows only ${quoteAll(allowed)}`;
  refusals.refuse("channel_not_allowed", below(path, "channel"), message);
}

function checkParams(
  refusals: Collector,
  { whole }: DraftBinding,
  parameters: ParameterDomains,
  facts: CheckFacts | null,
  path: JsonPath,
): void {
  // Without the list of parameters it is unknown which objects are placeholders.
  if (whole === undefined || parameters === null) return;
  const { params } = whole;
  const waits = parameters.size > 0 && params !== undefined &&
    checkPlaceholders(refusals, params, parameters, facts, path);
  const verdict = waits || facts === null ? null : facts.checkParams(params);
  if (verdict !== null) refusals.refuse("params_invalid", path, verdict);
}

function findCheck(
  refusals: Collector,
  binding: DraftBinding,
  path: JsonPath,
  environment: LawEnvironment,
): CheckFacts | null {
  const { provider_id: provider, check_id: check } = binding;
  if (provider === undefined || check === undefined) return null;
  const found = environment.findCheck(provider, check);
  if (found === "provider") {
    const near = refusals.hint(provider, environment.namesShown?.(null) ?? []);
    const message = `Provider ${quote(provider)} is not configured${near}`;
    refusals.refuse("provider_not_found", below(path, "provider_id"), message);
    return null;
  }
  if (found === "inactive") {
    const message = `Typed provider ${quote(provider)} has no active version: activate one first`;
    refusals.refuse("provider_not_found", below(path, "provider_id"), message);
    return null;
  }
  if (found === "check") {
    const near = refusals.hint(check, environment.namesShown?.(provider) ?? []);
    const message = `Provider ${quote(provider)} has no check ${quote(check)}${near}`;
    refusals.refuse("check_not_found", below(path, "check_id"), message);
    return null;
  }
  return found;
}

function checkFacts(
  refusals: Collector,
  binding: DraftBinding,
  condition: Draft<Condition> | undefined,
  facts: CheckFacts,
  path: JsonPath,
): void {
  if (binding.channel !== undefined && binding.channel !== facts.channel) {
    const message = `Provider ${quote(facts.provider_id)} acquires on ${quote(facts.channel)}`;
    refusals.refuse("channel_not_allowed", below(path, "channel"), message);
  }
  const domain = condition?.observation_domain?.domain;
  const fitting = domain === undefined ? undefined : RESULT_TYPES[domain];
  if (fitting !== undefined && !facts.result_types.some((type) => type === "any" || fitting.includes(type))) {
    const message = `Check ${quote(facts.check_id)} yields ${
      quoteAll(facts.result_types)
    }, no value of domain "${domain}"`;
    refusals.refuse("result_outside_domain", below(path, "check_id"), message);
  }
  const predicate = condition?.predicate?.predicate;
  if (predicate === undefined || facts.allowed_comparators.includes(PREDICATES[predicate].comparator)) return;
  const message =
    `Check ${quote(facts.check_id)} does not allow comparator "${PREDICATES[predicate].comparator}" of condition ` +
    `${quote(binding.condition_id ?? "")}; it allows ${quoteAll(facts.allowed_comparators)}`;
  refusals.refuse("comparator_not_allowed", below(path, "check_id"), message);
}
