/** Checks conditions and declared schemas: bounds are consistent, predicates fit the domain, schemas are registered. */

import type { Draft } from "./readers.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { ParameterDomains } from "./check_parameters.ts";
import { quote } from "./suggest.ts";
import type { Condition, LawEnvironment } from "./types.ts";
import { checkPredicate } from "./value/predicate.ts";
import { checkDomain } from "./value/typed_value.ts";
import type { DomainSchema, ObservationDomain } from "./value/types.ts";

/** Checks every condition of a draft, and that every schema it declares is registered. */
export function checkConditions(
  refusals: Collector,
  draft: DraftSpec,
  parameters: ParameterDomains,
  environment: LawEnvironment,
): void {
  draft.schemas?.forEach((schema, index) => {
    if (schema !== undefined) checkSchema(refusals, schema, pathAt("schemas", index), environment);
  });
  if (environment.hasPacketSchema !== undefined) checkPacketSchemas(refusals, draft, environment.hasPacketSchema);
  checkPinnedKeys(refusals, draft);
  draft.conditions?.forEach((condition, index) => {
    checkCondition(refusals, condition, pathAt("conditions", index), draft, parameters, environment);
  });
}

function checkSchema(refusals: Collector, schema: DomainSchema, path: JsonPath, environment: LawEnvironment): void {
  if (environment.hasSchema(schema.schema_id, schema.version)) return;
  const message = `Schema ${quote(schema.schema_id)} version ${quote(schema.version)} is not registered`;
  refusals.refuse("schema_not_found", path, message);
}

/**
 * A packet names a schema by its id alone, so that a misspelt name is found. If the law declares schemas, the id must
 * be one of them. Else the namespace must have a version of it.
 */
function checkPacketSchemas(
  refusals: Collector,
  { schemas = [], stages = [] }: DraftSpec,
  isRegistered: (schemaId: string) => boolean,
): void {
  const declared = new Set(schemas.flatMap((schema) => schema?.schema_id ?? []));
  const isKnown = declared.size === 0 ? isRegistered : (id: string): boolean => declared.has(id);
  stages.forEach(({ entry_packets = [] }, index) => {
    entry_packets.forEach(({ schema_id }, at) => {
      if (schema_id === undefined || isKnown(schema_id)) return;
      const message = declared.size === 0
        ? `No version of schema ${quote(schema_id)} is registered`
        : `Schema ${quote(schema_id)} is not among the schemas of the spec${refusals.hint(schema_id, declared)}`;
      refusals.refuse("packet_schema_not_found", pathAt("stages", index, "entry_packets", at, "schema_id"), message);
    });
  });
}

/** A key id that a law pins names one key in all of the law. */
function checkPinnedKeys(refusals: Collector, { conditions = [] }: DraftSpec): void {
  const pinned = new Map<string, { readonly key: string; readonly condition: string }>();
  conditions.forEach(({ condition_id = "", evidence_use_policy: policy }, index) => {
    for (const [keyId, key] of Object.entries(policy?.authorized_public_keys ?? {})) {
      const earlier = pinned.get(keyId);
      if (earlier === undefined) pinned.set(keyId, { key, condition: condition_id });
      if (earlier === undefined || earlier.key === key) continue;
      const message = `Key ${quote(keyId)} is another key than condition ${quote(earlier.condition)} pins`;
      const path = pathAt("conditions", index, "evidence_use_policy", "authorized_public_keys", keyId);
      refusals.refuse("policy_conflict", path, message);
    }
  });
}

function checkCondition(
  refusals: Collector,
  condition: Draft<Condition>,
  path: JsonPath,
  draft: DraftSpec,
  parameters: ParameterDomains,
  environment: LawEnvironment,
): void {
  const { observation_domain: domain, predicate } = condition;
  if (domain === undefined) return;
  const domainPath = below(path, "observation_domain");
  if (domain.domain === "Json" && domain.schema !== undefined) {
    checkSchema(refusals, domain.schema, below(domainPath, "schema"), environment);
  }
  const sound = checkBounds(refusals, domain, domainPath, draft.effective.maximum_value_bytes);
  // The expected value is checked against the bounds, so the bounds must be consistent first.
  if (predicate === undefined || !sound) return;
  for (const fault of checkPredicate(predicate, domain, environment.limits, parameters)) {
    const at = fault.path.reduce<JsonPath>(below, below(path, "predicate"));
    const hint = fault.undeclared === undefined ? "" : refusals.hint(fault.undeclared, parameters?.keys() ?? []);
    refusals.refuse(fault.code, at, `${fault.message}${hint}`);
  }
}

/** Refuses inconsistent bounds of a domain, and values above the limit. Returns whether the bounds are sound. */
export function checkBounds(
  refusals: Collector,
  domain: ObservationDomain,
  path: JsonPath,
  maximumBytes: number,
): boolean {
  const faults = checkDomain(domain);
  for (const fault of faults) refusals.refuse(fault.code, fault.path.reduce<JsonPath>(below, path), fault.message);
  if (!("maximum_bytes" in domain) || domain.maximum_bytes <= maximumBytes) return faults.length === 0;
  const message = `Expected at most ${maximumBytes}, the limit on values, got ${domain.maximum_bytes}`;
  refusals.refuse("domain_bounds_invalid", below(path, "maximum_bytes"), message);
  return false;
}
