/**
 * Checks the parameters of a law: their domains, and the placeholders in the params of bindings. A run gives the
 * values, so the checks before are those of names and types.
 */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import { checkBounds } from "./check_conditions.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { eachPlaceholder, type Placeholder, readPlaceholder } from "./placeholders.ts";
import type { Collector } from "./refusals.ts";
import { resultTypes } from "./result_types.ts";
import { quote, quoteAll } from "./suggest.ts";
import type { CheckFacts, ParameterDomain } from "./types.ts";

/** The domains of the declared parameters by id; null if one of them could not be read. */
export type ParameterDomains = ReadonlyMap<string, ParameterDomain> | null;

/** The declared parameters of a draft. */
export function parametersOf(draft: DraftSpec): ParameterDomains {
  if (draft.parameters === undefined) return null;
  const domains = new Map<string, ParameterDomain>();
  for (const { parameter_id, domain } of draft.parameters) {
    if (parameter_id === undefined || domain === undefined) return null;
    domains.set(parameter_id, domain);
  }
  return domains;
}

/** Checks the domains of the parameters of a draft. */
export function checkParameters(refusals: Collector, draft: DraftSpec): void {
  draft.parameters?.forEach(({ domain }, index) => {
    if (domain === undefined) return;
    checkBounds(refusals, domain, pathAt("parameters", index, "domain"), draft.effective.maximum_value_bytes);
  });
}

/**
 * Checks the placeholders of a binding's params.
 *
 * @param facts Facts of the check; null if it is unknown
 * @returns Whether the params hold a placeholder, so that only a run can check them against the whole schema
 */
export function checkPlaceholders(
  refusals: Collector,
  params: JsonValue,
  domains: ReadonlyMap<string, ParameterDomain>,
  facts: CheckFacts | null,
  path: JsonPath,
): boolean {
  let found = false;
  let sound = true;
  eachPlaceholder(params, path, (placeholder, at) => {
    found = true;
    if (typeof placeholder === "string") {
      sound = false;
      refusals.refuse("params_invalid", at, placeholder);
      return;
    }
    for (const parameter of new Set(placeholder.parameters)) {
      if (domains.has(parameter)) continue;
      sound = false;
      const hint = refusals.hint(parameter, domains.keys());
      const message = `Parameter ${quote(parameter)} is not among the parameters of the spec${hint}`;
      refusals.refuse("parameter_not_found", at, message);
    }
  });
  if (found && sound && facts !== null) checkTypes(refusals, params, facts.params_schema, domains, path);
  return found;
}

/** The JSON type of the value that a placeholder stands for. */
function typeOf(placeholder: Placeholder, domains: ReadonlyMap<string, ParameterDomain>): string {
  if (placeholder.kind === "template") return "string";
  const domain = domains.get(placeholder.parameters[0])?.domain;
  return domain === "Boolean" ? "boolean" : domain === "Integer" ? "integer" : "string";
}

/**
 * Refuses params that no values of the parameters can make valid: a placeholder of another type than its schema, a
 * member that the schema does not allow, or one that it requires and that is absent.
 */
function checkTypes(
  refusals: Collector,
  params: JsonValue,
  schema: JsonValue,
  domains: ReadonlyMap<string, ParameterDomain>,
  path: JsonPath,
): void {
  if (!isJsonObject(schema)) return;
  if (isJsonArray(params)) {
    const items = member(schema, "items");
    if (items === undefined || Object.hasOwn(schema, "prefixItems")) return;
    params.forEach((item, index) => checkTypes(refusals, item, items, domains, below(path, index)));
    return;
  }
  if (!isJsonObject(params)) return;
  const placeholder = readPlaceholder(params);
  if (placeholder !== null && typeof placeholder !== "string") {
    const type = typeOf(placeholder, domains);
    const allowed: readonly string[] = resultTypes(schema);
    if (allowed.some((one) => one === "any" || one === type || one === "number" && type === "integer")) return;
    refusals.refuse("params_invalid", path, `Expected ${quoteAll(allowed)}, got a placeholder for ${quote(type)}`);
    return;
  }
  const declared = member(schema, "properties");
  const properties = isJsonObject(declared) ? declared : {};
  const isClosed = member(schema, "additionalProperties") === false && !Object.hasOwn(schema, "patternProperties");
  for (const [name, value] of Object.entries(params)) {
    const own = member(properties, name);
    if (own !== undefined) checkTypes(refusals, value, own, domains, below(path, name));
    else if (isClosed) {
      const message = `Param ${quote(name)} is unknown${refusals.hint(name, Object.keys(properties))}`;
      refusals.refuse("params_invalid", below(path, name), message);
    }
  }
  const required = member(schema, "required");
  for (const name of isJsonArray(required) ? required : []) {
    if (typeof name !== "string" || Object.hasOwn(params, name)) continue;
    refusals.refuse("params_invalid", path, `Param ${quote(name)} is required`);
  }
}
