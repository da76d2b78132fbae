/**
 * Checks on conditions and declared schemas: bounds that make sense, predicates that suit the domain, schemas that are
 * registered.
 *
 * @module
 */

import type { Draft } from "./readers.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import { HINTS_MAXIMUM } from "./check_names.ts";
import { didYouMean, quote } from "./suggest.ts";
import type { Condition, LawEnvironment } from "./types.ts";
import { checkPredicate } from "./value/predicate.ts";
import { checkDomain } from "./value/typed_value.ts";
import type { DomainSchema, ObservationDomain } from "./value/types.ts";

/** Checks every condition of a draft, and that every schema it declares is registered. */
export function checkConditions(refusals: Collector, draft: DraftSpec, environment: LawEnvironment): void {
  draft.schemas?.forEach((schema, index) => {
    if (schema !== undefined) checkSchema(refusals, schema, pathAt("schemas", index), environment);
  });
  if (environment.checksPacketSchemas === true) checkPacketSchemas(refusals, draft);
  draft.conditions?.forEach((condition, index) => {
    checkCondition(refusals, condition, pathAt("conditions", index), draft, environment);
  });
}

function checkSchema(refusals: Collector, schema: DomainSchema, place: JsonPath, environment: LawEnvironment): void {
  if (environment.hasSchema(schema.schema_id, schema.version)) return;
  const message = `Schema ${quote(schema.schema_id)} version ${quote(schema.version)} is not registered`;
  refusals.refuse("schema_not_found", place, message);
}

/**
 * A packet names a schema by its id alone. In a law that declares schemas it is one of them, so that a misspelled name is found; a law
 * that declares none has free names.
 */
function checkPacketSchemas(refusals: Collector, { schemas = [], stages = [] }: DraftSpec): void {
  const known = new Set(schemas.flatMap((schema) => schema?.schema_id ?? []));
  if (known.size === 0) return;
  let hints = HINTS_MAXIMUM;
  stages.forEach(({ entry_packets = [] }, index) => {
    entry_packets.forEach(({ schema_id }, at) => {
      if (schema_id === undefined || known.has(schema_id)) return;
      const hint = hints-- > 0 ? didYouMean(schema_id, known) : "";
      const message = `Schema ${quote(schema_id)} is not among the schemas of the spec${hint}`;
      refusals.refuse("packet_schema_not_found", pathAt("stages", index, "entry_packets", at, "schema_id"), message);
    });
  });
}

function checkCondition(
  refusals: Collector,
  condition: Draft<Condition>,
  place: JsonPath,
  draft: DraftSpec,
  environment: LawEnvironment,
): void {
  const { observation_domain: domain, predicate } = condition;
  if (domain === undefined) return;
  const domainPlace = below(place, "observation_domain");
  if (domain.domain === "Json" && domain.schema !== undefined) {
    checkSchema(refusals, domain.schema, below(domainPlace, "schema"), environment);
  }
  const sound = checkBounds(refusals, domain, domainPlace, draft.effective.maximum_value_bytes);
  // What a predicate expects is held against the bounds, so they have to make sense first.
  if (predicate === undefined || !sound) return;
  for (const fault of checkPredicate(predicate, domain, environment.limits)) {
    const at = fault.path.reduce<JsonPath>(below, below(place, "predicate"));
    refusals.refuse(fault.code, at, fault.message);
  }
}

function checkBounds(refusals: Collector, domain: ObservationDomain, place: JsonPath, maximumBytes: number): boolean {
  const faults = checkDomain(domain);
  for (const fault of faults) refusals.refuse(fault.code, fault.path.reduce<JsonPath>(below, place), fault.message);
  if (!("maximum_bytes" in domain) || domain.maximum_bytes <= maximumBytes) return faults.length === 0;
  const message = `Expected at most ${maximumBytes}, the limit on values, got ${domain.maximum_bytes}`;
  refusals.refuse("domain_bounds_invalid", below(place, "maximum_bytes"), message);
  return false;
}
